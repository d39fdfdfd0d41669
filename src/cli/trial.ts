import { assessCandidate } from '../decide/assess.ts'
import {
  buildNoiseJob,
  CALIBRATION_JOBS,
  type CalibrationResult,
  calibrateHarness,
  calibrateNoise,
  estimateSuiteNoise,
  explainIncomparable,
  type NoiseResult,
} from '../decide/calibration.ts'
import { describeUnsteadyHarness, findFailure } from '../decide/failures.ts'
import { findAbsentMetrics, listExecutions, listPrintedNames } from '../decide/metrics.ts'
import { UserError } from '../errors.ts'
import type { Item } from '../measure/output/harness-output.ts'
import { createEmptyCampaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { PairJob } from '../model/pairs.ts'
import {
  aggregateMetrics,
  formatRunnerError,
  getAggregation,
  type Report,
  type Side,
} from '../model/report.ts'
import { isPairedByTask } from '../model/tasks.ts'
import { buildCampaignOrderRequest, type CampaignOrderPurpose } from '../plan/orders.ts'
import { isCalibrationNeeded, isNoiseNeeded } from '../plan/preparation.ts'
import { computeProspects, findQuieterMetric, type Prospects } from '../plan/prospects.ts'
import type { HarnessTrial, JudgingForecast } from '../report/check-trial.ts'
import { collectSuitePass, renderSuitePass, type SuiteTaskResult } from '../report/tasks.ts'
import { describeAbsentMetric } from '../report/metrics.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { isJudgedMetric, isMetered } from '../spec/spec-facts.ts'
import { createNotPassedError } from './harness-failure.ts'
import { createUnrecordedOrder, type HarnessRun, measureTrial } from './harness-run.ts'
import { estimateJudging } from './judging-forecast.ts'

export async function tryHarness(harness: HarnessRun): Promise<HarnessTrial> {
  if (isJudgedMetric(harness.spec)) {
    const { report, judging } = await tryItems(harness)
    return { ...summarizeTrial(harness, report), calibration: null, prospects: null, judging }
  }
  if (harness.spec.measurement.suite !== null) return trySuiteNoise(harness)
  if (isMetered(harness.spec))
    return { ...summarizeTrial(harness, await tryOnce(harness)), calibration: null, prospects: null }
  const campaign = { ...createEmptyCampaign(), incumbent: harness.base }
  if (!isCalibrationNeeded({ ...harness, campaign }) && !isNoiseNeeded({ ...harness, campaign }))
    return { ...summarizeTrial(harness, await tryOnce(harness)), calibration: null, prospects: null }
  const repeats = await tryWhetherRepeats(harness)
  return 'trial' in repeats ? repeats.trial : tryNoise(harness, repeats.reasonPrefix)
}

interface SuiteTrial extends HarnessTrial {
  tasks: string[]
  pass: SuiteTaskResult[]
  report: Report
}

/** One pass of the suite over the base. */
export async function trySuite(harness: HarnessRun): Promise<SuiteTrial> {
  const report = await tryOnce(harness)
  const pass = collectSuitePass(harness.spec, report)
  const tasks = renderSuitePass(harness.spec.metric.primary.name, pass)
  return { ...summarizeTrial(harness, report), calibration: null, prospects: null, tasks, pass, report }
}

/** More passes may cost a lot of money, so one has to show how noisy the pairs will be. */
async function trySuiteNoise(harness: HarnessRun): Promise<HarnessTrial> {
  const { spec } = harness
  const { pass: _, report, ...trial } = await trySuite(harness)
  const estimated = isPairedByTask(spec) ? estimateSuiteNoise(spec, report) : null
  if (estimated === null) return trial
  return { ...trial, estimated, prospects: computeProspects(spec, { ...estimated, singleMachine: true }) }
}

/** The trial of a harness that repeats exactly, or why it does not count as one. */
export async function tryWhetherRepeats(
  harness: HarnessRun,
): Promise<{ trial: HarnessTrial } | { reasonPrefix: string }> {
  const campaign = { ...createEmptyCampaign(), incumbent: harness.base }
  if (!isCalibrationNeeded({ ...harness, campaign })) return { reasonPrefix: '' }
  const { report, repeats } = await tryRepeats(harness)
  if (!repeats.deterministic) return { reasonPrefix: `${repeats.reason}; ` }
  const calibration = { ...repeats, noise: null }
  return { trial: { ...summarizeTrial(harness, report), calibration, prospects: null } }
}

/** Runs the harness once to list the items and estimate the judging cost. Calls no model. */
async function tryItems(harness: HarnessRun): Promise<{ report: Report; judging: JudgingForecast }> {
  const { spec } = harness
  const items: Item[] = []
  const onItems = (_: unknown, printed: readonly Item[]) => {
    if (items.length === 0) items.push(...printed)
  }
  const order = await createTrialOrder(harness, 'baseline', [])
  const report = await measureTrial({ ...harness, more: { ...harness.more, onItems } }, order)
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw await createNotPassedError(harness, reason, report)
  return { report, judging: await estimateJudging(harness, items) }
}

async function tryRepeats(harness: HarnessRun): Promise<{ report: Report; repeats: CalibrationResult }> {
  const { spec } = harness
  const { report } = await measureTrialOrder(harness, 'calibration')
  const repeats = calibrateHarness(spec, report)
  if (!repeats.failed) return { report, repeats }
  const refused = explainIncomparable(spec, repeats.values[spec.metric.primary.name] ?? [])
  if (refused !== null) throw new UserError(refused, { place: { path: 'evidence.scale' } })
  throw await createNotPassedError(harness, repeats.reason, report)
}

async function tryNoise(harness: HarnessRun, reasonPrefix: string): Promise<HarnessTrial> {
  const { spec, call } = harness
  const jobs: PairJob[] = []
  for (;;) {
    call.environment.progress.say(
      `trying the harness: job ${jobs.length + 1} of ${harness.shortName} against itself`,
    )
    const { order, report } = await measureTrialOrder(harness, 'noise', jobs)
    await requireSteadyBase(harness, report, jobs)
    jobs.push(buildNoiseJob(spec, order, report))
    const trial = readNoiseJobs(harness, { report, jobs, reasonPrefix })
    if (trial !== null) return trial
  }
}

interface NoiseJobs {
  /** The report of the last job. */
  report: Report
  jobs: readonly PairJob[]
  reasonPrefix: string
}

/** Null while more jobs of the base with its copy are needed. */
export function readNoiseJobs(harness: HarnessRun, noise: NoiseJobs): HarnessTrial | null {
  if (noise.jobs.length < CALIBRATION_JOBS) return null
  const found = calibrateNoise(harness.spec, noise.report, noise.jobs)
  if ('suspected' in found) return null
  if ('refused' in found) throw new UserError(found.refused)
  return buildNoiseTrial(harness, noise, found)
}

function buildNoiseTrial(
  harness: HarnessRun,
  { report, jobs, reasonPrefix }: NoiseJobs,
  { scale, noise, reason }: Extract<NoiseResult, { noise: unknown }>,
): HarnessTrial {
  const { spec } = harness
  const calibrated = { scale, noise, singleMachine: true }
  const prospects = computeProspects(spec, calibrated)
  const visibleGain = prospects.smallest_visible_gain
  const quieter = findQuieterMetric(spec, jobs, { ...calibrated, visibleGain })
  return {
    ...summarizeTrial(harness, selectBaseParts(report)),
    calibration: {
      deterministic: false,
      scale,
      reason: `${reasonPrefix}${reason}`,
      noise,
      ...(quieter === null ? {} : { quieter }),
    },
    prospects,
    ...(isTimeTooNoisy(spec, prospects) ? { countedLine: harness.keys.metric('instructions', spec) } : {}),
    ...(quieter === null ? {} : { quieterLine: harness.keys.metric(quieter.metric, spec) }),
  }
}

function isTimeTooNoisy({ metric }: Spec, { sees_min_effect }: Prospects): boolean {
  return !sees_min_effect && ['wall_seconds', 'cpu_seconds'].includes(metric.primary.name)
}

/** Fails if the base and its copy do not work in every run. Another side of the same job has no part in that. */
export async function requireSteadyBase(
  harness: HarnessRun,
  measured: Report,
  earlier: readonly PairJob[],
): Promise<void> {
  const { spec } = harness
  const report = selectBaseParts(measured)
  const unsteady = describeUnsteadyHarness(report, { earlier })
  if (unsteady !== null) throw await createNotPassedError(harness, unsteady, report)
  const failure = findFailure({ spec, report, label: 'base-copy', pairs: true })
  if (failure !== null) throw await createNotPassedError(harness, failure.reason, report)
  if (listExecutions(report, 'base-copy', 'sample').length === 0) return
  const { name } = spec.metric.primary
  if (typeof aggregateMetrics(report, 'base', getAggregation(spec))[name] !== 'number')
    throw await createNotPassedError(harness, `missing metric: ${name}`, report)
}

function selectBaseParts(report: Report): Report {
  const isBase = ({ side }: { side: Side }) => side === 'base' || side === 'base-copy'
  const { setups, gates, executions } = report
  return {
    ...report,
    setups: setups.filter(isBase),
    gates: gates.filter(isBase),
    executions: executions.filter(isBase),
  }
}

/** Rules with stored scores, and rules that run each side once, need no calibration. */
async function tryOnce(harness: HarnessRun): Promise<Report> {
  const spec = { ...harness.spec, measurement: { ...harness.spec.measurement, stability: null } }
  const { order, report } = await measureTrialOrder({ ...harness, spec }, 'baseline')
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'base', baseline: null })
  if (outcome !== 'eligible') throw await createNotPassedError(harness, reason, report)
  return report
}

