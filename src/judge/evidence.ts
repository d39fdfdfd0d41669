import { endJob, observePair } from '../decide/evidence/observe.ts'
import { type EvidenceOptions, type EvidenceState, startEvidence } from '../decide/evidence/state.ts'
import type { ScoreRecord } from '../model/event-schemas.ts'
import type { Pair } from '../model/pairs.ts'
import { isSame, type ItemPair, type JudgingPlan, orderSides, type PairSide } from './batch.ts'
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

/** One pair of an item: what both sides scored, and which the first judge met first. */
export type JudgedPair = Pair & { item: string }

interface ScoringCase {
  pairs: readonly ItemPair[]
  judging: JudgingPlan
  records: readonly ScoreRecord[]
}

/**
 * The raw material of evidence, in the order of the sample. A side that one of its judges gave no score has
 * none: a base without a score voids its pair, a candidate without one has lost it (invariant 5).
 */
export function buildJudgedPairs(about: ScoringCase): JudgedPair[] {
  return about.pairs.map(({ id }, block) => ({
    item: id,
    first: orderSides(about.judging, 0, block)[0],
    base: computeMeanScores(collectScores(about, block, 'base')),
    candidate: computeMeanScores(collectScores(about, block, 'candidate')),
  }))
}

/** What each judge gave one side of the item that is this block. */
export function collectScores(
  { pairs, judging, records }: ScoringCase,
  block: number,
  side: PairSide,
): ScoreRecord['scores'][] {
  const pair = pairs[block]
  if (pair === undefined) return []
  const standing = selectCountedRecords(records)
  return Array.from({ length: judging.judges }, (_, judge) => {
    const shown = isSame(pair) ? orderSides(judging, judge, block)[0] : side
    return standing.get(getJudgedKey({ judge, item: pair.id, side: shown }))?.scores ?? null
  })
}

/** Of all judges or of none: a mean over those who answered would be a mean over those who could be made to. */
export function computeMeanScores(all: readonly ScoreRecord['scores'][]): Pair['base'] {
  const given = all.filter(scores => scores !== null)
  const [first] = given
  if (first === undefined || given.length < all.length) return null
  return Object.fromEntries(
    Object.keys(first).map(field => [field, computeItemMean(given.map(scores => scores[field] ?? null))]),
  )
}

function computeItemMean(values: readonly (number | null)[]): number | null {
  let sum = 0
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum / values.length
}

type ScoredItemKey = Pick<ScoreRecord, 'judge' | 'item' | 'side'>

export function getJudgedKey({ judge, item, side }: ScoredItemKey): string {
  return JSON.stringify([judge, side, item])
}

/** The newest of each; the first that has a score counts, so that none is ever rolled a second time. */
export function selectCountedRecords(records: readonly ScoreRecord[]): Map<string, ScoreRecord> {
  const standing = new Map<string, ScoreRecord>()
  for (const record of records) {
    const before = standing.get(getJudgedKey(record))
    if (before === undefined || (before.scores === null && before.time < record.time))
      standing.set(getJudgedKey(record), record)
  }
  return standing
}
