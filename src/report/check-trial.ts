import type { WayOut } from '../decide/evidence/planning.ts'
import { formatCount, formatNoise, formatNumber, formatRounded, formatSize } from '../decide/wording.ts'
import type { Calibration } from '../model/campaign.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import type { HeldResources, JudgingUsage, MetricValues } from '../model/report.ts'
import { joinFirst } from '../model/text.ts'
import type { Prospects } from '../plan/prospects.ts'
import { NOT_NOISE_PROOF } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import { describeQuieterMetric, renderMetrics } from './metrics.ts'
import { formatTable } from './terminal.ts'

// Trial

export interface HarnessTrial {
  seconds: number
  metrics: MetricValues
  gates: string[]
  /** Null where the rules need no noise estimate. */
  calibration: Omit<Calibration, 'order'> | null
  /** Only for a noisy primary metric. */
  prospects: Prospects | null
  /** What compares the quieter metric, if there is one: a line of the spec, or an option. */
  quieterLine?: string
  /** What counts instructions, where a time is too noisy for min_effect. */
  countedLine?: string
  /** Only if a model scores the output. */
  judging?: JudgingForecast
  /** Only of a suite: the table of its tasks. */
  tasks?: string[]
  /** Only if the harness asks models: what that cost in all executions of the trial. */
  models?: JudgingUsage & { executions: number }
  /** Only of a suite that is compared in pairs: their noise, as far as one pass tells. */
  estimated?: EstimatedNoise
  /** Hostile changes that a campaign measures besides the base, 0 where its spec turns them off. */
  attacks?: number
  /** The harness works, but differs from the spec in these points. */
  warnings: string[]
}

type EstimatedNoise = Pick<Calibration, 'scale'> & { noise: NonNullable<Calibration['noise']> }

export function renderTrial(trial: HarnessTrial): string[] {
  return [...renderTrialResult(trial), ...trial.warnings.map(warning => `warning: ${warning}`)]
}

function renderTrialResult(trial: HarnessTrial): string[] {
  const { seconds, metrics, gates, calibration, prospects, judging } = trial
  const passed = gates.length === 0 ? '' : `; passed ${gates.join(', ')}`
  const [printed, ...rows] = renderMetrics(metrics)
  const tried = [`tried: ${printed} in ${formatRounded(seconds, 3)} s${passed}`, ...rows]
  if (judging !== undefined) return [...tried, ...renderJudgingForecast(judging, trial.attacks ?? 0)]
  if (calibration === null) return [...tried, ...(trial.tasks ?? []), ...renderSuiteProspects(trial)]
  const { noise } = calibration
  return [
    ...tried,
    `repeats exactly: ${describeRepeatability(calibration)}`,
    describeScale(calibration),
    ...(noise === null ? [] : renderNoise({ ...calibration, noise })),
    ...(prospects === null ? [] : renderProspects(prospects, calibration)),
    ...renderQuieterMetric(trial),
    ...(trial.countedLine === undefined ? [] : [`${COUNT_INSTEAD}: ${trial.countedLine}`]),
  ]
}

function renderSuiteProspects({ estimated, prospects }: HarnessTrial): string[] {
  if (estimated === undefined || prospects === null) return []
  const { scale, noise } = estimated
  const runs = formatCount(noise.pairs, 'run')
  return [
    `noise: pairs (task, seed) would differ by ${formatSize(noise.pair_sd, scale)}, estimated from ${runs} of one pass; a campaign measures it`,
    ...renderProspects(prospects, estimated),
  ]
}

const COUNT_INSTEAD =
  'to see more: count instructions instead of time, with valgrind or perf; a proxy, but it mostly repeats exactly'

function renderQuieterMetric({ calibration, quieterLine }: HarnessTrial): string[] {
  const quieter = describeQuieterMetric(calibration)
  if (quieter === null || quieterLine === undefined) return []
  return [quieter, `to compare it: ${quieterLine}`]
}

export function describeGuessedMetric(
  { calibration }: Pick<HarnessTrial, 'calibration'>,
  metric: string,
): string | null {
  if (calibration?.deterministic !== true) return null
  return `${metric} repeats exactly in every build: if it is a checksum and not a cost, use wall_seconds as the metric`
}

/** Deterministic metrics are compared in their own unit: only min_effect and progress may be relative. */
function describeScale({ scale, deterministic }: Pick<Calibration, 'scale' | 'deterministic'>): string {
  if (scale === 'linear') return 'scale: linear, gains are differences'
  if (deterministic)
    return 'scale: log for evidence.min_effect and progress; the effect of one change is a difference'
  return 'scale: log, gains are shares of the base'
}

