import { formatSize } from '../decide/noise-text.ts'
import { renderEvidenceSentence } from '../decide/paired/evidence-sentence.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { evaluatePairs } from '../decide/paired/standing.ts'
import { formatCount } from '../decide/wording.ts'
import { CALIBRATION_JOBS } from '../decide/calibrate-noise.ts'
import { resolvePairsPerJob } from '../spec/resolve-evidence.ts'
import type { Spec } from '../spec/schema.ts'
import type { HarnessTrial } from './check-trial.ts'
import { formatDuration } from './duration.ts'

interface ComparedNames {
  base: { name: string }
  head: { name: string }
}

type TrialEstimate = Pick<HarnessTrial, 'seconds' | 'calibration' | 'prospects'>

/** What calibration found, and what the comparison will take; nothing where it is over in a moment. */
export function renderComparisonForecast(trial: TrialEstimate, { base, head }: ComparedNames): string[] {
  const { calibration, prospects } = trial
  if (calibration?.deterministic)
    return [`${base.name} repeats exactly: one execution of each is enough, and a second of a gain`]
  if (prospects === null) return []
  const [least, most] = [prospects.null_idea.minutes, prospects.good_idea.minutes]
    .map(minutes => minutes * 60)
    .toSorted((a, b) => a - b)
  const range = `${formatDuration(least ?? 0)} to ${formatDuration(most ?? 0)}`
  return [
    `fair: ${base.name} was not told apart from itself; ${describeVisibleDifference(trial, prospects)}`,
    `now ${base.name} against ${head.name}: mostly ${range}, at most ${formatDuration(estimateComparisonSeconds(trial))}`,
  ]
}

function describeVisibleDifference(
  { calibration }: TrialEstimate,
  { smallest_visible_gain: visible }: NonNullable<TrialEstimate['prospects']>,
): string {
  if (visible === null) return 'the noise hides every gain'
  return `a gain of ${formatSize(visible, calibration?.scale ?? 'log')} would be seen with a chance of 80 %`
}

/** All jobs, each used to its end. */
export function estimateComparisonSeconds({ seconds, calibration, prospects }: TrialEstimate): number {
  const noise = calibration?.noise ?? null
  if (prospects === null || noise === null) return 4 * seconds
  const { pairs_per_job: pairs, max_jobs: jobs } = prospects
  return jobs * (2 * pairs * noise.execution_seconds + noise.overhead_seconds)
}

/** The same from one execution alone, before anything is known of the noise. */
export function estimateInitialSeconds({ evidence }: Spec, execution: number): number {
  const calibration = CALIBRATION_JOBS * 2 * (resolvePairsPerJob(evidence, 0) + 1)
  return execution * (calibration + evidence.max_jobs * 2 * (resolvePairsPerJob(evidence, execution) + 1))
}

/** One line where a job begins: what the jobs before it say. */
export function renderComparisonProgress(paired: PairedCase | null, spec: Spec, job: number): string {
  const place = `job ${job} of at most ${spec.evidence.max_jobs}`
  if (paired === null || paired.jobs.length === 0) return `${place}: begins`
  return `${place}: ${renderEvidenceSentence(paired, evaluatePairs(paired))}`
}

interface ComparisonState {
  trial: TrialEstimate | null
  paired: PairedCase | null
  executions: { calibration: number; comparison: number }
}

/** For the line at the bottom of a terminal. */
export function renderComparisonLiveLine(
  { trial, paired, executions }: ComparisonState,
  { base, head }: ComparedNames,
  elapsed: number,
): string {
  const time = formatDuration(elapsed)
  if (trial === null) return `${base.name} against itself: ${executions.calibration} executions, ${time}`
  const pairs = paired?.jobs.flatMap(job => job.pairs).length ?? 0
  const place = `${head.name} against ${base.name}: ${formatCount(pairs, 'pair')}, ${time} of at most ${formatDuration(estimateComparisonSeconds(trial))}`
  return paired === null || pairs === 0
    ? place
    : `${place}; ${renderEvidenceSentence(paired, evaluatePairs(paired))}`
}
