import type { Pair } from '../model/pairs.ts'
import { type JudgingPlan, type PairSide, orderSides } from './batch.ts'
import { getJudgedKey, selectCountedRecords } from './record.ts'
import { type ScoreRecord } from '../model/score-record.ts'
import { isSame, type ItemPair } from './sample.ts'

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
