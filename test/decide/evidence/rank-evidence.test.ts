import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  computeLnEvidence,
  computeLnEvidencePath,
  type Difference,
  toEvidence,
} from '../../../src/decide/evidence/rank-test.ts'

const PORT = [0.031, 0.044, -0.008, 0.052, 0.027, 0.038, 0.012, 0.049]
const difference = fc.integer({ min: -1000, max: 1000 }).map(thousandths => thousandths / 1000)
const differences = fc.array(fc.oneof(difference, fc.constantFrom(0, 0.01, -0.01)), { maxLength: 24 })

describe('the rank process', () => {
  test('gives the digits printed in the decision design', () => {
    const path = computeLnEvidencePath(PORT, 0).map(ln => toEvidence(ln).toFixed(2))
    expect(path).toEqual(['1.75', '3.26', '1.60', '3.02', '4.78', '8.60', '12.88', '24.53'])
  })

  test('starts at 1, and a difference of exactly theta0 says nothing', () => {
    expect(computeLnEvidence([], 0.01)).toBe(0)
    expect(computeLnEvidence([0.25, 0.25, 0.25], 0.25)).toBe(0)
  })

  test('ties count one half: two equal gains weigh the same whichever comes first', () => {
    const factor = (z: number, bet: number) => 2 / (1 + Math.exp(-2 * bet * z))
    const expected = [0.7, 1.5].map(bet => factor(1, bet) * factor((2 * 1.5) / 3, bet))
    expect(toEvidence(computeLnEvidence([0.1, 0.1], 0))).toBeCloseTo(
      ((expected[0] ?? 0) + (expected[1] ?? 0)) / 2,
      12,
    )
  })

  test('a failed candidate weighs as much as the largest loss seen', () => {
    expect(computeLnEvidence([0.1, 0.2, null], 0)).toBe(computeLnEvidence([0.1, 0.2, -5], 0))
    expect(computeLnEvidence([null, 0.2], 0)).toBe(computeLnEvidence([-5, 0.2], 0))
  })

  test('no pair raises it by more than a factor of 2', () => {
    fc.assert(
      fc.property(differences, difference, (before, next) => {
        expect(computeLnEvidence([...before, next], 0) - computeLnEvidence(before, 0)).toBeLessThanOrEqual(
          Math.LN2 + 1e-12,
        )
      }),
      { seed: 1 },
    )
  })

  test('depends on order and signs about theta0 alone, not on the sizes', () => {
    fc.assert(
      fc.property(differences, fc.integer({ min: -20, max: 20 }), (values, power) => {
        const scaled = values.map(value => value * 2 ** power)
        expect(computeLnEvidence(scaled, 0)).toBe(computeLnEvidence(values, 0))
        const cubed = values.map(value => value ** 3 * 2 ** power)
        expect(computeLnEvidence(cubed, 0)).toBe(computeLnEvidence(values, 0))
      }),
      { seed: 2 },
    )
  })

  test('a larger theta0 is never easier to beat when all pairs agree about both', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0.02, max: 1, noNaN: true }), { maxLength: 20 }), gains => {
        expect(computeLnEvidence(gains, 0.01)).toBeGreaterThanOrEqual(computeLnEvidence(gains, 2))
      }),
      { seed: 3 },
    )
  })
})

/** The mean of E over every way the coins can fall, when sizes may depend on how earlier ones fell. */
function meanOverCoins(
  size: (past: readonly number[]) => number,
  pairs: number,
  past: Difference[] = [],
): number {
  if (past.length === pairs) return toEvidence(computeLnEvidence(past, 0))
  const next = size(past.map(value => value ?? 0))
  const won = meanOverCoins(size, pairs, [...past, next])
  return (won + meanOverCoins(size, pairs, [...past, -next])) / 2
}

describe('under identical behaviour and a fair coin', () => {
  test('the mean of E is 1 whatever the sizes, even if they follow the past', () => {
    const size = fc.func(fc.double({ min: 0, max: 10, noNaN: true }))
    fc.assert(
      fc.property(size, fc.integer({ min: 1, max: 8 }), (adversary, pairs) => {
        expect(meanOverCoins(past => adversary(past), pairs)).toBeCloseTo(1, 9)
      }),
      { seed: 4, numRuns: 40 },
    )
  })
})
