import { describe, expect, test } from 'vitest'
import { createSeededRandom, drawNormal, predictOutcomes } from '../../../src/decide/evidence/planning.ts'
import {
  addToSums,
  computeLnEvidence,
  computeLnVarianceRatio,
  NO_SUMS,
  type VarianceSums,
} from '../../../src/decide/evidence/rank-test.ts'
import { computeEvidenceVerdict, getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { begin, observed } from './a-comparison.ts'

const NOISE = 0.03
const prior = { null_effect: 0.005, min_effect: 0.02, noise: NOISE }
const ratio = (differences: readonly number[]) =>
  differences.reduce((sums: VarianceSums | null, d) => addToSums(sums, d, prior), NO_SUMS)

describe('the likelihood ratio with a variance prior', () => {
  test('is the closed form of the decision design, averaged over 1, 2.5 and 5 times min_effect', () => {
    const values = [0.05, -0.01, 0.04]
    const squares = (theta: number) => values.reduce((sum, d) => sum + (d - theta) ** 2, 6 * NOISE ** 2)
    const ratios = [0.02, 0.05, 0.1].map(theta => (squares(0.005) / squares(theta)) ** (9 / 2))
    const mean = ratios.reduce((sum, each) => sum + each, 0) / 3
    expect(Math.exp(computeLnVarianceRatio(ratio(values) ?? NO_SUMS, NOISE))).toBeCloseTo(mean, 10)
  })

  test('starts at 1', () => {
    expect(computeLnVarianceRatio(NO_SUMS, NOISE)).toBe(0)
  })

  test('has mean 1 over what one pair may read when nothing changed', () => {
    const predictive = (d: number) => (6 * NOISE ** 2 + (d - 0.005) ** 2) ** (-7 / 2)
    let [mean, mass] = [0, 0]
    for (let d = -3; d < 3; d += 0.0005) {
      mass += predictive(d)
      mean += predictive(d) * Math.exp(computeLnVarianceRatio(ratio([d]) ?? NO_SUMS, NOISE))
    }
    expect(mean / mass).toBeCloseTo(1, 4)
  })

  test('reaches 20 at most one time in twenty when nothing changed, however often one looks', () => {
    const random = createSeededRandom(41)
    const runs = 4000
    let reached = 0
    for (let run = 0; run < runs; run++) {
      // A scaled inverse chi-squared variance with six degrees of freedom: the prior itself.
      const chiSquared = -2 * Math.log((1 - random()) * (1 - random()) * (1 - random()))
      const sd = NOISE * Math.sqrt(6 / chiSquared)
      let sums: VarianceSums | null = NO_SUMS
      let highest = 0
      for (let pair = 0; pair < 24; pair++) {
        sums = addToSums(sums, 0.005 + sd * drawNormal(random), prior)
        highest = Math.max(highest, computeLnVarianceRatio(sums ?? NO_SUMS, NOISE))
      }
      if (highest >= Math.log(20)) reached += 1
    }
    expect(reached / runs).toBeLessThanOrEqual(0.05 + 4 * Math.sqrt((0.05 * 0.95) / runs))
  })
})

describe('the hybrid', () => {
  const start = begin({ hybrid: { noise: NOISE } })

  test('is off unless asked for', () => {
    expect(begin().keep.sums).toBeNull()
    expect(start.rule.noise).toBe(NOISE)
  })

  test('is the mean of both kinds of evidence', () => {
    const values = [0.05, 0.06]
    const both =
      Math.exp(computeLnEvidence(values, 0.005)) +
      Math.exp(computeLnVarianceRatio(ratio(values) ?? NO_SUMS, NOISE))
    expect(computeEvidenceVerdict(observed(start, values)).evidence).toBeCloseTo(both / 2, 10)
  })

  test('can be given a smaller share of the evidence', () => {
    const values = [0.05, 0.06]
    const [rank, other] = [
      computeLnEvidence(values, 0.005),
      computeLnVarianceRatio(ratio(values) ?? NO_SUMS, NOISE),
    ]
    const tenth = begin({ hybrid: { noise: NOISE, share: 0.1 } })
    expect(computeEvidenceVerdict(observed(tenth, values)).evidence).toBeCloseTo(
      0.9 * Math.exp(rank) + 0.1 * Math.exp(other),
      10,
    )
    expect(computeEvidenceVerdict(observed(tenth, [...values, null])).evidence).toBeCloseTo(
      0.9 * Math.exp(computeLnEvidence([...values, null], 0.005)),
      10,
    )
    expect(() => begin({ hybrid: { noise: NOISE, share: 1 } })).toThrow('share')
  })

  test('starts both again at the screen and carries their mean', () => {
    const screened = observed(start, [0.1, 0.1])
    expect(getEvidenceStatus(screened)).toEqual({ status: 'new-job', reason: 'promising' })
    const carried = computeEvidenceVerdict(screened).evidence
    expect(screened.keep).toMatchObject({ from: 2, ln: [0, 0], sums: NO_SUMS })
    const next =
      Math.exp(computeLnEvidence([0.1], 0.005)) +
      Math.exp(computeLnVarianceRatio(ratio([0.1]) ?? NO_SUMS, NOISE))
    expect(computeEvidenceVerdict(observed(screened, [0.1], 2)).evidence).toBeCloseTo((carried * next) / 2, 6)
    expect(getEvidenceStatus(observed(screened, [0.1, 0.1], 2)).status).toBe('keep')
  })

  test('loses its second half to a failed candidate, and gets it back at the screen only', () => {
    const failed = observed(start, [0.1, null, 0.1, 0.1])
    expect(failed.keep.sums).toBeNull()
    const rank = Math.exp(computeLnEvidence([0.1, null, 0.1, 0.1], 0.005))
    expect(computeEvidenceVerdict(failed).evidence).toBeCloseTo(rank / 2, 10)
  })

  test('halves the pairs of a large effect and keeps no more of what does nothing', () => {
    const options = { direction: 'minimize', minEffect: 0.02 } as const
    const large = { noise: { pairSd: NOISE }, effect: 0.1, options, seed: 5, runs: 300 }
    const hybrid = { ...options, hybrid: { noise: NOISE } }
    const [plain, faster] = [predictOutcomes(large), predictOutcomes({ ...large, options: hybrid })]
    expect(faster.pairs).toBeLessThan(0.6 * plain.pairs)
    expect(faster.keep).toBeGreaterThan(0.95)
    const runs = 1500
    const nothing = predictOutcomes({ ...large, effect: 0, runs, options: hybrid })
    expect(nothing.keep).toBeLessThanOrEqual(0.006 + 4 * Math.sqrt((0.006 * 0.994) / runs))
  })
})
