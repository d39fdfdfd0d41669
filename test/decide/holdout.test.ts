import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { judgeHoldout, isHoldoutPairNeeded } from '../../src/decide/holdout.ts'
import type { HoldoutRule } from '../../src/model/order.ts'
import type { Report } from '../../src/model/report.ts'
import { anOrder, aReport, aSpec, run } from './a-spec.ts'

const label = 'exp-001'
type Value = number | 'crashed' | 'missing'

function rule(rest: Partial<HoldoutRule> = {}): HoldoutRule {
  const fixed = { rule: 'holdout', command: 'x', metrics: ['bytes'], source: null } as const
  return { ...fixed, metrics: ['bytes'], scale: 'linear', pairs: 8, margin: 0, exact: false, ...rest }
}

function spec(direction: 'minimize' | 'maximize' = 'minimize') {
  return aSpec({ metric: { primary: { type: 'hard', name: 'bytes', direction } } })
}

function execution(side: 'base' | typeof label, value: Value) {
  const status = value === 'crashed' ? ('crashed' as const) : ('ok' as const)
  return run(side, typeof value === 'number' ? { bytes: value } : {}, { role: 'holdout', status })
}

function reported(pairs: readonly (readonly [base: Value, candidate: Value])[], rest: Partial<Report> = {}) {
  const executions = pairs.flatMap(([base, candidate]) => [
    execution('base', base),
    execution(label, candidate),
  ])
  return { ...aReport(executions), ...rest }
}

function verdict(report: Report, stop = rule(), direction: 'minimize' | 'maximize' = 'minimize') {
  return judgeHoldout({ spec: spec(direction), stop, report, label }).is
}

function times(count: number, pair: readonly [Value, Value]) {
  return Array.from({ length: count }, () => pair)
}

describe('a number that repeats exactly', () => {
  test.each([
    ['minimize', 100, 100, 0, 'passed'],
    ['minimize', 100, 101, 0, 'failed'],
    ['minimize', 100, 101, 1, 'passed'],
    ['minimize', 100, 99, 0, 'passed'],
    ['maximize', 100, 99, 0, 'failed'],
    ['maximize', 100, 99, 1, 'passed'],
  ] as const)('to %s, from %d to %d with a margin of %d: %s', (direction, base, candidate, margin, is) => {
    expect(verdict(reported(times(8, [base, candidate])), rule({ margin }), direction)).toBe(is)
  })

  test('under log the margin is a share of the base', () => {
    const stop = rule({ scale: 'log', margin: 0.01 })
    expect(verdict(reported(times(8, [1000, 1010])), stop)).toBe('passed')
    expect(verdict(reported(times(8, [1000, 1011])), stop)).toBe('failed')
    expect(verdict(reported(times(8, [0, 1])), stop)).toBe('failed')
  })

  test('needs two equal pairs of a deterministic harness, and all pairs when they differ', () => {
    const stop = rule({ exact: true })
    const more = (pairs: readonly (readonly [Value, Value])[], of = stop) =>
      isHoldoutPairNeeded(of, reported(pairs), label)
    expect([0, 1, 2].map(count => more(times(count, [5, 4])))).toEqual([true, true, false])
    expect(
      more([
        [5, 4],
        [5, 3],
      ]),
    ).toBe(true)
    expect(more(times(2, [5, 4]), rule())).toBe(true)
    expect(more([...times(7, [5, 4]), [6, 4]])).toBe(false)
  })
})

describe('a number that varies', () => {
  const noise = [0.1, -0.2, 0.3, -0.1, 0.2, -0.3, 0.15, -0.05]
  const pairs = (gain: number) => noise.map(shift => [100, 100 - gain + shift] as const)

  test('passes when harm is not shown and the estimate loses no more than the margin', () => {
    expect(verdict(reported(pairs(1)))).toBe('passed')
    expect(verdict(reported(pairs(-0.1)), rule({ margin: 0 }))).toBe('failed')
    expect(verdict(reported(pairs(-0.1)), rule({ margin: 0.2 }))).toBe('passed')
  })

  test('fails when harm is shown, for any margin', () => {
    expect(verdict(reported(pairs(-1)), rule({ margin: 1000 }))).toBe('failed')
  })

  test('is compared without logarithms where it has none', () => {
    const around = noise.map(shift => [1 + shift, -1 + shift] as const)
    expect(verdict(reported(around), rule({ scale: 'log', margin: 0.01 }))).toBe('passed')
  })

  test('never passes a loss and always a gain, in any unit', () => {
    const values = fc.array(fc.integer({ min: 900, max: 1100 }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(
        values,
        fc.constantFrom(1, 1000),
        fc.constantFrom('log', 'linear'),
        (bases, unit, scale) => {
          const shifted = (by: number) => bases.map(base => [base * unit, (base + by) * unit] as const)
          const stop = rule({ scale })
          expect(verdict(reported(shifted(-5)), stop)).toBe('passed')
          expect(verdict(reported(shifted(5)), stop)).toBe('failed')
        },
      ),
    )
  })
})

describe('failures on the holdout', () => {
  test('one of the candidate is a lost pair, two fail it', () => {
    expect(verdict(reported([...times(7, [100, 90]), [100, 'crashed']]))).toBe('passed')
    expect(verdict(reported([...times(6, [100, 90]), ...times(2, [100, 'crashed'])]))).toBe('failed')
    expect(verdict(reported(times(8, [100, 'missing'])))).toBe('failed')
    expect(verdict(reported([[100, 'crashed']]), rule({ pairs: 1 }))).toBe('failed')
  })

  test.each<[string, Report]>([
    ['the base twice', reported(times(2, ['crashed', 90]))],
    ['to print the metric for the base', reported(times(8, ['missing', 90]))],
    ['to run all pairs', reported(times(7, [100, 90]))],
    ['to run at all', reported([])],
    ['in the runner', reported(times(8, [100, 90]), { runner_error: 'no space' })],
    ['by the base tampering', reported(times(8, [100, 90]), { tampered: { during: 'base', path: 'x' } })],
  ])('%s gives no verdict', (_, report) => {
    expect(verdict(report)).toBe('retry')
  })

  test('tampering is refused', () => {
    const report = reported(times(8, [100, 90]), { tampered: { during: label, path: 'x' } })
    expect(verdict(report)).toBe('refused')
  })

  test('a holdout order has no verdict about a gain', () => {
    const report = reported(times(8, [100, 90]))
    const found = assessCandidate({ spec: spec(), order: anOrder(rule()), report, label, baseline: null })
    expect(found.outcome).not.toBe('eligible')
  })
})

describe('a holdout of benchmarks', () => {
  const executions = (counts: readonly [base: number, candidate: number]) =>
    Array.from({ length: 8 }, () => [
      run('base', { bytes: 100, benchmarks: counts[0] }, { role: 'holdout' }),
      run(label, { bytes: 1, benchmarks: counts[1] }, { role: 'holdout' }),
    ]).flat()

  test('fails for another number of benchmarks', () => {
    expect(verdict(aReport(executions([5, 5])))).toBe('passed')
    expect(verdict(aReport(executions([5, 4])))).toBe('failed')
    expect(verdict(aReport(executions([5, 6])))).toBe('failed')
  })
})
