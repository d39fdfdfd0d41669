import type { Pair } from '../model/pairs.ts'
import { type Judging, type PairSide, sidesInTurn } from './batch.ts'
import { judgedKey, standingRecords } from './record.ts'
import { type ScoreRecord } from '../model/score-record.ts'
import { isSame, type ItemPair } from './sample.ts'

/** One pair of an item: what both sides scored, and which the first judge met first. */
export type JudgedPair = Pair & { item: string }

interface Case {
  pairs: readonly ItemPair[]
  judging: Judging
  records: readonly ScoreRecord[]
}

/**
 * The raw material of evidence, in the order of the sample. A side that one of its judges gave no score has
 * none: a base without a score voids its pair, a candidate without one has lost it (invariant 5).
 */
export function itemPairs(about: Case): JudgedPair[] {
  return about.pairs.map(({ id }, block) => ({
    item: id,
    first: sidesInTurn(about.judging, 0, block)[0],
    base: meanScores(scoresOf(about, block, 'base')),
    candidate: meanScores(scoresOf(about, block, 'candidate')),
  }))
}

/** What each judge gave one side of the item that is this block. */
export function scoresOf(
  { pairs, judging, records }: Case,
  block: number,
  side: PairSide,
): ScoreRecord['scores'][] {
  const pair = pairs[block]
  if (pair === undefined) return []
  const standing = standingRecords(records)
  return Array.from({ length: judging.judges }, (_, judge) => {
    const shown = isSame(pair) ? sidesInTurn(judging, judge, block)[0] : side
    return standing.get(judgedKey({ judge, item: pair.id, side: shown }))?.scores ?? null
  })
}

/** Of all judges or of none: a mean over those who answered would be a mean over those who could be made to. */
export function meanScores(all: readonly ScoreRecord['scores'][]): Pair['base'] {
  const given = all.filter(scores => scores !== null)
  const [first] = given
  if (first === undefined || given.length < all.length) return null
  return Object.fromEntries(
    Object.keys(first).map(field => [field, mean(given.map(scores => scores[field] ?? null))]),
  )
}

function mean(values: readonly (number | null)[]): number | null {
  let sum = 0
  for (const value of values) {
    if (value === null) return null
    sum += value
  }
  return sum / values.length
}
