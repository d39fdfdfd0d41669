import type { WayOut } from '../decide/evidence/planning.ts'
import { formatNoise, formatSize } from '../decide/noise-text.ts'
import { formatNumber, formatCount } from '../decide/wording.ts'
import type { Calibration } from '../model/campaign.ts'
import type { MetricValues } from '../model/report.ts'
import type { Prospects } from '../plan/prospects.ts'
import { type JudgingForecast, renderJudgingForecast } from './check-judging.ts'
import { renderMetrics } from './metrics-text.ts'
import { formatTable } from './table.ts'

/** What trying the harness on the default branch showed. */
export interface HarnessTrial {
  /** Of one execution. */
  seconds: number
  metrics: MetricValues
  gates: string[]
  /** null where the rules do not ask how noisy the harness is. */
  calibration: Omit<Calibration, 'order'> | null
  /** Where the primary is noisy. */
  prospects: Prospects | null
  /** Where a model scores what is printed. */
  judging?: JudgingForecast
  /** What works, and is still not as the spec says. */
  warnings: string[]
}

export function renderTrial(trial: HarnessTrial): string[] {
  return [...renderTrialResult(trial), ...trial.warnings.map(warning => `warning: ${warning}`)]
}

function renderTrialResult({
  seconds,
  metrics,
  gates,
  calibration,
  prospects,
  judging,
}: HarnessTrial): string[] {
  const passed = gates.length === 0 ? '' : `; passed ${gates.join(', ')}`
  const [printed, ...rows] = renderMetrics(metrics)
  const tried = [`tried: ${printed} in ${formatNumber(Number(seconds.toPrecision(3)))} s${passed}`, ...rows]
  if (judging !== undefined) return [...tried, ...renderJudgingForecast(judging)]
  if (calibration === null) return tried
  const lines = [
    ...tried,
    `repeats exactly: ${describeRepeatability(calibration)}`,
    describeScale(calibration),
  ]
  const noise = calibration.noise === null ? [] : renderNoise({ ...calibration, noise: calibration.noise })
  return [...lines, ...noise, ...(prospects === null ? [] : renderProspects(prospects, calibration))]
}

/** Warns of a metric that was drafted from its name alone; null where it varies, as a time does. */
export function describeGuessedMetric(
  { calibration }: Pick<HarnessTrial, 'calibration'>,
  metric: string,
): string | null {
  if (calibration?.deterministic !== true) return null
  return `${metric} repeats exactly in every build: if it is a checksum and not a cost, use wall_seconds as the metric`
}

/** Numbers that repeat exactly are compared in the metric's unit; only the least gain and progress may be shares. */
function describeScale({ scale, deterministic }: Pick<Calibration, 'scale' | 'deterministic'>): string {
  if (scale === 'linear') return 'scale: linear, gains are differences'
  if (deterministic)
    return 'scale: log for evidence.min_effect and progress; the effect of one change is a difference'
  return 'scale: log, gains are shares of the base'
}

function describeRepeatability({ deterministic, reason, noise }: Omit<Calibration, 'order'>): string {
  if (deterministic) return `yes, ${reason}`
  const [why = reason, more] = reason.split('; ')
  if (noise?.pair_sd === 0) return 'not shown'
  return more === undefined ? 'no' : `no, ${why}`
}

function renderNoise({ scale, noise }: Parameters<typeof formatNoise>[0]): string[] {
  const { between_job_sd: between, pairs } = noise
  const jobs = between === null ? '' : `, jobs by ${formatSize(between, scale)}`
  return [
    `noise: ${formatNoise({ scale, noise })}${jobs}`,
    `fair: two copies of the base were not told apart in ${formatCount(pairs, 'pair')}`,
  ]
}

function renderProspects(prospects: Prospects, calibration: Omit<Calibration, 'order'>): string[] {
  const { null_idea, good_idea, chance_to_keep, campaign } = prospects
  const gain = (effect: number) => formatSize(effect, calibration.scale)
  const [least, most] = campaign.minutes.toSorted((a, b) => a - b)
  const held = prospects.each_keep.executions > 2 * (prospects.pairs_per_job + 1)
  const [fewest, highest] = campaign.executions.toSorted((a, b) => a - b)
  return [
    `an idea without effect: ${describeProspectCost(null_idea)}`,
    `an idea that gains ${gain(2 * prospects.min_effect)}: ${describeProspectCost(good_idea)}`,
    `a keep: ${describeProspectExecutions(prospects.each_keep)} more, for its reported effect${held ? ' and the holdout' : ''}`,
    `headline: ${describeProspectExecutions(prospects.headline)}, once, before the campaign stops`,
    `time: ${formatMinuteCount(least ?? 0)} to ${formatMinuteCount(most ?? 0)} min and ${Math.round(fewest ?? 0)} to ${Math.round(highest ?? 0)} executions for ${formatCount(campaign.ideas, 'idea')}, with set-up, gates and headline; less where ideas share a base`,
    'chance to keep, by true gain:',
    ...formatTable([
      ['  true gain', ...chance_to_keep.map(({ effect }) => gain(effect))],
      ['  kept', ...chance_to_keep.map(({ chance }) => `${Math.round(chance * 100)} %`)],
    ]),
    `smallest visible gain: ${describeVisibleGain(prospects, gain)}`,
    ...prospects.ways_out.map(way => `way out: ${describeWayOut(way, calibration)}`),
  ]
}

function describeProspectCost({ pairs, jobs, executions, minutes: took }: Prospects['null_idea']): string {
  const one = (value: number) => value.toFixed(1)
  return `${one(pairs)} pairs in ${one(jobs)} jobs, ${Math.round(executions)} executions, ${formatMinuteCount(took)} min`
}

function describeProspectExecutions({ executions, minutes: took }: Prospects['headline']): string {
  return `${Math.round(executions)} executions, ${formatMinuteCount(took)} min`
}

function formatMinuteCount(count: number): string {
  return formatNumber(Number(count.toPrecision(2)))
}

function describeVisibleGain(
  { smallest_visible_gain: visible, min_effect, sees_min_effect }: Prospects,
  gain: (effect: number) => string,
): string {
  const wanted = `evidence.min_effect is ${gain(min_effect)}`
  if (visible === null) return `none, however much an idea gains; ${wanted}`
  const seen = `${gain(visible)} is kept with a chance of 80 %; ${wanted}`
  return sees_min_effect ? seen : `${seen}, and an idea that gains just that is mostly missed`
}

/** What it would take, or that it would not help. */
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
