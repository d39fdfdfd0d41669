import { endJob } from '../decide/evidence/job.ts'
import { observePair } from '../decide/evidence/observe-pair.ts'
import { type EvidenceOptions, startEvidence } from '../decide/evidence/start-evidence.ts'
import type { EvidenceState } from '../decide/evidence/state.ts'
import type { JudgedPair } from './item-pairs.ts'
import type { JudgeSettings } from './rubric.ts'

export interface JudgedTerms {
  judge: Pick<JudgeSettings, 'minimum_improvement' | 'confirmation_seed'>
  direction: 'minimize' | 'maximize'
  /** Evidence of 1/level keeps it. */
  level: number
  /** Items of one sample, as many as there may be. */
  sampleSize: number
}

/** One sample: the items that one seed drew, as they were scored. */
export interface JudgedSample {
  seed: number
  pairs: readonly JudgedPair[]
}

/**
 * How judged items are read: differences of scores as they are, an improvement of `minimum_improvement`, and where
 * there is a confirmation_seed a screen by the first sample and a proof by another. Items take the place of runs of a
 * program, and another sample that of another machine.
 */
export function buildJudgedOptions({ judge, direction, level, sampleSize }: JudgedTerms): EvidenceOptions {
  const confirms = judge.confirmation_seed !== null
  return {
    direction,
    scale: 'linear',
    graded: true,
    // Nothing can be shown of a gain of 0.
    minEffect: judge.minimum_improvement || Number.MIN_VALUE,
    ...(judge.minimum_improvement === 0 ? { nullEffect: 0 } : {}),
    alpha: level,
    pairsPerJob: sampleSize,
    maxJobs: confirms ? 2 : 1,
    freshRunners: confirms ? 1 : 0,
  }
}

/** The evidence of all samples in the order in which they were judged, by the rule that reads pairs of runs. */
export function computeJudgedEvidence(
  terms: JudgedTerms,
  primary: string,
  samples: readonly JudgedSample[],
): EvidenceState {
  let state = startEvidence(buildJudgedOptions(terms))
  for (const { seed, pairs } of samples) {
    const job = `sample ${seed}`
    for (const { first, base, candidate } of pairs) {
      state = observePair(state, {
        base: base?.[primary] ?? null,
        candidate: candidate?.[primary] ?? null,
        job,
        order: first === 'base' ? 'base-first' : 'candidate-first',
      })
    }
    if (state.jobs.at(-1)?.id === job) state = endJob(state, job)
  }
  return state
}
