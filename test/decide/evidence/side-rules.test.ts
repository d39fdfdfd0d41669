import { describe, expect, test } from 'vitest'
import { bettingEvidence } from '../../../src/decide/evidence/betting.ts'
import { guardrailVerdict } from '../../../src/decide/evidence/guardrail.ts'
import { lnEvidence } from '../../../src/decide/evidence/rank-evidence.ts'
import { regressionCheck } from '../../../src/decide/evidence/regression-check.ts'
import { simplificationFails, simplificationHolds } from '../../../src/decide/evidence/simplification.ts'
import { largestSuiteEvidence } from '../../../src/decide/evidence/suite-maximum.ts'
import { tieBreakerHolds } from '../../../src/decide/evidence/tie-breaker.ts'
import { UserError } from '../../../src/errors.ts'

/** n differences around a centre, small steps apart, none equal. */
const around = (centre: number, n = 12) =>
  Array.from({ length: n }, (_, index) => centre + ((index * 7) % n) / 1000 - n / 2000)

describe('a guardrail', () => {
  test('is harmless once a loss beyond its margin is ruled out', () => {
    expect(guardrailVerdict(around(0), 0.02)).toBe('harmless')
    expect(guardrailVerdict(around(0.05), 0.02)).toBe('harmless')
  })

  test('is harmful once a loss is shown', () => {
    expect(guardrailVerdict(around(-0.05), 0.02)).toBe('harmful')
  })

  test('is open, and not harmless, until one of them is shown', () => {
    expect(guardrailVerdict([], 0.02)).toBe('open')
    expect(guardrailVerdict(around(0, 3), 0.02)).toBe('open')
    expect(guardrailVerdict(around(-0.02), 0.02)).not.toBe('harmless')
  })

  test('stays with what was shown first, as a job that stops there would', () => {
    const harm = around(-0.05, 8)
    expect(guardrailVerdict([...harm, ...around(0.5, 30)], 0.02)).toBe('harmful')
    const harmless = around(0.01, 8)
    expect(guardrailVerdict([...harmless, ...around(-0.5, 30)], 0.02)).toBe('harmless')
  })

  test('is not harmless when the candidate fails', () => {
    expect(guardrailVerdict([null, null, null, null, null, null, null], 0.02)).toBe('harmful')
  })
})

describe('a tie-breaker', () => {
  const level = 0.01
  const better = around(0.05)

  test('decides when the primary is shown to hold and it gains itself', () => {
    expect(tieBreakerHolds({ differences: around(0), minEffect: 0.02, own: better, level })).toBe(true)
  })

  test('does not when the primary may have lost, or its own gain is not proven at the level', () => {
    expect(tieBreakerHolds({ differences: around(-0.02), minEffect: 0.02, own: better, level })).toBe(false)
    expect(tieBreakerHolds({ differences: [], minEffect: 0.02, own: better, level })).toBe(false)
    expect(tieBreakerHolds({ differences: around(0), minEffect: 0.02, own: around(0), level })).toBe(false)
    expect(tieBreakerHolds({ differences: around(0), minEffect: 0.02, own: better, level: 1e-9 })).toBe(false)
  })
})

describe('a simplification', () => {
  test('holds when it is shown to cost less than min_effect', () => {
    expect(simplificationHolds(around(0), 0.02)).toBe(true)
    expect(simplificationHolds(around(-0.02), 0.02)).toBe(false)
    expect(simplificationHolds([], 0.02)).toBe(false)
  })

  test('fails when it is shown to cost more, and not only something', () => {
    expect(simplificationFails(around(-0.05), 0.02)).toBe(true)
    expect(simplificationFails(around(-0.01), 0.02)).toBe(false)
    expect(simplificationFails([], 0.02)).toBe(false)
  })
})

describe('a merge that is measured again', () => {
  test('is reverted on shown harm, cleared when a loss of min_effect is ruled out, else open', () => {
    expect(regressionCheck(around(-0.1), 0.02)).toBe('revert')
    expect(regressionCheck(around(0.01), 0.02)).toBe('clear')
    expect(regressionCheck(around(-0.1, 4), 0.02)).toBe('open')
  })

  test('takes more to revert than to clear', () => {
    const harm = [0.05, 0.06, 0.07, 0.08, 0.09]
    expect(lnEvidence(harm, 0)).toBeGreaterThan(Math.log(20))
    const worse = harm.map(loss => -loss)
    expect(regressionCheck(worse, 0.02)).toBe('open')
  })
})

describe('pass/fail scores', () => {
  test.each([
    [3, '3.1'],
    [5, '7.4'],
    [10, '86'],
  ])('a suite of %i tasks run once can show at most %s', (tasks, printed) => {
    const most = largestSuiteEvidence(tasks)
    expect(most.toFixed(printed.includes('.') ? 1 : 0)).toBe(printed)
  })

  test('nothing beats winning every task', () => {
    for (const lost of [0, 4, 9]) {
      const outcome = Array.from({ length: 10 }, (_, task) => (task === lost ? 0 : 1))
      expect(bettingEvidence(outcome)).toBeLessThan(largestSuiteEvidence(10))
    }
  })

  test('graded scores can show twice as much at most', () => {
    expect(largestSuiteEvidence(1, 'graded')).toBeLessThanOrEqual(2)
    expect(largestSuiteEvidence(12, 'graded')).toBeGreaterThan(lnEvidence(around(0.5), 0))
    expect(largestSuiteEvidence(0)).toBe(1)
  })

  test('is fair: the mean over all outcomes of a coin is 1', () => {
    const outcomes = Array.from({ length: 2 ** 8 }, (_, bits) =>
      Array.from({ length: 8 }, (__, bit) => ((bits >> bit) & 1 ? 1 : -1)),
    )
    const sum = outcomes.reduce((total, outcome) => total + bettingEvidence(outcome), 0)
    expect(sum / outcomes.length).toBeCloseTo(1, 12)
  })

  test('m0 is what has to be beaten', () => {
    expect(bettingEvidence([0.2, 0.2, 0.2], 0.2)).toBeCloseTo(1, 12)
    expect(bettingEvidence([0.2, 0.2, 0.2], 0.3)).toBeLessThan(1)
  })

  test('a difference that no two scores have is an error', () => {
    expect(() => bettingEvidence([1.5])).toThrow(UserError)
    expect(() => bettingEvidence([Number.NaN])).toThrow(UserError)
    expect(() => bettingEvidence([0.5], 1)).toThrow(UserError)
    expect(() => largestSuiteEvidence(2.5)).toThrow(UserError)
  })
})
