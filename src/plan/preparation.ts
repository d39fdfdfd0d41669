import { assessCandidate } from '../decide/assess.ts'
import { buildNoiseJob, calibrateHarness, calibrateNoise, CALIBRATION_JOBS } from '../decide/calibration.ts'
import { explainMissingMean } from '../decide/ce/judged.ts'
import { describeUnsteadyHarness, findFailure } from '../decide/failures.ts'
import { buildSnapshot } from '../decide/metrics.ts'
import { formatRounded } from '../decide/wording.ts'
import { buildMachineKey, type Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { listTimedDecisiveMetrics } from '../spec/spec-facts.ts'
import { pauseCampaignOnce, type PlanStep } from './action.ts'
import { isPassDue, isUpdateUnmeasured } from './epochs.ts'
import type { MeasuredOrder } from './judgement.ts'
import {
  type AnsweredOrder,
  appendPostponement,
  buildCampaignOrderRequest,
  type CampaignOrderPurpose,
  findCampaignOrder,
  findUsableBaseline,
  type OrderRequest,
  planNextAttempt,
  toBaseAsCandidate,
  type UnansweredOrder,
} from './orders.ts'
import { hasSingleMachine } from './paired-order.ts'
import { findQuieterMetric } from './prospects.ts'
import type { IncomingReports } from './reports.ts'
import type { World } from './world.ts'

/** Before the first experiment: checks the harness, and scores the incumbent. */
export interface Preparation {
  steps: PlanStep[]
  requests: OrderRequest[]
  /** Why no idea can be measured yet; null when the base is known. */
  blocked: string | null
  /** The base cannot be measured as it is; the steps pause the campaign. */
  hopeless: boolean
}

const BASE_BEING_MEASURED = 'the base is being measured'

export function planBase(world: World, incoming: IncomingReports): Preparation {
  const order = findIssuedPurpose(world)
  if (order !== null) return prepareOrder(world, incoming, order)
  if (isCalibrationNeeded(world)) return prepareOrder(world, incoming, 'calibration')
  if (isNoiseNeeded(world)) return prepareOrder(world, incoming, 'noise')
  if (isBaselineNeeded(world) || isPassDue(world)) return prepareOrder(world, incoming, 'baseline')
  return { steps: [], requests: [], blocked: null, hopeless: false }
}

function prepareOrder(world: World, incoming: IncomingReports, purpose: CampaignOrderPurpose): Preparation {
  const { incumbent: base } = world.campaign
  const kind = purpose === 'noise' ? 'calibration' : purpose
  const candidates = purpose === 'noise' ? [toBaseAsCandidate(base)] : []
  const order = findCampaignOrder(world, incoming, { purpose: kind, base, candidates })
  const next = order.is === 'answered' ? preparationReaders[purpose](world, order) : order
  const waiting: Preparation = { steps: [], requests: [], blocked: BASE_BEING_MEASURED, hopeless: false }
  if (Array.isArray(next)) return { ...waiting, steps: next }
  switch (next.is) {
    case 'under way':
      return { ...waiting, blocked: appendPostponement(BASE_BEING_MEASURED, next) }
    case 'wanted':
      return { ...waiting, requests: [buildCampaignOrderRequest(world, purpose, next)] }
    case 'given up': {
      const failure = next.reason.replace(/\.?(?=\n|$)/, '.')
      const reason = `${failure}\nFix it, then run winnow resume (winnow check shows the failure; after a change to the spec, run winnow amend first)`
      return { ...waiting, steps: pauseCampaignOnce(world, reason), hopeless: true }
    }
  }
}

/** An issued order is read even by a process on another machine that would not have issued it. */
function findIssuedPurpose({ campaign }: World): CampaignOrderPurpose | null {
  for (const { order } of Object.values(campaign.orders)) {
    if (order.purpose === 'baseline') return 'baseline'
    if (order.purpose === 'calibration') return order.stop.rule === 'pairs' ? 'noise' : 'calibration'
  }
  return null
}

type PreparationFacts = Pick<World, 'spec' | 'campaign'>

/** Determinism is tested only for metrics that may repeat: a unit of time never does. */
export function isCalibrationNeeded({ spec, campaign }: PreparationFacts): boolean {
  const auto = spec.measurement.stability === null && spec.measurement.mode === 'auto'
  return auto && campaign.calibration === null && listTimedDecisiveMetrics(spec).length === 0
}

/** Pairs need measured noise, and a harness that was shown to treat both sides alike. */
export function isNoiseNeeded({ spec, campaign }: PreparationFacts): boolean {
  const { stability, mode } = spec.measurement
  if (stability !== null || mode === 'once') return false
  return campaign.calibration?.deterministic !== true && !campaign.calibration?.noise
}

/** Stored-score rules need the incumbent's numbers. Other rules need one set, to report the start. */
function isBaselineNeeded(world: World): boolean {
  const { spec, campaign } = world
  const stored = spec.measurement.stability !== null && spec.measurement.baseline === 'cached'
  return stored ? findUsableBaseline(world) === null : campaign.baseline === null
}

// Reading the answers

/** A base that does not work pauses the campaign: no experiment can be compared with it. */
type PreparationReading = PlanStep[] | UnansweredOrder

const preparationReaders = {
  calibration: readCalibration,
  noise: readNoise,
  baseline: readBaseline,
} as const satisfies Record<
  CampaignOrderPurpose,
  (world: World, answered: AnsweredOrder) => PreparationReading
>

function readCalibration(world: World, { order, report, event }: AnsweredOrder): PreparationReading {
  const { deterministic, failed, scale, reason, tolerance } = calibrateHarness(world.spec, report)
  if (report.runner_error !== null) return planNextAttempt(world, order.attempt, reason)
  if (failed) return { is: 'given up', reason }
  const calibrated = { kind: 'calibrated', cause: event, order: order.id, scale, noise: null } as const
  return [
    {
      step: 'event',
      draft: { ...calibrated, deterministic, reason, ...(tolerance === undefined ? {} : { tolerance }) },
    },
    buildBaselineStep(world, { order, report }, event),
  ]
}

/** Two jobs, four in doubt: how noisy a pair is, and whether both sides are treated alike. */
function readNoise(world: World, { order, report, event }: AnsweredOrder): PreparationReading {
  const { spec } = world
  const unsteady = describeUnsteadyHarness(report, { earlier: order.earlier_jobs['base-copy'] ?? [] })
  if (unsteady !== null) return { is: 'given up', reason: unsteady }
  const failure = findFailure({ spec, report, label: 'base-copy', pairs: true })
  if (failure?.retry) {
    const next = planNextAttempt(world, order.attempt, failure.reason)
    return next.is === 'wanted' ? { ...next, earlier_jobs: order.earlier_jobs } : next
  }
  if (failure) return { is: 'given up', reason: `the base fails: ${failure.reason}` }
  const disagreement = explainDisagreement(spec, report)
  if (disagreement !== null) return { is: 'given up', reason: disagreement }
  const jobs = [...(order.earlier_jobs['base-copy'] ?? []), buildNoiseJob(spec, order, report)]
  const nextJob = { is: 'wanted', attempt: 1, earlier_jobs: { 'base-copy': jobs } } as const
  if (jobs.length < CALIBRATION_JOBS) return nextJob
  const found = calibrateNoise(spec, report, jobs)
  if ('suspected' in found) return nextJob
  if ('refused' in found) return { is: 'given up', reason: found.refused }
  const { scale, noise, reason } = found
  const known = world.campaign.calibration
  const why = known === null ? reason : `${known.reason}; ${reason}`
  const quieter = findQuieterMetric(spec, jobs, { scale, noise, singleMachine: hasSingleMachine(world) })
  const better = quieter === null ? {} : { quieter }
  const draft = { kind: 'calibrated', cause: event, order: order.id, deterministic: false, scale } as const
  const calibrated: PlanStep = { step: 'event', draft: { ...draft, reason: why, noise, ...better } }
  return world.campaign.baseline === null
    ? [calibrated, buildBaselineStep(world, { order, report }, event)]
    : [calibrated]
}

function readBaseline(world: World, { order, report, event }: AnsweredOrder): PreparationReading {
  const input = { spec: world.spec, order, report, label: 'base', baseline: null } as const
  const { outcome, retry, reason } = assessCandidate(input)
  if (retry) return planNextAttempt(world, order.attempt, reason)
  const unsteady = describeUnsteadyHarness(report, { most: 1 })
  if (unsteady !== null) return { is: 'given up', reason: unsteady }
  if (outcome !== 'eligible') return { is: 'given up', reason: `the incumbent does not pass: ${reason}` }
  const missing = isUpdateUnmeasured(world) ? null : explainMissingMean(report)
  const unusable = missing ?? explainDisagreement(world.spec, report)
  if (unusable !== null) return { is: 'given up', reason: unusable }
  return [buildBaselineStep(world, { order, report }, event)]
}

/** Judges that do not score as people do decide nothing (metric.judge.calibration). */
function explainDisagreement({ metric }: Spec, { judging }: Report): string | null {
  const least = metric.judge?.calibration?.min_agreement ?? null
  const agreement = judging?.agreement
  if (least === null || agreement === undefined || (agreement !== null && agreement >= least)) return null
  const found = agreement === null ? 'cannot be computed' : `is ${formatRounded(agreement, 2)}`
  return `the agreement of ${judging?.model ?? 'the judge'} with the labels ${found}, and the spec asks for ${least} (metric.judge.calibration).
Sharpen the rubric, ask another model, or correct the labels`
}

function buildBaselineStep(world: World, { order, report }: MeasuredOrder, cause: string): PlanStep {
  const { tree } = order.base
  const about = { order: order.id, side: 'base', tree, harness: order.harness } as const
  const machine = buildMachineKey(report.machine)
  const snapshot = buildSnapshot(world.spec, report, 'base')
  return { step: 'event', draft: { kind: 'baseline-measured', cause, ...about, machine, snapshot } }
}
