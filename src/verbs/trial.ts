import { findAbsentMetrics, listPrintedNames } from '../decide/absent-metrics.ts'
import { assessCandidate } from '../decide/assess.ts'
import { calibrateHarness, type CalibrationResult as Repeats } from '../decide/calibrate.ts'
import {
  CALIBRATION_JOBS,
  calibrateNoise,
  type NoiseResult,
  explainIncomparable,
} from '../decide/calibrate-noise.ts'
import { findFailure } from '../decide/failures.ts'
import { UserError } from '../errors.ts'
import { createEmptyCampaign, type Noise } from '../model/campaign.ts'
import { getAggregation } from '../model/aggregate.ts'
import { toPairRequest, type Order } from '../model/order.ts'
import { type PairJob, buildPairJob, toMeasuredRun } from '../model/pairs.ts'
import { type Report, aggregateMetrics } from '../model/report.ts'
import { formatRunnerError } from '../model/runner-error.ts'
import { isCalibrationNeeded, isNoiseNeeded } from '../plan/preparation.ts'
import { computeProspects } from '../plan/prospects.ts'
import type { CampaignOrderPurpose } from '../plan/orders.ts'
import { describeAbsentMetric } from '../report/absent-text.ts'
import type { HarnessTrial } from '../report/check-trial.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import { isJudgedMetric } from '../spec/judged.ts'
import { describeUnsteadyHarness } from '../decide/unsteady-harness.ts'
import { createNotPassedError } from './not-passed.ts'
import { tryItems } from './trial-items.ts'
import { measureTrial, type HarnessRun } from './trying.ts'
import { createTrialOrder } from './trial-order.ts'

export async function tryHarness(trying: HarnessRun): Promise<HarnessTrial> {
  if (isJudgedMetric(trying.spec)) {
    const { report, judging } = await tryItems(trying)
    return { ...summarizeTrial(trying, report), calibration: null, prospects: null, judging }
  }
  const campaign = { ...createEmptyCampaign(), incumbent: trying.base }
  if (isCalibrationNeeded({ ...trying, campaign })) {
    const { report, repeats } = await tryRepeats(trying)
    if (repeats.deterministic)
      return { ...summarizeTrial(trying, report), calibration: { ...repeats, noise: null }, prospects: null }
    return tryNoise(trying, `${repeats.reason}; `)
  }
  if (isNoiseNeeded({ ...trying, campaign })) return tryNoise(trying, '')
  return { ...summarizeTrial(trying, await tryOnce(trying)), calibration: null, prospects: null }
}

/** Whatever was not needed to pass, and will be asked for all the same. */
function listTrialWarnings({ spec }: HarnessRun, { executions }: Report): string[] {
  const names = listPrintedNames(executions, BUILT_IN_METRICS)
  return findAbsentMetrics(spec, executions).map(absent => describeAbsentMetric(absent, names))
}

function summarizeTrial(
  trying: HarnessRun,
  report: Report,
): Pick<HarnessTrial, 'seconds' | 'metrics' | 'gates' | 'warnings'> {
  const runs = report.executions.filter(({ role }) => role === 'sample')
  return {
    seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
    metrics: aggregateMetrics(report, 'base', getAggregation(trying.spec)),
    gates: [...new Set(report.gates.map(({ name }) => name))],
    warnings: listTrialWarnings(trying, report),
  }
}

/** Rules that compare with a stored score, or run each side once, take the harness at its word. */
async function tryOnce(trying: HarnessRun): Promise<Report> {
  const spec = { ...trying.spec, measurement: { ...trying.spec.measurement, stability: null } }
  const { order, report } = await measureTrialOrder({ ...trying, spec }, 'baseline')
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw await createNotPassedError(trying, reason, report)
  return report
}

async function tryRepeats(trying: HarnessRun): Promise<{ report: Report; repeats: Repeats }> {
  const { spec } = trying
  const { report } = await measureTrialOrder(trying, 'calibration')
  const repeats = calibrateHarness(spec, report)
  if (!repeats.failed) return { report, repeats }
  const refused = explainIncomparable(spec, repeats.values[spec.metric.primary.name] ?? [])
  if (refused !== null) throw new UserError(refused, { place: { path: 'evidence.scale' } })
  throw await createNotPassedError(trying, repeats.reason, report)
}

/** Pairs of the base with itself, in as many jobs as a campaign begins with. */
export async function tryNoise(trying: HarnessRun, known: string): Promise<HarnessTrial> {
  const { spec, call } = trying
  const jobs: PairJob[] = []
  for (;;) {
    call.around.progress.say(`trying the harness: job ${jobs.length + 1} of ${trying.short} against itself`)
    const { order, report } = await measureTrialOrder(trying, 'noise', jobs)
    const unsteady = describeUnsteadyHarness(report, { earlier: jobs })
    if (unsteady !== null) throw await createNotPassedError(trying, unsteady, report)
    await requirePairs(trying, report)
    jobs.push(buildPairJob(toPairRequest(order), toMeasuredRun(report), 'twin'))
    if (jobs.length < CALIBRATION_JOBS) continue
    const found = calibrateNoise(spec, report, jobs)
    if (!('suspected' in found)) return buildNoisyTrial(trying, { report, found, known })
  }
}

interface NoiseTrial {
  report: Report
  found: Exclude<NoiseResult, { suspected: string }>
  known: string
}

function buildNoisyTrial(trying: HarnessRun, { report, found, known }: NoiseTrial): HarnessTrial {
  const { spec } = trying
  if ('refused' in found) throw new UserError(found.refused)
  const { scale, noise, reason } = found
  const calibration: { noise: Noise } & Pick<Repeats, 'deterministic' | 'scale' | 'reason'> = {
    deterministic: false,
    scale,
    reason: `${known}${reason}`,
    noise,
  }
  return {
    ...summarizeTrial(trying, report),
    calibration,
    prospects: computeProspects(spec, { scale, noise, singleMachine: true }),
  }
}

async function requirePairs(trying: HarnessRun, report: Report): Promise<void> {
  const { spec } = trying
  const failure = findFailure({ spec, report, label: 'twin', pairs: true })
  if (failure !== null) throw await createNotPassedError(trying, failure.reason, report)
  const { name } = spec.metric.primary
  if (typeof aggregateMetrics(report, 'base', getAggregation(spec))[name] !== 'number')
    throw await createNotPassedError(trying, `missing metric: ${name}`, report)
}

async function measureTrialOrder(
  trying: HarnessRun,
  purpose: CampaignOrderPurpose,
  jobs: readonly PairJob[] = [],
): Promise<{ order: Order; report: Report }> {
  const order = await createTrialOrder(trying, purpose, jobs)
  const report = await measureTrial(trying, order)
  if (report.runner_error !== null)
    throw await createNotPassedError(trying, formatRunnerError(report.runner_error), report)
  return { order, report }
}
