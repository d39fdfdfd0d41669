import type { RepositoryContext } from '../engine/open.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { measureHere } from './measuring.ts'

/** The harness on one commit, as step 0 of a campaign measures it, and known to no ledger. */
export interface HarnessRun {
  call: Call
  workshop: RepositoryContext
  spec: Spec
  base: Point
  /** What people call that commit, in full and as a word. */
  named: string
  short: string
  /** Who measures, and where: each verb has a work directory of its own. */
  what: string
  place: string
  /** How the person says what would help: keys of a spec, or options. */
  keys: { setup: string; timeout: string; share: string }
  more?: Parameters<typeof measureHere>[2]['more']
  time?: Parameters<typeof measureHere>[2]['time']
}

export function measureTrial(trying: HarnessRun, order: Order): Promise<Report> {
  const { call, workshop, spec, place, what, more, time } = trying
  const optional = { ...(more === undefined ? {} : { more }), ...(time === undefined ? {} : { time }) }
  return measureHere(call, workshop, { order, spec, place, what, ...optional })
}
