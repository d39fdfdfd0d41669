import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  computeConfidenceInterval,
  computeReportedEffect,
  computeWalshAverages,
  estimateHodgesLehmann,
} from '../../../src/decide/evidence/interval.ts'
import { computeLnEvidence } from '../../../src/decide/evidence/rank-test.ts'
import { createSeededRandom, drawHeavyTailed } from '../../../src/decide/evidence/planning.ts'
import { UserError } from '../../../src/errors.ts'

function draws(n: number, seed: number): number[] {
  const random = createSeededRandom(seed)
  return Array.from({ length: n }, () => 0.03 + 0.02 * drawHeavyTailed(random))
}

describe('the Hodges-Lehmann estimate', () => {
  test('is the median of all means of two', () => {
    expect(estimateHodgesLehmann([1, 2, 6])).toBe(2.75)
    expect(estimateHodgesLehmann([5])).toBe(5)
  })

  test('is the same number as that of all means in order, with ties and failures as well', () => {
    const tied = fc.integer({ min: -3, max: 3 })
    const any = fc.double({ noNaN: true, min: -1e6, max: 1e6 })
    const difference = fc.oneof(any, tied, fc.constant(null))
    fc.assert(
      fc.property(fc.array(difference, { minLength: 1, maxLength: 70 }), differences => {
        const all = computeWalshAverages(differences)
        const [lower = 0, upper = 0] = [all[(all.length - 1) >> 1], all[all.length >> 1]]
        // Adding nothing to a zero takes its sign.
        expect(estimateHodgesLehmann(differences) + 0).toBe((lower + upper) / 2 + 0)
      }),
      { numRuns: 500 },
    )
  })

  test('hardly moves for an outlier', () => {
    expect(estimateHodgesLehmann([1, 2, 3, 1e9])).toBe(2.75)
    expect(estimateHodgesLehmann([1, 2, 3, null])).toBe(1.25)
  })

  test('is NaN without pairs, and no gain when failures dominate', () => {
    expect(estimateHodgesLehmann([])).toBeNaN()
    expect(estimateHodgesLehmann([null, 1])).toBe(Number.NEGATIVE_INFINITY)
    expect(computeReportedEffect([])).toEqual({ effect: null, interval: null, pairs: 0 })
    expect(computeReportedEffect([null, 1]).effect).toBeNull()
  })
})

describe('the interval', () => {
  test('is unbounded below 7 pairs', () => {
    for (let n = 0; n < 7; n++) {
      expect(computeConfidenceInterval(Array.from({ length: n }, (_, index) => 1 + index))).toBeNull()
    }
    expect(computeConfidenceInterval(draws(16, 1))).not.toBeNull()
  })

  test('ends where E reaches 2/.05 on either side', () => {
    const values = draws(24, 2)
    const [low, high] = computeConfidenceInterval(values) ?? [Number.NaN, Number.NaN]
    const bound = Math.log(40)
    const turned = values.map(value => -value)
    expect(computeLnEvidence(values, low - 1e-9)).toBeGreaterThanOrEqual(bound)
    expect(computeLnEvidence(values, low + 1e-9)).toBeLessThan(bound)
    expect(computeLnEvidence(turned, -high - 1e-9)).toBeGreaterThanOrEqual(bound)
    expect(computeLnEvidence(turned, -high + 1e-9)).toBeLessThan(bound)
  })

  test('moves and stretches with its differences, and holds their estimate', () => {
    const bounded = fc.integer({ min: 1, max: 1000 }).map(seed => draws(20, seed))
    fc.assert(
      fc.property(bounded, fc.integer({ min: -8, max: 8 }), (values, power) => {
        const { effect, interval } = computeReportedEffect(values)
        const factor = 2 ** power
        expect(computeConfidenceInterval(values.map(value => value * factor))).toEqual(
          interval === null ? null : interval.map(end => end * factor),
        )
        if (interval === null || effect === null) return
        expect(interval[0]).toBeLessThanOrEqual(effect)
        expect(interval[1]).toBeGreaterThanOrEqual(effect)
      }),
      { seed: 31 },
    )
  })

  test('a failed candidate only widens it', () => {
    const values = draws(24, 3)
    const [low = Number.NaN] = computeConfidenceInterval(values) ?? []
    const [lower = Number.NaN] = computeConfidenceInterval([...values, null]) ?? []
    expect(lower).toBeLessThanOrEqual(low)
  })

  test('covers the true effect at least 95 % of the time, also at its best moment', () => {
    let covered = 0
    for (let seed = 0; seed < 400; seed++) {
      const values = draws(24, 1000 + seed)
      const looks = [8, 12, 16, 20, 24].map(n => computeConfidenceInterval(values.slice(0, n)))
      if (looks.every(look => look === null || (look[0] <= 0.03 && look[1] >= 0.03))) covered += 1
    }
    expect(covered / 400).toBeGreaterThanOrEqual(0.95 - 3 * Math.sqrt((0.05 * 0.95) / 400))
  })

  test('a wider level gives a wider interval, and no level outside 0 and 1 is one', () => {
    const values = draws(24, 4)
    const [low = 0, high = 0] = computeConfidenceInterval(values, { level: 0.99 }) ?? []
    const [narrowLow = 0, narrowHigh = 0] = computeConfidenceInterval(values, { level: 0.8 }) ?? []
    expect(low).toBeLessThanOrEqual(narrowLow)
    expect(high).toBeGreaterThanOrEqual(narrowHigh)
    expect(() => computeConfidenceInterval(values, { level: 1 })).toThrow(UserError)
  })
})
