import { describe, expect, test } from 'vitest'
import {
  computeChanceToKeep,
  computeExpectedCost,
  createSeededRandom,
  drawHeavyTailed,
  findSmallestVisibleGain,
  isKeptAtLeast,
  isMinEffectVisible,
  listWaysOut,
  predictOutcomes,
} from '../../../src/decide/evidence/planning.ts'
import { UserError } from '../../../src/errors.ts'

const RUNS = 400
const options = { direction: 'minimize', minEffect: 0.02 } as const
const at = (pairSd: number, effect: number, runs = RUNS) => ({
  noise: { pairSd },
  effect,
  options,
  seed: 9,
  runs,
})
/** Four standard deviations of a share, of the printed one (N = 4,000) and of ours together. */
const within = (share: number, runs: number) =>
  4 * Math.sqrt(share * (1 - share) * (1 / runs + 1 / 4000)) + 0.02

describe('the chance to keep', () => {
  test('is the same for the same seed, and grows with the effect', () => {
    expect(predictOutcomes(at(0.03, 0.03))).toEqual(predictOutcomes(at(0.03, 0.03)))
    const chances = [0, 0.01, 0.02, 0.03, 0.05, 0.1].map(effect => computeChanceToKeep(at(0.03, effect)))
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
  })

  test('falls with the noise', () => {
    const chances = [0.01, 0.03, 0.06, 0.12].map(noise => computeChanceToKeep(at(noise, 0.04)))
    expect(chances).toEqual(chances.toSorted((a, b) => b - a))
  })

  // The "typical" line of the decision design, section 3.10.
  test.each([
    [0, 0.002],
    [0.02, 0.477],
    [0.03, 0.883],
    [0.05, 0.987],
  ])('a typical runner and an effect of %s: as printed in the decision design', (effect, printed) => {
    const runs = 1000
    expect(Math.abs(computeChanceToKeep(at(0.03, effect, runs)) - printed)).toBeLessThan(
      within(printed, runs),
    )
  })

  test('shares add up to 1', () => {
    const { keep, drop, not_proven } = predictOutcomes(at(0.06, 0.02))
    expect(keep + drop + not_proven).toBeCloseTo(1, 12)
  })

  test('of what is no number is an error', () => {
    expect(() => predictOutcomes(at(Number.NaN, 0.02))).toThrow(UserError)
    expect(() => predictOutcomes(at(0.03, Number.NaN))).toThrow(UserError)
    expect(() => predictOutcomes(at(0.03, 0.02, 0))).toThrow(UserError)
  })
})

describe('whether enough are kept', () => {
  test('is answered as the whole forecast would answer it', () => {
    for (const effect of [0, 0.02, 0.025, 0.03, 0.05]) {
      const input = at(0.03, effect, 60)
      const chance = computeChanceToKeep(input)
      for (const share of [0, 0.5, 0.8, 1, chance])
        expect([effect, share, isKeptAtLeast(input, share)]).toEqual([effect, share, chance >= share])
    }
  })

  test('of min_effect allows a tenth more: an effect that varies by machine is never seen at exactly that', () => {
    const varying = { noise: { pairSd: 0.02 }, options, seed: 9, runs: RUNS }
    expect(computeChanceToKeep({ ...varying, effect: 0.02 })).toBeLessThan(0.8)
    expect(isMinEffectVisible(varying)).toBe(true)
    expect(listWaysOut(varying)).toEqual([])
  })
})

describe('the smallest visible gain', () => {
  test('on a typical runner lies between 2 % (47.7 % kept) and 3 % (88.3 % kept)', () => {
    const gain =
      findSmallestVisibleGain({ noise: { pairSd: 0.03 }, options, seed: 9, runs: RUNS }) ?? Number.NaN
    expect(gain).toBeGreaterThan(0.02)
    expect(gain).toBeLessThan(0.03)
    expect(computeChanceToKeep(at(0.03, gain))).toBeGreaterThanOrEqual(0.8)
  })

  test('is none where nothing can be seen', () => {
    const hopeless = { ...options, maxJobs: 1 }
    expect(
      findSmallestVisibleGain({ noise: { pairSd: 0.03 }, options: hopeless, seed: 9, runs: 50 }),
    ).toBeNull()
  })
})

describe('the expected cost', () => {
  test('counts both sides, the warm-ups of each job and its set-up', () => {
    const cost = computeExpectedCost({
      ...at(0.03, 0, 1000),
      warmUps: 1,
      secondsPerExecution: 30,
      setupSeconds: 120,
    })
    expect(cost.executions).toBeCloseTo(2 * (cost.pairs + cost.jobs), 9)
    expect(cost.minutes).toBeCloseTo(cost.executions / 2 + 2 * cost.jobs, 9)
    // An idea that does nothing: 26 executions in 1.5 jobs, and 31 in 1.75 with its second look.
    expect(Math.abs(cost.executions - 30.5)).toBeLessThan(2)
    expect(Math.abs(cost.jobs - 1.75)).toBeLessThan(0.15)
  })
})

describe('the ways out', () => {
  test('are not needed where min_effect is visible', () => {
    const single = { ...options, singleMachine: true, nullEffect: 0.005 }
    expect(listWaysOut({ noise: { pairSd: 0.008 }, options: single, seed: 9, runs: RUNS })).toEqual([])
  })

  test('are three, each with what it takes', () => {
    const noise = { pairSd: 0.03, effectSpread: 0 }
    const [jobs, metric, machine] = listWaysOut({ noise, options, seed: 9, runs: 200 })
    expect(jobs).toMatchObject({ way: 'more-jobs' })
    expect(metric).toEqual({ way: 'better-metric', times: expect.closeTo(1.3, 0) })
    expect(machine).toEqual({ way: 'quieter-machine', pair_sd: expect.closeTo(0.019, 2) })
  })

  test('find the quieter machine, where effects vary by machine', () => {
    const input = { options, seed: 9, runs: 200 }
    const quieter = listWaysOut({ ...input, noise: { pairSd: 0.06 } }).find(
      ({ way }) => way === 'quieter-machine',
    )
    expect(quieter).toEqual({ way: 'quieter-machine', pair_sd: expect.closeTo(0.02, 2) })
  })

  test('say so when there is none', () => {
    const ways = listWaysOut({
      noise: { pairSd: 0.06 },
      options: { ...options, maxJobs: 1 },
      seed: 9,
      runs: 50,
    })
    expect(ways).toContainEqual({ way: 'better-metric', times: null })
    expect(ways).toContainEqual({ way: 'quieter-machine', pair_sd: null })
  })
})

test('the heavy tails have the robust spread that forecasts divide by', () => {
  const random = createSeededRandom(71)
  const sizes = Array.from({ length: 40_000 }, () => Math.abs(drawHeavyTailed(random))).toSorted(
    (a, b) => a - b,
  )
  expect(1.4826 * (sizes[20_000] ?? 0)).toBeCloseTo(1.098, 1)
})
