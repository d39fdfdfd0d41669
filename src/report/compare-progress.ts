import { sizeText } from '../decide/noise-text.ts'
import { evidenceSentence } from '../decide/paired/evidence-sentence.ts'
import type { PairedCase } from '../decide/paired/rule.ts'
import { standingOf } from '../decide/paired/standing.ts'
import { plural } from '../decide/wording.ts'
import { CALIBRATION_JOBS } from '../decide/calibrate-noise.ts'
import { pairsPerJob } from '../spec/resolve-evidence.ts'
import type { Spec } from '../spec/schema.ts'
import type { Trial } from './check-trial.ts'
import { durationText } from './duration.ts'

interface Names {
  base: { name: string }
  head: { name: string }
}

type Known = Pick<Trial, 'seconds' | 'calibration' | 'prospects'>

/** What calibration found, and what the comparison will take; nothing where it is over in a moment. */
export function compareForecast(trial: Known, { base, head }: Names): string[] {
  const { calibration, prospects } = trial
  if (calibration?.deterministic)
    return [`${base.name} repeats exactly: one execution of each is enough, and a second of a gain`]
  if (prospects === null) return []
  const [least, most] = [prospects.null_idea.minutes, prospects.good_idea.minutes]
    .map(minutes => minutes * 60)
    .toSorted((a, b) => a - b)
  const range = `${durationText(least ?? 0)} to ${durationText(most ?? 0)}`
  return [
    `fair: ${base.name} was not told apart from itself; ${visibleText(trial, prospects)}`,
    `now ${base.name} against ${head.name}: mostly ${range}, at most ${durationText(compareSeconds(trial))}`,
  ]
}

function visibleText(
  { calibration }: Known,
  { smallest_visible_gain: visible }: NonNullable<Known['prospects']>,
): string {
  if (visible === null) return 'the noise hides every gain'
  return `a gain of ${sizeText(visible, calibration?.scale ?? 'log')} would be seen with a chance of 80 %`
}

/** All jobs, each used to its end. */
export function compareSeconds({ seconds, calibration, prospects }: Known): number {
  const noise = calibration?.noise ?? null
  if (prospects === null || noise === null) return 4 * seconds
  const { pairs_per_job: pairs, max_jobs: jobs } = prospects
  return jobs * (2 * pairs * noise.execution_seconds + noise.overhead_seconds)
}

/** The same from one execution alone, before anything is known of the noise. */
export function earlySeconds({ evidence }: Spec, execution: number): number {
  const calibration = CALIBRATION_JOBS * 2 * (pairsPerJob(evidence, 0) + 1)
  return execution * (calibration + evidence.max_jobs * 2 * (pairsPerJob(evidence, execution) + 1))
}

/** One line where a job begins: what the jobs before it say. */
export function soFarLine(paired: PairedCase | null, spec: Spec, job: number): string {
  const place = `job ${job} of at most ${spec.evidence.max_jobs}`
  if (paired === null || paired.jobs.length === 0) return `${place}: begins`
  return `${place}: ${evidenceSentence(paired, standingOf(paired))}`
}

interface KnownNow {
  trial: Known | null
  paired: PairedCase | null
  executions: { calibration: number; comparison: number }
}

/** For the line at the bottom of a terminal. */
export function compareLive(
  { trial, paired, executions }: KnownNow,
  { base, head }: Names,
  elapsed: number,
): string {
  const time = durationText(elapsed)
  if (trial === null) return `${base.name} against itself: ${executions.calibration} executions, ${time}`
  const pairs = paired?.jobs.flatMap(job => job.pairs).length ?? 0
  const place = `${head.name} against ${base.name}: ${plural(pairs, 'pair')}, ${time} of at most ${durationText(compareSeconds(trial))}`
  return paired === null || pairs === 0 ? place : `${place}; ${evidenceSentence(paired, standingOf(paired))}`
}
