import { describe, expect, test } from 'vitest'
import {
  calibrateNoiseEvidence,
  type CalibrationJob,
  computeRobustSpread,
  computeRobustSpreadUpper,
} from '../../../src/decide/evidence/calibration.ts'
import { createSeededRandom, drawNormal } from '../../../src/decide/evidence/planning.ts'
import { UserError } from '../../../src/errors.ts'

type Machine = { sd?: number; level?: number; slow?: number }

/** Pairs of one tree; `slow` is what the candidate's side pays for being second. */
function jobs(count: number, pairs: number, seed: number, { sd = 0.03, level = 0, slow = 0 }: Machine = {}) {
  const random = createSeededRandom(seed)
  return Array.from({ length: count }, (): CalibrationJob => {
    const here = 100 * Math.exp(level * drawNormal(random))
    const run = () => here * Math.exp((sd / Math.SQRT2) * drawNormal(random))
    return { pairs: Array.from({ length: pairs }, () => ({ base: run(), candidate: run() * (1 + slow) })) }
  })
}

describe('calibration', () => {
  test('finds the noise of a pair, and no bias', () => {
    const found = calibrateNoiseEvidence(jobs(3, 100, 61))
    expect(found).toMatchObject({ deterministic: false, scale: 'log', favours: null, pairs: 300, jobs: 3 })
    expect(found.pair_sd).toBeGreaterThan(0.025)
    expect(found.pair_sd).toBeLessThan(0.035)
  })

  test('is not misled by a few spikes', () => {
    const [first, ...rest] = jobs(3, 16, 62)
    const spiked = {
      pairs: [...(first?.pairs ?? []), { base: 100, candidate: 900 }, { base: 800, candidate: 100 }],
    }
    expect(calibrateNoiseEvidence([spiked, ...rest]).pair_sd).toBeLessThan(0.05)
  })

  test('reports the spread between machines', () => {
    const found = calibrateNoiseEvidence(jobs(30, 8, 63, { level: 0.1 })).between_job_sd ?? Number.NaN
    expect(found).toBeGreaterThan(0.06)
    expect(found).toBeLessThan(0.15)
    expect(calibrateNoiseEvidence(jobs(1, 8, 63)).between_job_sd).toBeNull()
  })

  test('catches a harness that treats one side better, in either direction', () => {
    expect(calibrateNoiseEvidence(jobs(3, 8, 64, { slow: 0.1 })).favours).toBe('base')
    expect(calibrateNoiseEvidence(jobs(3, 8, 64, { slow: -0.1 })).favours).toBe('candidate')
  })

  test('calls a fair harness biased at most 10 % of the time', () => {
    const n = 400
    let caught = 0
    for (let seed = 0; seed < n; seed++)
      if (calibrateNoiseEvidence(jobs(3, 8, 1000 + seed)).favours !== null) caught += 1
    expect(caught / n).toBeLessThanOrEqual(0.1 + 3 * Math.sqrt(0.09 / n))
  })

  test('chooses log where every value is above 0, else linear; what the spec pins stays', () => {
    const zero = [{ pairs: [{ base: 0, candidate: 1 }] }]
    expect(calibrateNoiseEvidence(zero).scale).toBe('linear')
    expect(calibrateNoiseEvidence(jobs(2, 4, 65), { scale: 'linear' }).scale).toBe('linear')
    expect(() => calibrateNoiseEvidence(zero, { scale: 'log' })).toThrow('log scale')
  })

  test('deterministic: equal values in two jobs at least', () => {
    const same = {
      pairs: [
        { base: 7, candidate: 7 },
        { base: 7, candidate: 7 },
      ],
    }
    expect(calibrateNoiseEvidence([same, same])).toMatchObject({
      deterministic: true,
      pair_sd: 0,
      favours: null,
    })
    expect(calibrateNoiseEvidence([same]).deterministic).toBe(false)
    expect(calibrateNoiseEvidence([same, { pairs: [{ base: 7, candidate: 7.001 }] }]).deterministic).toBe(
      false,
    )
  })

  test('without pairs is an error', () => {
    expect(() => calibrateNoiseEvidence([{ pairs: [] }])).toThrow(UserError)
  })
})

describe('the upper 90 % limit of the noise', () => {
  test('holds nine times in ten, and is close', () => {
    const n = 1000
    const random = createSeededRandom(66)
    let held = 0
    let sum = 0
    for (let run = 0; run < n; run++) {
      const limit =
        computeRobustSpreadUpper(
          Array.from({ length: 24 }, () => 0.03 * drawNormal(random)),
          0.9,
        ) ?? Number.NaN
      if (limit >= 0.03) held += 1
      sum += limit
    }
    expect(held / n).toBeGreaterThanOrEqual(0.9 - 3 * Math.sqrt(0.09 / n))
    expect(sum / n).toBeLessThan(0.05)
  })

  test('is never below the estimate, and does not exist below four pairs', () => {
    for (let n = 4; n < 40; n++) {
      const values = Array.from({ length: n }, (_, index) => (index + 1) / n)
      expect(computeRobustSpreadUpper(values, 0.9)).toBeGreaterThanOrEqual(computeRobustSpread(values))
    }
    expect(computeRobustSpreadUpper([1, 2, 3], 0.9)).toBeNull()
  })

  test('where most pairs tie exactly, the rest still counts as noise', () => {
    expect(computeRobustSpread([0, 0, 0, 0, 0.1])).toBeCloseTo(0.1 / Math.sqrt(5), 12)
    expect(computeRobustSpreadUpper([0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1], 0.9)).toBeGreaterThan(0)
  })
})

describe('the noise of pairs', () => {
  const turns = [true, false, false, true, true, false, true, false]
  const noise = [0.01, -0.02, 0.015, -0.01, 0.02, -0.015, 0.005, -0.005]
  const measure = (cost: number) =>
    calibrateNoiseEvidence([
      {
        pairs: noise.map((each, at) => {
          const base_first = turns[at] === true
          return {
            base: Math.exp(each + (base_first ? cost : 0)),
            candidate: Math.exp(base_first ? 0 : cost),
            base_first,
          }
        }),
      },
    ]).pair_sd

  test('leaves out the cost of running first', () => {
    expect(measure(0.3)).toBeLessThan(1.5 * measure(0))
  })
})
