import { assess } from '../decide/assess.ts'
import { harnessOf } from '../engine/facts/harness.ts'
import type { Workshop } from '../engine/open.ts'
import { HarnessError } from '../errors.ts'
import { measure } from '../measure/measure.ts'
import { sha256 } from '../model/canonical.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { type Report, typicalMetrics } from '../model/report.ts'
import type { Trial } from '../report/check-text.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { measuringFor } from './measuring.ts'

/** A trial ends by the time-outs of its parts, never by a deadline of its own. */
const DAY = 24 * 3_600_000

/** Set-up, gates and harness once on the default branch, as an order that no ledger knows. */
export async function tryOnce(call: Call, workshop: Workshop, given: Spec, base: Point): Promise<Trial> {
  const spec = { ...given, measurement: { ...given.measurement, stability: null } }
  const order = await trialOrder(call, workshop, spec, base)
  const report = await measure(measuringFor(call, workshop, { order, spec, place: 'trial' }))
  requireSuccess(spec, order, report)
  return {
    seconds: report.executions.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0),
    metrics: typicalMetrics(report, 'base'),
    gates: report.gates.map(({ name }) => name),
  }
}

async function trialOrder(call: Call, { repository }: Workshop, spec: Spec, base: Point): Promise<Order> {
  const coins = call.around.random.hex(32)
  return {
    id: sha256(`trial ${coins}`),
    purpose: 'baseline',
    round: 0,
    attempt: 1,
    spec_sha256: sha256('trial'),
    harness: await harnessOf(repository, spec, base.tree),
    pin: base,
    base,
    candidates: [],
    coins,
    carried: {},
    stop: { rule: 'alone' },
    deadline: new Date(call.around.clock.now() + DAY).toISOString(),
  }
}

function requireSuccess(spec: Spec, order: Order, report: Report): void {
  const { outcome, reason } = assess({ spec, order, report, label: 'base', baseline: null })
  if (outcome === 'eligible') return
  const failed = report.executions.find(({ status }) => status !== 'ok')
  const tail = failed?.stderr_tail ?? report.gates.find(({ passed }) => !passed)?.tail ?? setupTail(report)
  const detail = tail === undefined ? {} : { stderrTail: tail }
  throw new HarnessError(`the default branch does not pass: ${reason}`, detail)
}

function setupTail({ setups }: Report): string | undefined {
  return setups.find(({ ok }) => !ok)?.tail
}
