import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { assessCandidate } from '../decide/assess.ts'
import {
  buildNoiseJob,
  CALIBRATION_JOBS,
  type CalibrationResult,
  calibrateHarness,
  calibrateNoise,
  explainIncomparable,
  type NoiseResult,
} from '../decide/calibration.ts'
import { describeUnsteadyHarness, findFailure } from '../decide/failures.ts'
import {
  findAbsentMetrics,
  listDecisiveMetrics,
  listExecutions,
  listPrintedNames,
} from '../decide/metrics.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { computeTreeHarness } from '../engine/observe/sync.ts'
import { HarnessError, UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { estimateJudgingCost } from '../judge/ask-judges.ts'
import { openBudget } from '../judge/budget.ts'
import { formatModels } from '../judge/judge-models.ts'
import { SAMPLES_TO_KEEP } from '../judge/judging-task.ts'
import { hasModelUrl, type Price, readModelAccess } from '../judge/model-access.ts'
import { buildRubric, computeSampleReach } from '../judge/rubric.ts'
import type { Item } from '../measure/output/harness-output.ts'
import { listNeededMetrics } from '../measure/output/read-output.ts'
import { createEmptyCampaign } from '../model/campaign.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { Point } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import type { PairJob } from '../model/pairs.ts'
import {
  aggregateMetrics,
  findFailedPart,
  formatRunnerError,
  getAggregation,
  joinStreams,
  type Report,
  type Side,
} from '../model/report.ts'
import {
  buildCampaignOrderRequest,
  buildSuiteTerms,
  type CampaignOrderPurpose,
  type OrderRequest,
} from '../plan/orders.ts'
import { isCalibrationNeeded, isNoiseNeeded } from '../plan/preparation.ts'
import { computeProspects, findQuieterMetric, type Prospects } from '../plan/prospects.ts'
import type { HarnessTrial, JudgingForecast } from '../report/check-trial.ts'
import { collectSuitePass, renderSuitePass, type SuiteTaskResult } from '../report/tasks.ts'
import { describeAbsentMetric, findMissingMetrics } from '../report/metrics.ts'
import type { Spec } from '../spec/schema.ts'
import { BUILT_IN_METRICS } from '../spec/schema-values.ts'
import { countJudges, countSampleItems, isJudgedMetric, listJudgeModels } from '../spec/spec-facts.ts'
import { findUsualSetup } from './default-branch.ts'
import { measureHere } from './measure.ts'
import type { Call } from './verb.ts'

/** One measurement of the harness on one commit, as in step 0 of a campaign, but without a ledger. */
export interface HarnessRun {
  call: Call
  repositoryContext: RepositoryContext
  spec: Spec
  base: Point
  /** Name of the commit in sentences, long and short. */
  longName: string
  shortName: string
  /** Name of the command, and of its own work directory. */
  what: string
  workspaceName: string
  /** Names of spec keys or options, for suggested fixes. */
  keys: { setup: string; timeout: string; share: string; metric: (name: string, spec: Spec) => string }
  more?: Parameters<typeof measureHere>[2]['more']
  time?: Parameters<typeof measureHere>[2]['time']
}

type FailureDetail = HarnessError['detail']

/** Number of simulations. The spread is only assumed, so more would not be more precise. */
const SIMULATIONS = 40

/** Assumed spread of one item's scores, as a share of the scale. The true value is unknown before judging. */
const ASSUMED_SPREAD = 1 / 8

/** A trial ends by the timeouts of its parts, so its deadline is far away. */
const YEAR_MS = 365 * 24 * 3_600_000

const MISSING =
  /not found|cannot find|no such file|no module named|ModuleNotFoundError|ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND/i

const WORD = /[\w@+.-]+(?:\/[\w@+.-]+)*/g

export async function tryHarness(harness: HarnessRun): Promise<HarnessTrial> {
  if (isJudgedMetric(harness.spec)) {
    const { report, judging } = await tryItems(harness)
    return { ...summarizeTrial(harness, report), calibration: null, prospects: null, judging }
  }
  // A pass of a suite may cost a lot of money: a trial shows its values, and a campaign its noise.
  if (harness.spec.measurement.suite !== null) return trySuite(harness)
  const campaign = { ...createEmptyCampaign(), incumbent: harness.base }
  if (!isCalibrationNeeded({ ...harness, campaign }) && !isNoiseNeeded({ ...harness, campaign }))
    return { ...summarizeTrial(harness, await tryOnce(harness)), calibration: null, prospects: null }
  const repeats = await tryWhetherRepeats(harness)
  return 'trial' in repeats ? repeats.trial : tryNoise(harness, repeats.reasonPrefix)
}

/** One pass of the suite over the base. */
export async function trySuite(
  harness: HarnessRun,
): Promise<HarnessTrial & { tasks: string[]; pass: SuiteTaskResult[] }> {
  const report = await tryOnce(harness)
  const pass = collectSuitePass(harness.spec, report)
  const tasks = renderSuitePass(harness.spec.metric.primary.name, pass)
  return { ...summarizeTrial(harness, report), calibration: null, prospects: null, tasks, pass }
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
): Pick<HarnessTrial, 'seconds' | 'metrics' | 'gates' | 'warnings'> {
  const { executions } = report
  const runs = executions.filter(({ role }) => role === 'sample')
  const printed = listPrintedNames(executions, BUILT_IN_METRICS)
  return {
    seconds: runs.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0) / Math.max(1, runs.length),
    metrics: aggregateMetrics(report, 'base', getAggregation(spec)),
    gates: [...new Set(report.gates.map(({ name }) => name))],
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

/** Creates an order like a tick does, with its own coins, but records nothing. */
export async function createUnrecordedOrder(
  harness: HarnessRun,
  request: Omit<OrderRequest, 'cause'>,
): Promise<Order> {
  const { call, repositoryContext, spec, base } = harness
  const { random, clock } = call.environment
  const coins = random.hex(32)
  return {
    ...request,
    earlier_jobs: request.earlier_jobs ?? {},
    id: hashSha256(`trial ${coins}`),
    spec_sha256: hashSha256('trial'),
    harness: await computeTreeHarness(repositoryContext.repository, spec, base.tree),
    pin: base,
    base,
    coins,
    ...buildSuiteTerms(spec, request.stop),
    deadline: new Date(clock.now() + YEAR_MS).toISOString(),
  }
}

export function measureTrial(harness: HarnessRun, order: Order): Promise<Report> {
  const { call, repositoryContext, spec, workspaceName, what, more, time } = harness
  const optional = { ...(more === undefined ? {} : { more }), ...(time === undefined ? {} : { time }) }
  return measureHere(call, repositoryContext, { order, spec, workspaceName, what, ...optional })
}

// The cost of judging

async function estimateJudging(
  { spec, call }: HarnessRun,
  printed: readonly Item[],
): Promise<JudgingForecast> {
  const { primary, judge } = spec.metric
  if (!isJudgedMetric(spec) || judge === null) throw new TypeError('the spec has no judge')
  const items = printed.filter(({ kind }) => kind === undefined)
  const wanted = countSampleItems(judge)
  const byMeans = spec.measurement.stability !== null
  const least = byMeans ? 1 : SAMPLES_TO_KEEP * wanted
  if (items.length < least) {
    const what = byMeans
      ? 'the harness prints no items'
      : `the harness prints ${items.length} items, and two samples that share none have ${least}`
    const place = { path: 'metric.judge.sample_size' }
    throw new UserError(what, { place, fix: byMeans ? 'print items' : 'print more items, or lower it' })
  }
  const { env } = call.environment
  const settings = { env, models: spec.models, web: createWebFetch(env) }
  const known = hasModelUrl(env)
    ? await Promise.all(listJudgeModels(judge).map(name => readModelAccess(settings, name)))
    : null
  const model = known === null ? listJudgeModels(judge).join(' + ') : formatModels(known)
  const totalCapUsd = spec.stopping.max_total_cost_usd
  // Fail here with the error that a run would give.
  for (const each of known ?? []) openBudget({ ...each, capUsd: judge.max_total_cost_usd ?? totalCapUsd })
  const sizes = items.map(({ content }) => content.length).toSorted((a, b) => a - b)
  const confirming = byMeans && judge.confirmation_seed !== null ? wanted : 0
  const cost = estimateJudgingCost({
    rubric: buildRubric({ primary, judge }),
    sampleSize: Math.min(wanted + confirming, items.length) + judge.singleton_sample,
    sides: byMeans && spec.measurement.baseline === 'cached' ? 1 : 2,
    batchSize: judge.batch_size,
    judges: countJudges(judge),
    itemCharacters: sizes[sizes.length >> 1] ?? 0,
    price: findDearestPrice((known ?? []).map(({ price }) => price)),
  })
  const asked = { model, asked: known !== null, capUsd: judge.max_total_cost_usd, cost }
  const reach = byMeans ? null : computeJudgingReach(spec, items.length)
  return {
    ...asked,
    items: items.length,
    wanted: Math.min(wanted, items.length),
    reach,
    totalCapUsd,
    primary: primary.name,
  }
}

/** For an estimate: each of several models counts like the dearest. Null if a price is unknown. */
function findDearestPrice(prices: readonly (Price | null)[]): Price | null {
  const known = prices.filter(price => price !== null)
  if (known.length === 0 || known.length < prices.length) return null
  return {
    input: Math.max(...known.map(({ input }) => input)),
    output: Math.max(...known.map(({ output }) => output)),
  }
}

function computeJudgingReach(spec: Spec, items: number): JudgingForecast['reach'] {
  const { primary, judge } = spec.metric
  if (judge === null) return null
  const wanted = countSampleItems(judge)
  const { scale } = buildRubric({ primary, judge })
  const pairSd = (scale[1] - scale[0]) * ASSUMED_SPREAD
  const noise = { pair_sd: pairSd, pair_sd_upper90: null, between_job_sd: null, pairs: 0, jobs: 0 }
  const seconds = { execution_seconds: 0, overhead_seconds: 0 }
  const prospects = computeProspects(spec, {
    scale: 'linear',
    noise: { ...noise, ...seconds },
    singleMachine: true,
    runs: SIMULATIONS,
  })
  const reach = { sampleSize: wanted, confirms: false, level: prospects.level }
  const { leastSampleSize } = computeSampleReach(reach)
  requireReach(leastSampleSize, wanted * Math.min(prospects.max_jobs, Math.floor(items / wanted)))
  return {
    leastItems: leastSampleSize,
    assumedSpread: pairSd,
    visibleGain: prospects.smallest_visible_gain,
    goodIdeaJobs: prospects.good_idea.jobs,
  }
}

/** Fails before anything is spent if no scores could ever keep an idea (decision 3.1). */
function requireReach(least: number, most: number): void {
  if (least <= most) return
  throw new UserError(`no scores of ${most} items could show a gain: it takes at least ${least}`, {
    place: { path: 'metric.judge.sample_size' },
    fix: 'raise it, print more items, or raise evidence.max_jobs',
  })
}

// Failures

/** Describes a failed side: the step, its output and a suggested fix. */
export async function createNotPassedError(
  harness: HarnessRun,
  reason: string,
  report: Report,
): Promise<HarnessError> {
  const [first = '', ...more] = reason.replace(/^the base fails: /, '').split('\n')
  const [line, example] = ['in: ', 'valid: '].map(start =>
    more.find(each => each.startsWith(start))?.slice(start.length),
  )
  const { said: missing, ...detail } = await findHarnessFailure(harness, report, null)
  const sentence = first.replace(/^the base's /, 'the ')
  const what = missing === null ? sentence : `${sentence}: ${missing}`.replace(/^missing metric: [^:]*: /, '')
  return new HarnessError(`${harness.longName} does not pass: ${what}`, {
    ...detail,
    line,
    example,
  })
}

/** `label` null means any side. */
export async function findHarnessFailure(
  harness: HarnessRun,
  report: Report,
  label: Side | null,
): Promise<FailureDetail & { said: string | null }> {
  const { setups, gates: gateRuns, executions } = report
  const all = [...setups, ...gateRuns, ...executions].map(({ side }) => side)
  const sides = label === null ? [...new Set(all)] : [label]
  const failed = sides
    .map(side => ({ side, part: findFailedPart(report, side) }))
    .find(({ part }) => part !== null)
  const { measurement, gates } = harness.spec
  const part = failed?.part ?? null
  if (failed === undefined || part === null) return describeMissingMetrics(harness, report)
  const run = executions.find(({ side, status }) => side === failed.side && status !== 'ok')
  const gate = gateRuns.find(({ side, passed }) => side === failed.side && !passed)
  const setup = setups.find(({ side, ok }) => side === failed.side && !ok)
  const explain = async (command: string, timedOut: boolean, suggests = true) => ({
    said: null,
    command,
    ...(part.output === null ? {} : { output: part.output }),
    ...(suggests ? await suggestFix(harness, joinStreams(part.output ?? undefined), timedOut) : {}),
  })
  if (part.what === 'set-up') return explain(measurement.setup ?? '', setup?.timed_out === true)
  if (part.what !== 'the harness') {
    const command = gates.find(({ name }) => name === gate?.name)?.command ?? part.what
    return explain(command, gate?.timed_out === true)
  }
  return explain(measurement.command, run?.status === 'timeout', run?.status !== 'bad-output')
}

/** All executions succeeded, but a needed metric is missing or not a number. */
function describeMissingMetrics(
  { spec }: HarnessRun,
  { executions }: Report,
): FailureDetail & { said: string | null } {
  const printed = listPrintedNames(executions, BUILT_IN_METRICS)
  const needed = new Set([...listNeededMetrics(spec), ...listDecisiveMetrics(spec)])
  const missing = executions.some(({ status }) => status === 'ok')
    ? findMissingMetrics(
        [...needed].filter(name => !BUILT_IN_METRICS.has(name)),
        printed,
      )
    : null
  if (missing !== null) return { said: null, command: spec.measurement.command, ...missing }
  const [first] = findAbsentMetrics(spec, executions).filter(({ name }) => needed.has(name))
  if (first === undefined) return { said: null }
  return { said: describeAbsentMetric(first, printed), command: spec.measurement.command }
}

async function suggestFix(
  harness: HarnessRun,
  tail: string,
  timedOut: boolean,
): Promise<Pick<FailureDetail, 'fix'>> {
  const { timeout, setup, share } = harness.keys
  if (timedOut)
    return { fix: `raise ${timeout} if it needs longer. Its stdin is empty, so it is not waiting for input` }
  const file = await findUncommittedFile(harness, tail)
  if (file !== null)
    return { fix: `${file} is in your work tree and not committed: commit it, or name it in ${share}` }
  if (harness.spec.measurement.setup !== null || !MISSING.test(tail)) return {}
  const usual = await findUsualSetup(harness.repositoryContext, harness.base)
  const instead = usual === null ? 'what installs and builds' : JSON.stringify(usual)
  return {
    fix: `it runs in a fresh copy of what is committed, with no node_modules and no builds: give ${setup} ${instead}, or install what is missing`,
  }
}

/** Finds a file that the output names, that exists in the work tree and is not committed. */
async function findUncommittedFile(
  { repositoryContext, base }: HarnessRun,
  tail: string,
): Promise<string | null> {
  const { topLevel } = repositoryContext.checkout
  if (topLevel === null || !MISSING.test(tail)) return null
  const words = new Set(tail.match(WORD)?.map(word => word.replace(/^.*\/at\/tree\//, '')) ?? [])
  for (const word of [...words].filter(each => /[/.]/.test(each) && !each.startsWith('.'))) {
    if (word.includes('..') || !existsSync(join(topLevel, word))) continue
    if ((await repositoryContext.repository.findEntry(base.tree, word)) === null) return word
  }
  return null
}
