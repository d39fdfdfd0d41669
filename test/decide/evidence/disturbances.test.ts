import { describe, expect, it } from 'vitest'
import {
  compareAcrossSpeeds,
  computeFirstRunCost,
  findSpeedBorder,
  hasCoarseSteps,
  listExplainedDifferences,
  selectSameSpeed,
} from '../../../src/decide/evidence/disturbances.ts'

/** A pair whose second run is better by `cost` for the same code, and whose candidate gains `gain`. */
function measure(cost: number, gains: readonly number[], baseFirst: readonly boolean[]) {
  return {
    measured: gains.map((gain, at) => gain + (baseFirst[at] === true ? cost : -cost)),
    base_first: baseFirst,
  }
}

const TURNS = [true, false, false, true, true, false, true, false]
const GAINS = [0.05, 0.06, 0.04, 0.05, 0.055, 0.045, 0.05, 0.052]

describe('the cost of running first', () => {
  it('is seen whatever the candidate gains, and removed', () => {
    const pairs = measure(0.2, GAINS, TURNS)
    expect(computeFirstRunCost(pairs)).toBeCloseTo(0.2, 2)
    for (const [at, difference] of listExplainedDifferences(pairs).entries())
      expect(difference).toBeCloseTo(GAINS[at] ?? Number.NaN, 1)
  })

  it('is not a gain that every pair shows', () => {
    expect(computeFirstRunCost(measure(0, GAINS, TURNS))).toBe(0)
    expect(
      computeFirstRunCost(
        measure(
          0,
          GAINS,
          GAINS.map(() => true),
        ),
      ),
    ).toBe(0)
  })

  it('is 0 where the noise is larger, or where less than four pairs are known', () => {
    const noisy = [0.1, -0.12, 0.07, -0.05, 0.11, -0.02, -0.09, 0.06]
    expect(computeFirstRunCost(measure(0.02, noisy, TURNS))).toBe(0)
    expect(computeFirstRunCost(measure(0.2, GAINS.slice(0, 3), TURNS))).toBe(0)
  })
})

/** Half of the pairs across two speeds that lie 30 % apart. */
const TWO_SPEEDS = [0.05, 0.34, 0.03, -0.26, 0.06, 0.36, -0.25, 0.04, 0.07, -0.24, 0.33, 0.05]

describe('two speeds of the machine', () => {
  it('are told apart by the gap between sizes', () => {
    const border = findSpeedBorder(TWO_SPEEDS)
    expect(border).toBeGreaterThan(0.07)
    expect(border).toBeLessThan(0.24)
    expect(selectSameSpeed(TWO_SPEEDS)).toEqual([0.05, 0.03, 0.06, 0.04, 0.07, 0.05])
  })

  it.each([
    ['evenly spread sizes', [0.01, -0.02, 0.03, -0.04, 0.05, 0.06, -0.07, 0.08]],
    ['one outlier', [0.01, -0.02, 0.03, -0.04, 0.05, 0.06, -0.07, 5]],
    ['a large gain in every pair', [0.5, 0.51, 0.49, 0.5, 0.52, 0.48, 0.5, 0.51]],
    ['a few pairs', TWO_SPEEDS.slice(0, 7)],
  ])('are not seen in %s', (_, differences) => {
    expect(findSpeedBorder(differences)).toBe(Number.POSITIVE_INFINITY)
  })

  it('leave the gain of a pair across them, and nothing while one direction is unknown', () => {
    expect(compareAcrossSpeeds(TWO_SPEEDS, 0.35, 0.15)).toBeCloseTo(0.055, 2)
    expect(compareAcrossSpeeds(TWO_SPEEDS, -0.25, 0.15)).toBeCloseTo(0.045, 2)
    expect(compareAcrossSpeeds(TWO_SPEEDS, 0.06, 0.15)).toBe(0.06)
    expect(compareAcrossSpeeds([0.05, 0.34, 0.35], 0.36, 0.15)).toBe(0)
    expect(compareAcrossSpeeds(TWO_SPEEDS, null, 0.15)).toBeNull()
  })
})

describe('coarse steps', () => {
  it('are pairs that tie, or differ by more than min_effect', () => {
    expect(hasCoarseSteps([0, 0.1, 0, -0.1], 0.02)).toBe(true)
    expect(hasCoarseSteps([0, 0.1, 0, -0.01], 0.02)).toBe(false)
  })

  it('are not seen where all pairs tie, where none does, or where the candidate failed', () => {
    expect(hasCoarseSteps([0, 0, 0], 0.02)).toBe(false)
    expect(hasCoarseSteps([0.1, -0.1], 0.02)).toBe(false)
    expect(hasCoarseSteps([0, null], 0.02)).toBe(false)
  })
})
