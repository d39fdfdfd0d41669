import { assess } from '../decide/assess.ts'
import { calibrate } from '../decide/calibrate.ts'
import { CALIBRATION_JOBS, calibrateNoise } from '../decide/calibrate-noise.ts'
import { failureOf } from '../decide/failures.ts'
import { unsteadyHarness } from '../decide/unsteady-harness.ts'
import { snapshotOf } from '../decide/readings.ts'
import { askedIn } from '../model/order.ts'
import { jobOf, measuredIn } from '../model/pairs.ts'
import { machineKey } from '../model/report.ts'
import { timedDecisive } from '../spec/decisive.ts'
import type { Step } from './action.ts'
import { pauseOnce } from './alerts.ts'
import type { Arrivals } from './arrivals.ts'
import type { Measured } from './judgement.ts'
import { type OwnPurpose, ownRequest, type Request, twin, usableBaseline } from './orders.ts'
import { type Answered, nextAttempt, ownOrder, type Unanswered, withPostponement } from './own-order.ts'
import type { World } from './world.ts'

/** Before the first experiment: does the harness work, what does the incumbent score, does it repeat? */
export interface Preparation {
  steps: Step[]
  requests: Request[]
  /** Why no idea can be measured yet; null when the base is known. */
  blocked: string | null
  /** The base as it is cannot be measured; the steps pause the campaign. */
  hopeless: boolean
}

const BLOCKED = 'the base is being measured'

export function prepare(world: World, found: Arrivals): Preparation {
  const order = answeredFirst(world)
  if (order !== null) return own(world, found, order)
  if (needsCalibration(world)) return own(world, found, 'calibration')
  if (needsNoise(world)) return own(world, found, 'noise')
  if (needsBaseline(world)) return own(world, found, 'baseline')
  return { steps: [], requests: [], blocked: null, hopeless: false }
}

function own(world: World, found: Arrivals, purpose: OwnPurpose): Preparation {
  const candidates = purpose === 'noise' ? [twin(world.campaign.incumbent)] : []
  const kind = purpose === 'noise' ? 'calibration' : purpose
  const order = ownOrder(world, found, { purpose: kind, base: world.campaign.incumbent, candidates })
  const next = order.is === 'answered' ? readers[purpose](world, order) : order
  if (Array.isArray(next)) return { steps: next, requests: [], blocked: BLOCKED, hopeless: false }
  switch (next.is) {
    case 'under way':
      return { steps: [], requests: [], blocked: withPostponement(BLOCKED, next), hopeless: false }
    case 'wanted': {
      const requests = [ownRequest(world, purpose, next)]
      return { steps: [], requests, blocked: BLOCKED, hopeless: false }
    }
    case 'given up':
      return {
        steps: pauseOnce(
          world,
          `${next.reason.replace(/\.?$/, '.')}\nMend it, then: winnow resume (winnow check shows what fails; a spec that was changed needs winnow amend first)`,
        ),
        requests: [],
        blocked: BLOCKED,
        hopeless: true,
      }
  }
}

/** Asked for once, it is read, even where another process with another machine would not have asked. */
function answeredFirst({ campaign }: World): OwnPurpose | null {
  for (const { order } of Object.values(campaign.orders)) {
    if (order.purpose === 'baseline') return 'baseline'
    if (order.purpose === 'calibration') return order.stop.rule === 'pairs' ? 'noise' : 'calibration'
  }
  return null
}

type Prepared = Pick<World, 'spec' | 'campaign'>

/** Whether it repeats is asked of what might: a unit of time never does. */
export function needsCalibration({ spec, campaign }: Prepared): boolean {
  const auto = spec.measurement.stability === null && spec.measurement.mode === 'auto'
  return auto && campaign.calibration === null && timedDecisive(spec).length === 0
}

/** Pairs are read against noise that was measured, and by a harness that was shown to treat both sides alike. */
export function needsNoise({ spec, campaign }: Prepared): boolean {
  const { stability, mode } = spec.measurement
  if (stability !== null || mode === 'once') return false
  return campaign.calibration?.deterministic !== true && !campaign.calibration?.noise
}

/** Stored-score rules need the incumbent's numbers; the others one set, to say where the campaign started. */
function needsBaseline(world: World): boolean {
  const { spec, campaign } = world
  const stored = spec.measurement.stability !== null && spec.measurement.baseline === 'cached'
  return stored ? usableBaseline(world) === null : campaign.baseline === null
}

/** What the incumbent's own order says; a base that does not work pauses, since nothing can be compared with it. */
type Reading = Step[] | Unanswered

const readers = {
  calibration: readCalibration,
  noise: readNoise,
  baseline: readBaseline,
} as const satisfies Record<OwnPurpose, (world: World, answered: Answered) => Reading>

function readCalibration(world: World, { order, report, event }: Answered): Reading {
  const { deterministic, failed, scale, reason } = calibrate(world.spec, report)
  if (report.runner_error !== null) return nextAttempt(world, order.attempt, reason)
  if (failed) return { is: 'given up', reason }
  const draft = {
    kind: 'calibrated',
    cause: event,
    order: order.id,
    deterministic,
    scale,
    reason,
    noise: null,
  } as const
  return [{ step: 'event', draft }, baselineStep(world, { order, report }, event)]
}

/** Two jobs of the base against itself, four in doubt: how noisy a pair is, and are both sides treated alike? */
function readNoise(world: World, { order, report, event }: Answered): Reading {
  const { spec } = world
  const unsteady = unsteadyHarness(report, { earlier: order.carried['twin'] ?? [] })
  if (unsteady !== null) return { is: 'given up', reason: unsteady }
  const failure = failureOf({ spec, report, label: 'twin', pairs: true })
  if (failure?.retry) {
    const next = nextAttempt(world, order.attempt, failure.reason)
    return next.is === 'wanted' ? { ...next, carried: order.carried } : next
  }
  if (failure) return { is: 'given up', reason: `the base does not pass: ${failure.reason}` }
  const jobs = [...(order.carried['twin'] ?? []), jobOf(askedIn(order), measuredIn(report), 'twin')]
  const another = { is: 'wanted', attempt: 1, carried: { twin: jobs } } as const
  if (jobs.length < CALIBRATION_JOBS) return another
  const found = calibrateNoise(spec, report, jobs)
  if ('suspected' in found) return another
  if ('refused' in found) return { is: 'given up', reason: found.refused }
  const { scale, noise, reason } = found
  const known = world.campaign.calibration
  const why = known === null ? reason : `${known.reason}; ${reason}`
  const draft = { kind: 'calibrated', cause: event, order: order.id, deterministic: false, scale } as const
  const calibrated: Step = { step: 'event', draft: { ...draft, reason: why, noise } }
  return world.campaign.baseline === null
    ? [calibrated, baselineStep(world, { order, report }, event)]
    : [calibrated]
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
  const unsteady = unsteadyHarness(report, { most: 1 })
  if (unsteady !== null) return { is: 'given up', reason: unsteady }
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