function describeRepeatability({
  deterministic,
  reason,
  noise,
  tolerance,
}: Omit<Calibration, 'order'>): string {
  if (deterministic) return tolerance === undefined ? `yes, ${reason}` : reason
  const [why = reason, more] = reason.split('; ')
  if (noise?.pair_sd === 0) return 'not shown'
  return more === undefined ? 'no' : `no, ${why}`
}

function renderNoise({ scale, noise }: Parameters<typeof formatNoise>[0]): string[] {
  const { between_job_sd: between, pairs } = noise
  const jobs = between === null ? '' : `, jobs by ${formatSize(between, scale)}`
  return [
    `noise: ${formatNoise({ scale, noise })}${jobs}`,
    `fair: two copies of the base did not differ in ${formatCount(pairs, 'pair')}`,
  ]
}

function renderProspects(prospects: Prospects, calibration: Pick<Calibration, 'scale' | 'noise'>): string[] {
  const { null_idea, good_idea, chance_to_keep, campaign } = prospects
  const gain = (effect: number) => formatSize(effect, calibration.scale)
  const [least, most] = campaign.minutes.toSorted((a, b) => a - b)
  const held = prospects.each_keep.executions > prospects.headline.executions / EFFECT_JOBS
  const [fewest, highest] = campaign.executions.toSorted((a, b) => a - b)
  return [
    `an idea without effect: ${describeProspectCost(null_idea)}`,
    `an idea that gains ${gain(2 * prospects.min_effect)}: ${describeProspectCost(good_idea)}`,
    ...(prospects.keep_check.executions === 0
      ? []
      : [
          `before it is kept: ${describeProspectExecutions(prospects.keep_check)} more, to exclude slow runs and the luck of a job`,
        ]),
    `a kept idea: ${describeProspectExecutions(prospects.each_keep)} more, for its reported effect${held ? ' and the holdout' : ''}`,
    `total improvement: ${describeProspectExecutions(prospects.headline)}, once, before the campaign stops`,
    `time: ${formatRounded(least ?? 0, 2)} to ${formatMinutes(most ?? 0)} and ${Math.round(fewest ?? 0)} to ${Math.round(highest ?? 0)} executions for ${formatCount(campaign.ideas, 'idea')}, with set-up, gates and total improvement; less where ideas share a base`,
    'chance to keep, by true gain:',
    ...formatTable([
      ['  true gain', ...chance_to_keep.map(({ effect }) => gain(effect))],
      ['  kept', ...chance_to_keep.map(({ chance }) => `${Math.round(chance * 100)} %`)],
    ]),
    `smallest visible gain: ${describeVisibleGain(prospects, gain)}`,
    ...prospects.ways_out.map(way => `to see more: ${describeWayOut(way, calibration)}`),
  ]
}

function describeProspectCost({ pairs, jobs, executions, minutes: took }: Prospects['null_idea']): string {
  const one = (value: number) => value.toFixed(1)
  return `${one(pairs)} pairs in ${one(jobs)} jobs, ${Math.round(executions)} executions, ${formatMinutes(took)}`
}

function describeProspectExecutions({ executions, minutes: took }: Prospects['headline']): string {
  return `${Math.round(executions)} executions, ${formatMinutes(took)}`
}

export function formatMinutes(minutes: number): string {
  return `${formatRounded(minutes, 2)} min`
}

function describeVisibleGain(
  { smallest_visible_gain: visible, min_effect, sees_min_effect }: Prospects,
  gain: (effect: number) => string,
): string {
  const wanted = `evidence.min_effect is ${gain(min_effect)}`
  if (visible === null) return `none, however much an idea gains; ${wanted}`
  const seen = `${gain(visible)} is kept with a chance of 80 %; ${wanted}`
  return sees_min_effect ? seen : `${seen}, and winnow usually misses an idea with exactly that gain`
}

/** Suggests a way to see smaller gains, or says that it would not help. */
function describeWayOut(way: WayOut, { scale, noise }: Pick<Calibration, 'scale' | 'noise'>): string {
  switch (way.way) {
    case 'more-jobs':
      return way.max_jobs === null
        ? 'more jobs alone do not help, not even evidence.max_jobs: 32'
        : `more jobs: evidence.max_jobs: ${way.max_jobs}`
    case 'better-metric':
      return way.times === null
        ? 'no metric would help that moves less than 64 times as far'
        : `a better metric: one that the same idea moves ${way.times.toFixed(1)} times as far, with this noise`
    case 'quieter-machine':
      return way.pair_sd === null
        ? 'a quieter machine does not help: it is not noise that hides the gain'
        : `a quieter machine: pairs that differ by ${formatSize(way.pair_sd, scale)} instead of ${formatSize(noise?.pair_sd ?? 0, scale)}`
    default:
      return way satisfies never
  }
}

