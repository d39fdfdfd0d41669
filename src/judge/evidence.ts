import { endJob, observePair } from '../decide/evidence/observe.ts'
import { type EvidenceOptions, type EvidenceState, startEvidence } from '../decide/evidence/state.ts'
import type { ScoreRecord } from '../model/event-schemas.ts'
import type { Pair } from '../model/pairs.ts'
import { isSame, type ItemPair, type JudgingPlan, orderSides, type PairSide } from './batch.ts'
import type { JudgeSettings } from './rubric.ts'

export interface JudgedTerms {
  judge: Pick<JudgeSettings, 'minimum_improvement' | 'confirmation_seed'>
  direction: 'minimize' | 'maximize'
  /** Evidence of 1/level keeps the candidate. */
  level: number
  /** The largest number of items in one sample. */
  sampleSize: number
}

export interface JudgedSample {
  seed: number
  pairs: readonly JudgedPair[]
}

/**
 * Reads absolute differences of scores against `minimum_improvement`. With a confirmation_seed, the first
 * sample screens and the second proves. Items take the place of runs of a program, and a second sample takes
 * the place of a second machine.
 */
export function buildJudgedOptions({ judge, direction, level, sampleSize }: JudgedTerms): EvidenceOptions {
  const confirms = judge.confirmation_seed !== null
  return {
    direction,
    scale: 'linear',
    graded: true,
    // The rule needs a positive effect: a gain of 0 cannot be shown.
    minEffect: judge.minimum_improvement || Number.MIN_VALUE,
    ...(judge.minimum_improvement === 0 ? { nullEffect: 0 } : {}),
    alpha: level,
    pairsPerJob: sampleSize,
    maxJobs: confirms ? 2 : 1,
    freshRunners: confirms ? 1 : 0,
  }
}

/** The evidence of all samples in judging order, by the rule that also reads pairs of runs. */
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

/** The scores of both sides of an item, and the side that the first judge saw first. */
export type JudgedPair = Pair & { item: string }

interface ScoringCase {
  pairs: readonly ItemPair[]
  judging: JudgingPlan
  records: readonly ScoreRecord[]
}

/**
 * The input of the evidence, in the order of the sample. A side has no score unless every judge gave one: a
 * base without a score voids its pair, a candidate without a score loses it (invariant 5).
 */
export function buildJudgedPairs(scoring: ScoringCase): JudgedPair[] {
  const counted = selectCountedRecords(scoring.records)
  return scoring.pairs.map(({ id }, block) => ({
    item: id,
    first: orderSides(scoring.judging, 0, block)[0],
    base: computeMeanScores(collectScores(scoring, counted, { block, side: 'base' })),
    candidate: computeMeanScores(collectScores(scoring, counted, { block, side: 'candidate' })),
  }))
}

export function collectScores(
  { pairs, judging }: Pick<ScoringCase, 'pairs' | 'judging'>,
  counted: CountedRecords,
  { block, side }: { block: number; side: PairSide },
): ScoreRecord['scores'][] {
  const pair = pairs[block]
  if (pair === undefined) return []
  return Array.from({ length: judging.judges }, (_, judge) => {
    const shown = isSame(pair) ? orderSides(judging, judge, block)[0] : side
    return counted.get(getJudgedKey({ judge, item: pair[shown].id, side: shown }))?.scores ?? null
  })
}

/**
 * Null unless every judge gave a score. A mean over the judges that answered could be steered by silencing
 * the others.
 */
export function computeMeanScores(all: readonly ScoreRecord['scores'][]): Pair['base'] {
  const given = all.filter(scores => scores !== null)
  const [first] = given
  if (first === undefined || given.length < all.length) return null
  return Object.fromEntries(
    Object.keys(first).map(field => {
      const values = given.flatMap(scores => scores[field] ?? [])
      const sum = values.reduce((total, value) => total + value, 0)
      return [field, values.length < given.length ? null : sum / values.length]
    }),
  )
}

export function getJudgedKey({ judge, item, side }: Pick<ScoreRecord, 'judge' | 'item' | 'side'>): string {
  return JSON.stringify([judge, side, item])
}

/** By `getJudgedKey`. */
export type CountedRecords = ReadonlyMap<string, ScoreRecord>

/**
 * The first record with a score counts, so a score is never rolled again. Without a score, the newest record
 * counts.
 */
export function selectCountedRecords(records: readonly ScoreRecord[]): CountedRecords {
  const counted = new Map<string, ScoreRecord>()
  for (const record of records) {
    const before = counted.get(getJudgedKey(record))
    if (before === undefined || (before.scores === null && before.time < record.time))
      counted.set(getJudgedKey(record), record)
  }
  return counted
}
