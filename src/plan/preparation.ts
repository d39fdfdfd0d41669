import { assess } from '../decide/assess.ts'
import { calibrate } from '../decide/calibrate.ts'
import { snapshotOf } from '../decide/readings.ts'
import { machineKey } from '../model/report.ts'
import { PAIRED_NOT_BUILT } from '../spec/unsupported.ts'
import type { Step } from './action.ts'
import { pauseOnce } from './alerts.ts'
import type { Arrivals } from './arrivals.ts'
import type { Measured } from './judgement.ts'
import { experimentStop, ownRequest, type Request, usableBaseline } from './orders.ts'
import { type Answered, nextAttempt, ownOrder, type Unanswered } from './own-order.ts'
import type { World } from './world.ts'

/** Before the first experiment: does the harness work, what does the incumbent score, does it repeat? */
export interface Preparation {
  steps: Step[]
  requests: Request[]
  ready: boolean
}

export function prepare(world: World, found: Arrivals): Preparation {
  if (needsCalibration(world) || isOrdered(world, 'calibration')) return own(world, found, 'calibration')
  if (needsBaseline(world) || isOrdered(world, 'baseline')) return own(world, found, 'baseline')
  if (experimentStop(world) !== null) return { steps: [], requests: [], ready: true }
  return { steps: pauseOnce(world, noisyReason(world)), requests: [], ready: false }
}

type OwnPurpose = 'calibration' | 'baseline'

function own(world: World, found: Arrivals, purpose: OwnPurpose): Preparation {
  const order = ownOrder(world, found, { purpose, base: world.campaign.incumbent, candidates: [] })
  const read = purpose === 'calibration' ? readCalibration : readBaseline
  const next = order.is === 'answered' ? read(world, order) : order
  if (Array.isArray(next)) return { steps: next, requests: [], ready: false }
  switch (next.is) {
    case 'under way':
      return { steps: [], requests: [], ready: false }
    case 'wanted':
      return { steps: [], requests: [ownRequest(world, purpose, next.attempt)], ready: false }
    case 'given up':
      return {
        steps: pauseOnce(world, `${next.reason}\nMend it, then: winnow resume`),
        requests: [],
        ready: false,
      }
  }
}

/** Asked for once, it is read, even where another process with another machine would not have asked. */
function isOrdered({ campaign }: World, purpose: OwnPurpose): boolean {
  return Object.values(campaign.orders).some(({ order }) => order.purpose === purpose)
}

function needsCalibration({ spec, campaign }: World): boolean {
  const auto = spec.measurement.stability === null && spec.measurement.mode === 'auto'
  return auto && campaign.calibration === null
}

/** Stored-score rules need the incumbent's numbers; the others one set, to say where the campaign started. */
function needsBaseline(world: World): boolean {
  const { spec, campaign } = world
  const stored = spec.measurement.stability !== null && spec.measurement.baseline === 'cached'
  return stored ? usableBaseline(world) === null : campaign.origin === null
}

/** What the incumbent's own order says; a base that does not work pauses, since nothing can be compared with it. */
type Reading = Step[] | Unanswered

function readCalibration(world: World, { order, report, event }: Answered): Reading {
  const { deterministic, failed, scale, reason } = calibrate(world.spec, report)
  if (report.runner_error !== null) return nextAttempt(world, order.attempt, reason)
  if (failed) return { is: 'given up', reason }
  const draft = { kind: 'calibrated', cause: event, order: order.id, deterministic, scale, reason } as const
  return [{ step: 'event', draft }, baselineStep(world, { order, report }, event)]
}

function readBaseline(world: World, { order, report, event }: Answered): Reading {
  const { outcome, retry, reason } = assess({
    spec: world.spec,
    order,
    report,
    label: 'base',
    baseline: null,
  })
  if (retry) return nextAttempt(world, order.attempt, reason)
  if (outcome !== 'eligible') return { is: 'given up', reason: `the incumbent does not pass: ${reason}` }
  return [baselineStep(world, { order, report }, event)]
}

function baselineStep(world: World, { order, report }: Measured, cause: string): Step {
  const snapshot = snapshotOf(world.spec, report, 'base')
  const { tree } = order.base
  const machine = machineKey(report.machine)
  const { harness } = order
  const draft = {
    kind: 'baseline-measured',
    cause,
    order: order.id,
    side: 'base',
    tree,
    machine,
    harness,
    snapshot,
  } as const
  return { step: 'event', draft }
}

function noisyReason({ spec, campaign }: World): string {
  const why = campaign.calibration?.reason ?? 'it was not shown to be deterministic'
  return `${spec.metric.primary.name} is noisy (${why}), and ${PAIRED_NOT_BUILT}`
}
