import { describe, expect, test } from 'vitest'
import {
  computeBettingEvidence,
  computeLargestSuiteEvidence,
  computeLnEvidence,
} from '../../../src/decide/evidence/rank-test.ts'
import {
  checkRegression,
  isSimplificationRefuted,
  isSimplificationShown,
  isTieBreakerShown,
  judgeGuardrail,
} from '../../../src/decide/evidence/rules.ts'
import { UserError } from '../../../src/errors.ts'

/** n differences around a centre, small steps apart, none equal. */
const around = (centre: number, n = 12) =>
  Array.from({ length: n }, (_, index) => centre + ((index * 7) % n) / 1000 - n / 2000)

describe('a guardrail', () => {
  test('is harmless once a loss beyond its margin is ruled out', () => {
    expect(judgeGuardrail(around(0), 0.02)).toBe('harmless')
    expect(judgeGuardrail(around(0.05), 0.02)).toBe('harmless')
  })

  test('is harmful once a loss is shown', () => {
    expect(judgeGuardrail(around(-0.05), 0.02)).toBe('harmful')
  })

  test('is open, and not harmless, until one of them is shown', () => {
    expect(judgeGuardrail([], 0.02)).toBe('open')
    expect(judgeGuardrail(around(0, 3), 0.02)).toBe('open')
    expect(judgeGuardrail(around(-0.02), 0.02)).not.toBe('harmless')
  })

  test('keeps the result that was shown first', () => {
    const harm = around(-0.05, 8)
    expect(judgeGuardrail([...harm, ...around(0.5, 30)], 0.02)).toBe('harmful')
    const harmless = around(0.01, 8)
    expect(judgeGuardrail([...harmless, ...around(-0.5, 30)], 0.02)).toBe('harmless')
  })

  test('is not harmless when the candidate fails', () => {
    expect(judgeGuardrail([null, null, null, null, null, null, null], 0.02)).toBe('harmful')
  })
})

describe('a tie-breaker', () => {
  const level = 0.01
  const better = around(0.05)

  test('decides when the primary is shown to hold and it gains itself', () => {
    expect(isTieBreakerShown({ differences: around(0), minEffect: 0.02, own: better, level })).toBe(true)
  })

  test('does not when the primary may have lost, or its own gain is not proven at the level', () => {
    expect(isTieBreakerShown({ differences: around(-0.02), minEffect: 0.02, own: better, level })).toBe(false)
    expect(isTieBreakerShown({ differences: [], minEffect: 0.02, own: better, level })).toBe(false)
    expect(isTieBreakerShown({ differences: around(0), minEffect: 0.02, own: around(0), level })).toBe(false)
    expect(isTieBreakerShown({ differences: around(0), minEffect: 0.02, own: better, level: 1e-9 })).toBe(
      false,
    )
  })
})

describe('a simplification', () => {
  test('holds when it is shown to cost less than min_effect', () => {
    expect(isSimplificationShown(around(0), 0.02)).toBe(true)
    expect(isSimplificationShown(around(-0.02), 0.02)).toBe(false)
    expect(isSimplificationShown([], 0.02)).toBe(false)
  })

  test('fails when it is shown to cost more than min_effect', () => {
    expect(isSimplificationRefuted(around(-0.05), 0.02)).toBe(true)
    expect(isSimplificationRefuted(around(-0.01), 0.02)).toBe(false)
    expect(isSimplificationRefuted([], 0.02)).toBe(false)
  })
})

describe('a merge that is measured again', () => {
  test('is reverted on shown harm, cleared when a loss of min_effect is ruled out, else open', () => {
    expect(checkRegression(around(-0.1), 0.02)).toBe('revert')
    expect(checkRegression(around(0.01), 0.02)).toBe('clear')
    expect(checkRegression(around(-0.1, 4), 0.02)).toBe('open')
  })

  test('needs more evidence to revert than to clear', () => {
    const harm = [0.05, 0.06, 0.07, 0.08, 0.09]
    expect(computeLnEvidence(harm, 0)).toBeGreaterThan(Math.log(20))
    const worse = harm.map(loss => -loss)
    expect(checkRegression(worse, 0.02)).toBe('open')
  })
})

describe('pass/fail scores', () => {
  test.each([
    [3, '3.1'],
    [5, '7.4'],
    [10, '86'],
  ])('a suite of %i tasks run once can show at most %s', (tasks, printed) => {
    const most = computeLargestSuiteEvidence(tasks)
    expect(most.toFixed(printed.includes('.') ? 1 : 0)).toBe(printed)
  })

  test('nothing beats winning every task', () => {
    for (const lost of [0, 4, 9]) {
      const outcome = Array.from({ length: 10 }, (_, task) => (task === lost ? 0 : 1))
      expect(computeBettingEvidence(outcome)).toBeLessThan(computeLargestSuiteEvidence(10))
    }
  })

  test('graded scores can show twice as much at most', () => {
    expect(computeLargestSuiteEvidence(1, 'graded')).toBeLessThanOrEqual(2)
    expect(computeLargestSuiteEvidence(12, 'graded')).toBeGreaterThan(computeLnEvidence(around(0.5), 0))
    expect(computeLargestSuiteEvidence(0)).toBe(1)
  })

  test('is fair: the mean over all outcomes of a coin is 1', () => {
    const outcomes = Array.from({ length: 2 ** 8 }, (_, bits) =>
      Array.from({ length: 8 }, (__, bit) => ((bits >> bit) & 1 ? 1 : -1)),
    )
    const sum = outcomes.reduce((total, outcome) => total + computeBettingEvidence(outcome), 0)
    expect(sum / outcomes.length).toBeCloseTo(1, 12)
  })

  test('m0 is the value to beat', () => {
    expect(computeBettingEvidence([0.2, 0.2, 0.2], 0.2)).toBeCloseTo(1, 12)
    expect(computeBettingEvidence([0.2, 0.2, 0.2], 0.3)).toBeLessThan(1)
  })

  test('a difference outside -1 to 1 is an error', () => {
    expect(() => computeBettingEvidence([1.5])).toThrow(UserError)
    expect(() => computeBettingEvidence([Number.NaN])).toThrow(UserError)
    expect(() => computeBettingEvidence([0.5], 1)).toThrow(UserError)
    expect(() => computeLargestSuiteEvidence(2.5)).toThrow(UserError)
  })
})
