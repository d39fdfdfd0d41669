import { describe, expect, it } from 'vitest'
import { computeJudgedEvidence } from '../../src/judge/evidence.ts'
import { estimateJudgingCost } from '../../src/judge/ask-judges.ts'
import { computeSampleReach } from '../../src/judge/rubric.ts'
import { computeEvidenceVerdict } from '../../src/decide/evidence/rules.ts'
import { RUBRIC } from './some-items.ts'

describe('the reach of a sample', () => {
  it.each([
    [0.05, 5],
    [0.01, 8],
    [0.001, 11],
  ])('at level %d needs %d items', (level, least) => {
    const about = { confirms: false, level }
    expect(computeSampleReach({ ...about, sampleSize: least })).toEqual({
      reaches: true,
      leastSampleSize: least,
    })
    expect(computeSampleReach({ ...about, sampleSize: least - 1 }).reaches).toBe(false)
  })

  it('needs fewer items in each of two samples, but enough for the screen', () => {
    expect(computeSampleReach({ sampleSize: 6, confirms: true, level: 0.001 })).toEqual({
      reaches: true,
      leastSampleSize: 6,
    })
    expect(computeSampleReach({ sampleSize: 4, confirms: true, level: 0.01 }).reaches).toBe(false)
  })

  it('is never denied if some scores could show a gain', () => {
    for (const level of [0.05, 0.01, 0.001]) {
      for (
        let size = 1;
        size < computeSampleReach({ sampleSize: 1, confirms: false, level }).leastSampleSize;
        size++
      ) {
        const pairs = Array.from({ length: size }, (_, index) => ({
          item: `q${index}`,
          first: 'base' as const,
          base: { q: 0 },
          candidate: { q: 100 + index },
        }))
        const judge = { minimum_improvement: 0.3, confirmation_seed: null }
        const terms = { judge, direction: 'maximize', level, sampleSize: size } as const
        expect(
          computeEvidenceVerdict(computeJudgedEvidence(terms, 'q', [{ seed: 1, pairs }])).status,
        ).not.toBe('keep')
      }
    }
  })

  it.each([0, 1, -1, Number.NaN])('is refused at level %d', level => {
    expect(() => computeSampleReach({ sampleSize: 9, confirms: false, level })).toThrow('the level is')
  })
})

describe('the estimated cost of judging', () => {
  const about = {
    rubric: RUBRIC,
    sampleSize: 10,
    batchSize: 5,
    judges: 1,
    itemCharacters: 4_000,
    price: { input: 1, output: 5 },
  }

  it('counts both sides, every judge, and the instructions of every request', () => {
    const { requests, tokens, usd } = estimateJudgingCost(about)
    expect(requests).toBe(4)
    expect(tokens).toBeGreaterThan(20 * 1_000)
    expect(tokens).toBeLessThan(20 * 1_000 * 1.3)
    expect(usd).toBeGreaterThan(0.02)
    expect(usd).toBeLessThan(0.05)
    expect(estimateJudgingCost({ ...about, judges: 3 }).requests).toBe(12)
    expect(estimateJudgingCost({ ...about, batchSize: 1 }).tokens).toBeGreaterThan(tokens)
  })

  it('is unknown without a price', () => {
    expect(estimateJudgingCost({ ...about, price: null }).usd).toBeNull()
  })
})
