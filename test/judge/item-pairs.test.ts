import { describe, expect, it } from 'vitest'
import { drawSample, type ItemPair, orderSides } from '../../src/judge/batch.ts'
import { buildJudgedPairs, computeMeanScores, selectCountedRecords } from '../../src/judge/evidence.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { items, judging, pairsOf } from './some-items.ts'

function record(
  item: string,
  side: ScoreRecord['side'],
  quality: number | null,
  more: Partial<ScoreRecord> = {},
) {
  const scores = quality === null ? null : { quality, length: null }
  return { judge: 0, item, side, time: 1, scores, ...more } satisfies ScoreRecord
}

const of = (all: ReturnType<typeof buildJudgedPairs>, id: string) => all.find(({ item }) => item === id)

describe('pairs of items', () => {
  const pairs = pairsOf(3)
  const records = [
    record('q0', 'base', 2),
    record('q0', 'candidate', 4),
    record('q1', 'base', 3),
    record('q1', 'candidate', null, { time: 1 }),
    record('q1', 'candidate', null, { time: 2 }),
    record('q2', 'candidate', 5),
  ]
  const judged = buildJudgedPairs({ pairs, judging: judging(), records })

  it('have the scores of both sides and the side that was judged first', () => {
    expect(of(judged, 'q0')).toEqual({
      item: 'q0',
      first: orderSides(
        judging(),
        0,
        pairs.findIndex(({ id }) => id === 'q0'),
      )[0],
      base: { quality: 2, length: null },
      candidate: { quality: 4, length: null },
    })
  })

  it('have no score if none could be read or none was given', () => {
    expect(of(judged, 'q1')).toMatchObject({ base: { quality: 3 }, candidate: null })
    expect(of(judged, 'q2')).toMatchObject({ base: null, candidate: { quality: 5 } })
  })

  it('come in the order of the sample', () => {
    const nine = pairsOf(9)
    const come = buildJudgedPairs({ pairs: nine, judging: judging(), records: [] }).map(({ item }) => item)
    expect(come).toEqual(nine.map(({ id }) => id))
  })

  it('share one score if both sides printed the same', () => {
    const same = drawSample(items(1), items(1), { sampleSize: 1, stratification: null, seed: 1 }).pairs
    const [side] = orderSides(judging(), 0, 0)
    const [pair] = buildJudgedPairs({ pairs: same, judging: judging(), records: [record('q0', side, 4)] })
    expect(pair).toMatchObject({ base: { quality: 4 }, candidate: { quality: 4 } })
  })
})

describe('several judges', () => {
  const pairs: ItemPair[] = pairsOf(1)
  const two = judging({ judges: 2 })
  const both = (...scores: (number | null)[]) =>
    buildJudgedPairs({
      pairs,
      judging: two,
      records: scores.map((score, judge) => record('q0', 'base', score, { judge })),
    })[0]?.base

  it('count by their mean', () => {
    expect(both(2, 5)).toEqual({ quality: 3.5, length: null })
  })

  it('count only if all gave a score', () => {
    expect([both(5), both(null, 5), both(5, null)]).toEqual([null, null, null])
    expect(computeMeanScores([])).toBeNull()
  })
})

describe('the records of one item', () => {
  it('the first score counts: no later record replaces it', () => {
    const records = [record('q0', 'base', 2), record('q0', 'base', 5, { time: 2 }), record('q0', 'base', 5)]
    expect([...selectCountedRecords(records).values()]).toEqual([records[0]])
  })

  it('the second answer counts only if the first has no score', () => {
    const second = record('q0', 'base', 3, { time: 2 })
    const records = [record('q0', 'base', null), record('q0', 'base', 5), second]
    expect([...selectCountedRecords(records).values()]).toEqual([second])
  })
})
