import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drawFreshSample, drawSample } from '../../src/judge/batch.ts'
import { items } from './some-items.ts'

const UNIFORM = { sampleSize: 4, stratification: null, seed: 42 }
const ids = (pairs: readonly { id: string }[]) => pairs.map(({ id }) => id)

describe('a sample', () => {
  it('has the requested number of items, each from both sides', () => {
    const { pairs, onlyBase, onlyCandidate } = drawSample(
      items(20),
      items(20, id => `new ${id}`),
      UNIFORM,
    )
    expect(new Set(ids(pairs)).size).toBe(4)
    for (const { id, base, candidate } of pairs)
      expect([base.content, candidate.content]).toEqual([`text of ${id}`, `new ${id}`])
    expect([onlyBase, onlyCandidate]).toEqual([[], []])
  })

  it('is drawn by its seed, independent of the printed order', () => {
    const shuffled = fc.shuffledSubarray(items(12), { minLength: 12 })
    const expected = ids(drawSample(items(12), items(12), UNIFORM).pairs)
    fc.assert(
      fc.property(shuffled, shuffled, (base, candidate) => {
        expect(ids(drawSample(base, candidate, UNIFORM).pairs)).toEqual(expected)
      }),
    )
    const others = [1, 2, 3, 4].map(seed =>
      ids(drawSample(items(12), items(12), { ...UNIFORM, seed }).pairs).join(),
    )
    expect(new Set([expected.join(), ...others]).size).toBeGreaterThan(3)
  })

  it('selects every item equally often', () => {
    const taken = new Map<string, number>()
    for (let seed = 0; seed < 500; seed++)
      for (const { id } of drawSample(items(10), items(10), { ...UNIFORM, seed }).pairs)
        taken.set(id, (taken.get(id) ?? 0) + 1)
    expect(taken.size).toBe(10)
    for (const count of taken.values()) expect(Math.abs(count - 200)).toBeLessThan(60)
  })

  it('leaves out and lists items that only one side printed', () => {
    const { pairs, onlyBase, onlyCandidate } = drawSample(items(5), items(7).slice(2), {
      ...UNIFORM,
      sampleSize: 10,
    })
    expect(ids(pairs).toSorted()).toEqual(['q2', 'q3', 'q4'])
    expect([onlyBase, onlyCandidate]).toEqual([
      ['q0', 'q1'],
      ['q5', 'q6'],
    ])
  })
})

describe('samples of one comparison', () => {
  const how = { sampleSize: 5, stratification: null }
  const drawn = (...seeds: [number, ...number[]]) =>
    ids(drawFreshSample(items(12), items(12), { ...how, seeds }).pairs)

  it('share no item, until none is left', () => {
    const all = [drawn(1), drawn(1, 2), drawn(1, 2, 2), drawn(1, 2, 2, 2)]
    expect(all.map(each => each.length)).toEqual([5, 5, 2, 0])
    expect(new Set(all.flat()).size).toBe(12)
  })

  it('begin with the sample of the first seed', () => {
    const alone = drawSample(items(12), items(12), { ...how, seed: 1 })
    expect(drawn(1)).toEqual(ids(alone.pairs))
    expect(drawn(1, 2)).not.toEqual(drawn(1, 3))
  })
})

describe('a stratified sample', () => {
  const stratification = [
    { bucket: 'long', count: 2 },
    { bucket: 'short', count: 3 },
  ]

  it('has the requested number of each bucket, and fills up from all', () => {
    const { pairs, short } = drawSample(items(30), items(30), { sampleSize: 9, stratification, seed: 3 })
    const first = pairs.slice(0, 5).map(({ base }) => base.bucket)
    expect(first).toEqual(['long', 'long', 'short', 'short', 'short'])
    expect(new Set(ids(pairs)).size).toBe(9)
    expect(short).toEqual([])
  })

  it('reports a bucket with too few items and does not replace them', () => {
    const { pairs, short } = drawSample(items(4), items(4), { sampleSize: 5, stratification, seed: 3 })
    expect(short).toEqual([{ bucket: 'short', wanted: 3, found: 2 }])
    expect(pairs).toHaveLength(4)
  })

  it('uses the buckets of the base, so that a candidate cannot choose', () => {
    const moved = items(30).map(item => ({ ...item, bucket: 'long' }))
    const sampling = { sampleSize: 5, stratification, seed: 3 }
    expect(ids(drawSample(items(30), moved, sampling).pairs)).toEqual(
      ids(drawSample(items(30), items(30), sampling).pairs),
    )
  })
})