// Judging

/** What is known about judging before the first request to a model. */
export interface JudgingForecast {
  model: string
  /** True if WINNOW_MODEL_URL is set. */
  asked: boolean
  /** Printed items, scored for each side in one job. */
  items: number
  wanted: number
  /** Median of one job. */
  cost: { requests: number; tokens: number; usd: number | null }
  /** One sample of one side. */
  sample: JudgingForecast['cost']
  capUsd: number | null
  /** The cap over all models of the campaign. */
  totalCapUsd: number | null
  /** Null under ce's rule, which shows no gain apart from chance. */
  reach: JudgingReach | null
  primary: string
  /** Null without epochs. */
  epochs: EpochsForecast | null
}

interface EpochsForecast {
  /** Which passes they are. */
  what: string
  passes: JudgingForecast['cost']
  /** With what is measured before the first idea: items that both sides print alike are scored once. */
  withoutIdea: { alike: JudgingForecast['cost']; differing: JudgingForecast['cost'] }
  /** What text gradients ask. */
  gradients: string[]
}

interface JudgingReach {
  /** Fewer items cannot prove a gain. */
  leastItems: number
  /** Assumed spread of the scores of one item. Calibration measures the real one. */
  assumedSpread: number
  visibleGain: number | null
  /** Jobs for an idea that gains twice minimum_improvement. */
  goodIdeaJobs: number
}

export function addCosts(a: JudgingForecast['cost'], b: JudgingForecast['cost']): JudgingForecast['cost'] {
  const usd = a.usd === null || b.usd === null ? null : a.usd + b.usd
  return { requests: a.requests + b.requests, tokens: a.tokens + b.tokens, usd }
}

export function computeRepeatedCost({ requests, tokens, usd }: JudgingForecast['cost'], times: number) {
  return { requests: times * requests, tokens: times * tokens, usd: usd === null ? null : times * usd }
}

/** At most: of the attacks that rules stop, nothing is scored. */
export function computeProbeCost({ sample }: Pick<JudgingForecast, 'sample'>, attacks: number) {
  return computeRepeatedCost(sample, attacks === 0 ? 0 : attacks + 1)
}

function renderAttackForecast(judging: JudgingForecast, attacks: number): string[] {
  if (attacks === 0) return []
  const cost = formatJudgingCost(computeProbeCost(judging, attacks))
  return [`attacks on the harness: ${formatCount(attacks, 'change')} and the base, at most ${cost}`]
}

function renderJudgingForecast(judging: JudgingForecast, attacks: number): string[] {
  const { model, asked, items, wanted, cost, reach } = judging
  const where = asked ? [] : ['warning: WINNOW_MODEL_URL is not set, so winnow run cannot call a model']
  const sides = reach === null ? '' : ' of each side'
  const judged = `judged: ${wanted} of ${formatCount(items, 'item')}${sides} by ${model} in one job, ${formatJudgingCost(cost)}`
  const more = [...renderAttackForecast(judging, attacks), ...renderEpochsForecast(judging, attacks)]
  if (reach === null) {
    const rule = `compared: means of samples, by ce's rule; ${NOT_NOISE_PROOF}`
    return [judged, ...more, describeCostCap(judging), rule, ...where]
  }
  const { leastItems, goodIdeaJobs } = reach
  return [
    judged,
    `an idea worth keeping: about ${formatCount(Math.round(goodIdeaJobs * 10) / 10, 'job')}, and one more for its reported effect; the campaign: two before, eight after`,
    ...more,
    describeCostCap(judging),
    `shown by: ${formatCount(leastItems, 'item')} at least; ${describeVisibleScoreGain(reach, judging.primary)}`,
    ...where,
  ]
}

