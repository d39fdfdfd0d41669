import type { Pair } from '../model/pairs.ts'
import { firstOf, type Judging } from './batch.ts'
import { judgedKey, type ScoreRecord, standingRecords } from './record.ts'
import { byDraw, isSame, type ItemPair } from './sample.ts'

/** One pair of an item: what both sides scored, and which the first judge met first. */
export type JudgedPair = Pair & { item: string }

interface Case {
  pairs: readonly ItemPair[]
  judging: Judging
  records: readonly ScoreRecord[]
}

/**
 * The raw material of evidence, in an order that was drawn as well. A side that one of its judges gave no score has
 * none: a base without a score voids its pair, a candidate without one has lost it (invariant 5).
 */
export function itemPairs({ pairs, judging, records }: Case): JudgedPair[] {
  const standing = standingRecords(records)
  const judges = Array.from({ length: judging.judges }, (_, judge) => judge)
  const scored = (pair: ItemPair, side: 'base' | 'candidate') =>
    meanScores(
      judges.map(judge => {
        const shown = isSame(pair) ? firstOf(judging, judge, pair.id) : side
        return standing.get(judgedKey({ judge, item: pair.id, side: shown }))?.scores ?? null
      }),
    )
  return byDraw(pairs, ({ id }) => id, `${judging.coins}:pairs`).map(pair => ({
    item: pair.id,
    first: firstOf(judging, 0, pair.id),
    base: scored(pair, 'base'),
    candidate: scored(pair, 'candidate'),
  }))
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
