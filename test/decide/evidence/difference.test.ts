import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeSignedDifference } from '../../../src/decide/evidence/rank-test.ts'
import { HarnessError } from '../../../src/errors.ts'

const value = fc.double({ min: 1e-3, max: 1e6, noNaN: true })
const direction = fc.constantFrom('minimize' as const, 'maximize' as const)
const scale = fc.constantFrom('log' as const, 'linear' as const)

describe('a paired difference', () => {
  test('is positive when the candidate is better', () => {
    expect(computeSignedDifference({ direction: 'minimize', scale: 'log' }, 2, 1)).toBeCloseTo(Math.LN2, 11)
    expect(computeSignedDifference({ direction: 'maximize', scale: 'log' }, 2, 1)).toBeCloseTo(-Math.LN2, 11)
    expect(computeSignedDifference({ direction: 'minimize', scale: 'linear' }, -1, -3)).toBe(2)
    expect(computeSignedDifference({ direction: 'maximize', scale: 'linear' }, -1, -3)).toBe(-2)
  })

  test('changes its sign exactly with swapped labels or direction', () => {
    fc.assert(
      fc.property(value, value, direction, scale, (a, b, way, on) => {
        const one = computeSignedDifference({ direction: way, scale: on }, a, b)
        expect(computeSignedDifference({ direction: way, scale: on }, b, a)).toBe(0 - one)
        const other = way === 'minimize' ? 'maximize' : 'minimize'
        expect(computeSignedDifference({ direction: other, scale: on }, a, b)).toBe(0 - one)
      }),
      { seed: 51 },
    )
  })

  test('equal ratios are equal differences in any unit', () => {
    const of = (base: number, candidate: number) =>
      computeSignedDifference({ direction: 'minimize', scale: 'log' }, base, candidate)
    for (const unit of [3, 0.7, 1000, 1e-6]) expect(of(110 * unit, 100 * unit)).toBe(of(110, 100))
  })

  test.each([0, -1])('a value of %s violates the log scale', wrong => {
    expect(() => computeSignedDifference({ direction: 'minimize', scale: 'log' }, 1, wrong)).toThrow(
      HarnessError,
    )
    expect(() => computeSignedDifference({ direction: 'minimize', scale: 'log' }, wrong, 1)).toThrow(
      'log scale',
    )
  })

  test('non-finite values are rejected', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => computeSignedDifference({ direction: 'minimize', scale: 'log' }, 1, wrong)).toThrow(
        HarnessError,
      )
    }
    const measure = { direction: 'minimize', scale: 'linear' } as const
    expect(() => computeSignedDifference(measure, 1e308, -1e308)).toThrow(HarnessError)
  })
})