function renderEpochsForecast(judging: JudgingForecast, attacks: number): string[] {
  const { epochs } = judging
  if (epochs === null) return []
  const { what, passes, withoutIdea, gradients } = epochs
  const probes = computeProbeCost(judging, attacks)
  const alike = addCosts(withoutIdea.alike, probes)
  const differing = addCosts(withoutIdea.differing, probes)
  const other =
    alike.requests === differing.requests
      ? ''
      : ` where the base prints the same items each time; else ${formatJudgingCost(differing)}`
  return [
    `${what}: ${formatJudgingCost(passes)}`,
    `all of that without an idea: ${formatJudgingCost(alike)}${other}`,
    ...gradients,
  ]
}

function formatJudgingCost({ requests, usd, tokens }: JudgingForecast['cost']): string {
  const many = `${formatCount(requests, 'request')}, about ${formatNumber(tokens)} tokens`
  return usd === null ? many : `${many} or ${formatDollars(usd)}`
}

function describeCostCap({ capUsd, totalCapUsd, cost: { usd } }: JudgingForecast): string {
  const caps = [
    { cap: totalCapUsd, key: 'stopping.max_total_cost_usd' },
    { cap: capUsd, key: 'metric.judge.max_total_cost_usd' },
  ].flatMap(({ cap, key }) => (cap === null ? [] : [{ cap, key }]))
  const [least] = caps.toSorted((a, b) => a.cap - b.cap)
  if (least === undefined) return 'budget: none, which winnow run --allow-uncapped has to allow'
  const jobs = usd === null || usd === 0 ? '' : `, about ${formatCount(Math.floor(least.cap / usd), 'job')}`
  return `budget: ${formatDollars(least.cap)} in all${jobs} (${least.key})`
}

function describeVisibleScoreGain({ visibleGain, assumedSpread }: JudgingReach, primary: string): string {
  const condition = `where scores of one item vary by ${formatRounded(assumedSpread, 2)}`
  if (visibleGain === null) return `no gain is seen ${condition}`
  return `gains of ${formatRounded(visibleGain, 2)} ${primary} are seen ${condition}`
}

/** What the models of a harness cost a command that measures outside a campaign. */
export interface ModelSpending extends JudgingUsage {
  /** Null: a person allowed it without a cap. */
  cap_usd: number | null
  cap_key: string
}

export function renderModelSpending({ requests, tokens, usd, cap_usd, cap_key }: ModelSpending): string {
  const most = cap_usd === null ? 'without a cap' : `of at most ${formatNumber(cap_usd)} USD`
  return `models of the harness: ${formatCount(requests, 'request')}, ${formatNumber(tokens)} tokens, ${formatDollars(usd)} ${most} (${cap_key}); no campaign counts this`
}

export function formatDollars(usd: number): string {
  return `${formatRounded(usd, 2)} USD`
}

// Shared resources

/** Linux assigns ports from here on dynamically, so they cause no conflicts. */
const FIRST_DYNAMIC_PORT = 32_768

/** Go's build cache is content-addressed, so both sides would write the same file. */
const CONTENT_ADDRESSED_FILE = /\/go-build\/(?:[0-9a-f]{2}\/[0-9a-f]{64}-[ad]|trim\.txt)$/

/** Names what parallel executions would share, and the spec keys that separate them. */
export function describeResourceConflicts({ ports, files, devices }: HeldResources, spec: Spec): string[] {
  const { execution, parallel } = spec
  if (execution.mode === 'serial' || parallel.exclusive_resources.length > 0) return []
  const own = files.filter(file => !CONTENT_ADDRESSED_FILE.test(file))
  const fixed = ports.filter(port => port < FIRST_DYNAMIC_PORT)
  const found: string[] = []
  if (fixed.length > 0 && parallel.port_strategy !== 'parameterized')
    found.push(
      `it listened on ${formatCount(fixed.length, 'port')} (${joinFirst(fixed.map(String), 3)}): where several run at once, read it from a variable (parallel.port_strategy: parameterized, parallel.port_env_var, parallel.port_base), or set execution.mode: serial`,
    )
  if (devices.length > 0)
    found.push(
      `it used ${joinFirst(devices, 3)}: parallel.exclusive_resources: [accelerator] keeps executions one at a time`,
    )
  if (own.length > 0) found.push(describeSharedFiles(own))
  return found
}

function describeSharedFiles(files: readonly string[]): string {
  const locks = files.some(file => /\.(?:lock|lck|pid|sqlite3?|db)(?:-journal|-wal)?$/.test(file))
  const what = locks ? 'such files are shared by all executions' : 'the other side finds those files'
  return `it wrote outside its own copy (${joinFirst(files, 3)}): ${what}; use $TMPDIR or $WINNOW_OUT_DIR, or set execution.mode: serial`
}
