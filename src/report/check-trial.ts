import type { WayOut } from '../decide/evidence/planning.ts'
import { noiseText, sizeText } from '../decide/noise-text.ts'
import { numberText, plural } from '../decide/wording.ts'
import type { Calibration } from '../model/campaign.ts'
import type { MetricValues } from '../model/report.ts'
import type { Prospects } from '../plan/prospects.ts'
import { type JudgingForecast, judgingText } from './check-judging.ts'
import { metricsLines } from './metrics-text.ts'
import { table } from './table.ts'

/** What trying the harness on the default branch showed. */
export interface Trial {
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

export function trialText(trial: Trial): string[] {
  return [...foundText(trial), ...trial.warnings.map(warning => `warning: ${warning}`)]
}

function foundText({ seconds, metrics, gates, calibration, prospects, judging }: Trial): string[] {
  const passed = gates.length === 0 ? '' : `; passed ${gates.join(', ')}`
  const [printed, ...rows] = metricsLines(metrics)
  const tried = [`tried: ${printed} in ${numberText(Number(seconds.toPrecision(3)))} s${passed}`, ...rows]
  if (judging !== undefined) return [...tried, ...judgingText(judging)]
  if (calibration === null) return tried
  const lines = [...tried, `repeats exactly: ${repeatsText(calibration)}`, scaleText(calibration)]
  const noise = calibration.noise === null ? [] : noiseLines({ ...calibration, noise: calibration.noise })
  return [...lines, ...noise, ...(prospects === null ? [] : prospectLines(prospects, calibration))]
}

/** Warns of a metric that was drafted from its name alone; null where it varies, as a time does. */
export function guessText({ calibration }: Pick<Trial, 'calibration'>, metric: string): string | null {
  if (calibration?.deterministic !== true) return null
  return `${metric} repeats exactly in every build: if it is a checksum and not a cost, use wall_seconds as the metric`
}

/** Numbers that repeat exactly are compared in the metric's unit; only the least gain and progress may be shares. */
function scaleText({ scale, deterministic }: Pick<Calibration, 'scale' | 'deterministic'>): string {
  if (scale === 'linear') return 'scale: linear, gains are differences'
  if (deterministic)
    return 'scale: log for evidence.min_effect and progress; the effect of one change is a difference'
  return 'scale: log, gains are shares of the base'
}

function repeatsText({ deterministic, reason, noise }: Omit<Calibration, 'order'>): string {
  if (deterministic) return `yes, ${reason}`
  const [why = reason, more] = reason.split('; ')
  if (noise?.pair_sd === 0) return 'not shown'
  return more === undefined ? 'no' : `no, ${why}`
}

function noiseLines({ scale, noise }: Parameters<typeof noiseText>[0]): string[] {
  const { between_job_sd: between, pairs } = noise
  const jobs = between === null ? '' : `, jobs by ${sizeText(between, scale)}`
  return [
    `noise: ${noiseText({ scale, noise })}${jobs}`,
    `fair: two copies of the base were not told apart in ${plural(pairs, 'pair')}`,
  ]
}

function prospectLines(prospects: Prospects, calibration: Omit<Calibration, 'order'>): string[] {
  const { null_idea, good_idea, chance_to_keep, campaign } = prospects
  const gain = (effect: number) => sizeText(effect, calibration.scale)
  const [least, most] = campaign.minutes.toSorted((a, b) => a - b)
  const held = prospects.each_keep.executions > 2 * (prospects.pairs_per_job + 1)
  const [fewest, highest] = campaign.executions.toSorted((a, b) => a - b)
  return [
    `an idea without effect: ${costText(null_idea)}`,
    `an idea that gains ${gain(2 * prospects.min_effect)}: ${costText(good_idea)}`,
    `a keep: ${spentText(prospects.each_keep)} more, for its reported effect${held ? ' and the holdout' : ''}`,
    `headline: ${spentText(prospects.headline)}, once, before the campaign stops`,
    `time: ${minutes(least ?? 0)} to ${minutes(most ?? 0)} min and ${Math.round(fewest ?? 0)} to ${Math.round(highest ?? 0)} executions for ${plural(campaign.ideas, 'idea')}, with set-up, gates and headline; less where ideas share a base`,
    'chance to keep, by true gain:',
    ...table([
      ['  true gain', ...chance_to_keep.map(({ effect }) => gain(effect))],
      ['  kept', ...chance_to_keep.map(({ chance }) => `${Math.round(chance * 100)} %`)],
    ]),
    `smallest visible gain: ${visibleText(prospects, gain)}`,
    ...prospects.ways_out.map(way => `way out: ${wayText(way, calibration)}`),
  ]
}

function costText({ pairs, jobs, executions, minutes: took }: Prospects['null_idea']): string {
  const one = (value: number) => value.toFixed(1)
  return `${one(pairs)} pairs in ${one(jobs)} jobs, ${Math.round(executions)} executions, ${minutes(took)} min`
}

function spentText({ executions, minutes: took }: Prospects['headline']): string {
  return `${Math.round(executions)} executions, ${minutes(took)} min`
}

function minutes(count: number): string {
  return numberText(Number(count.toPrecision(2)))
}

function visibleText(
  { smallest_visible_gain: visible, min_effect, sees_min_effect }: Prospects,
  gain: (effect: number) => string,
): string {
  const wanted = `evidence.min_effect is ${gain(min_effect)}`
  if (visible === null) return `none, however much an idea gains; ${wanted}`
  const seen = `${gain(visible)} is kept with a chance of 80 %; ${wanted}`
  return sees_min_effect ? seen : `${seen}, and an idea that gains just that is mostly missed`
}

/** What it would take, or that it would not help. */
function wayText(way: WayOut, { scale, noise }: Pick<Calibration, 'scale' | 'noise'>): string {
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
        : `a quieter machine: pairs that differ by ${sizeText(way.pair_sd, scale)} instead of ${sizeText(noise?.pair_sd ?? 0, scale)}`
    default:
      return way satisfies never
  }
}