function summarizeTrial(
  { spec }: HarnessRun,
  report: Report,
): Pick<HarnessTrial, 'seconds' | 'metrics' | 'gates' | 'warnings' | 'models'> {
  const { executions, metered } = report
  const runs = executions.filter(({ role }) => role === 'sample')
  const printed = listPrintedNames(executions, BUILT_IN_METRICS)
  return {
    seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
    metrics: aggregateMetrics(report, 'base', getAggregation(spec)),
    gates: [...new Set(report.gates.map(({ name }) => name))],
    ...(metered === undefined ? {} : { models: { ...metered, executions: executions.length } }),
    // Metrics that this trial did not need, but a campaign will.
    warnings: findAbsentMetrics(spec, executions).map(absent => describeAbsentMetric(absent, printed)),
  }
}

export async function measureTrialOrder(
  harness: HarnessRun,
  purpose: CampaignOrderPurpose,
  jobs: readonly PairJob[] = [],
): Promise<{ order: Order; report: Report }> {
  const order = await createTrialOrder(harness, purpose, jobs)
  const report = await measureTrial(harness, order)
  if (report.runner_error !== null)
    throw await createNotPassedError(harness, formatRunnerError(report.runner_error), report)
  return { order, report }
}

function createTrialOrder(
  harness: HarnessRun,
  purpose: CampaignOrderPurpose,
  jobs: readonly PairJob[],
): Promise<Order> {
  const { spec, base } = harness
  const campaign = { ...createEmptyCampaign(), incumbent: base }
  const earlier_jobs = jobs.length === 0 ? {} : { 'base-copy': [...jobs] }
  return createUnrecordedOrder(
    harness,
    buildCampaignOrderRequest({ campaign, spec }, purpose, { attempt: 1, earlier_jobs }),
  )
}
