import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareMetric, type Thresholds } from '../../src/decide/ce/comparison.ts'
import type { MetricReading, Objective } from '../../src/decide/metrics.ts'

const thresholds: Thresholds = { method: 'absolute', noise: 0.02, relative: 0.05, minimumImprovement: 0.3 }
const hard: Objective = {
  name: 'm',
  direction: 'minimize',
  role: 'required',
  judged: false,
  target: null,
  maxRegression: null,
}
const up: Objective = { ...hard, direction: 'maximize' }
const judged: Objective = { ...up, judged: true }
const relative: Thresholds = { ...thresholds, method: 'relative' }
const paired: Thresholds = { ...thresholds, method: 'paired' }

function of(value: number, ...samples: number[]): MetricReading {
  return { value, samples }
}
function verdict(objective: Objective, base: MetricReading, candidate: MetricReading, rules: Thresholds) {
  return compareMetric(objective, base, candidate, rules)?.verdict
}

describe('the sign of a delta', () => {
  test.each([
    ['minimize', 10, 8, 2],
    ['minimize', 10, 12, -2],
    ['maximize', 10, 12, 2],
    ['maximize', 10, 8, -2],
  ] as const)('%s %d -> %d is %d: positive is better', (direction, base, candidate, delta) => {
    const found = compareMetric({ ...hard, direction }, of(base), of(candidate), thresholds)
    expect(found?.delta).toBe(delta)
    expect(found?.relative).toBe(delta / 10)
  })
})

describe('method absolute', () => {
  test.each([
    ['more than the threshold better', 10, 9.75, 'improved'],
    ['exactly the threshold better', 10, 9.875, 'inconclusive'],
    ['equal', 10, 10, 'inconclusive'],
    ['exactly the threshold worse', 10, 10.125, 'inconclusive'],
    ['more than the threshold worse', 10, 10.25, 'regressed'],
  ] as const)('%s is %4$s', (_, base, candidate, expected) => {
    expect(verdict(hard, of(base), of(candidate), { ...thresholds, noise: 0.125 })).toBe(expected)
  })

  test('a judge metric uses minimum_improvement instead of noise_threshold', () => {
    expect(verdict(judged, of(3), of(3.25), thresholds)).toBe('inconclusive')
    expect(verdict(judged, of(3), of(3.5), thresholds)).toBe('improved')
    expect(verdict(judged, of(3), of(2.75), thresholds)).toBe('inconclusive')
    expect(verdict(judged, of(3), of(2.5), thresholds)).toBe('regressed')
  })
})

describe('method relative', () => {
  test.each([
    [100, 94, 'improved'],
    [100, 95, 'inconclusive'],
    [100, 105, 'inconclusive'],
    [100, 106, 'regressed'],
    [-100, -106, 'improved'],
    [-100, -94, 'regressed'],
  ] as const)('%d -> %d is %s', (base, candidate, expected) => {
    expect(verdict(hard, of(base), of(candidate), relative)).toBe(expected)
  })

  test('a base of 0 is inconclusive, with a relative gain of 0', () => {
    const found = compareMetric(hard, of(0), of(-50), relative)
    expect(found).toEqual({ verdict: 'inconclusive', delta: 50, relative: 0, violated: false })
  })

  test('a judge improvement must exceed minimum_improvement with every method', () => {
    expect(verdict(judged, of(1), of(1.25), relative)).toBe('inconclusive')
    expect(verdict(judged, of(1), of(1.5), relative)).toBe('improved')
  })
})

describe('method paired', () => {
  test('improved when the smallest difference exceeds the threshold', () => {
    expect(verdict(hard, of(100, 100, 102), of(90, 90, 92), paired)).toBe('improved')
    expect(verdict(hard, of(100, 100, 102), of(90, 90, 98), paired)).toBe('inconclusive')
  })

  test('regressed when the largest difference is beyond the threshold on the other side', () => {
    expect(verdict(hard, of(100, 100, 100), of(110, 110, 112), paired)).toBe('regressed')
    expect(verdict(hard, of(100, 100, 100), of(110, 110, 104), paired)).toBe('inconclusive')
  })

  test('a difference of exactly the threshold shows nothing either way', () => {
    expect(verdict(hard, of(100, 100, 100), of(95, 95, 95), paired)).toBe('inconclusive')
    expect(verdict(hard, of(100, 100, 100), of(105, 105, 105), paired)).toBe('inconclusive')
  })

  test('samples are compared by index and the last base sample is repeated', () => {
    expect(verdict(hard, of(100, 120, 100), of(93, 112, 93, 93), paired)).toBe('improved')
    expect(verdict(hard, of(100, 100, 90), of(93, 93, 83, 88), paired)).toBe('inconclusive')
  })

  test('surplus base samples are not used', () => {
    expect(verdict(hard, of(100, 100, 1), of(90, 90), paired)).toBe('improved')
  })

  test('a base of 0 is inconclusive', () => {
    expect(verdict(hard, of(0, 0), of(-9, -9), paired)).toBe('inconclusive')
  })

  test.each([
    ['the base', of(100), of(50, 50)],
    ['the candidate', of(100, 100), of(50)],
  ])('without samples of %s a hard metric cannot improve', (_, base, candidate) => {
    expect(verdict(hard, base, candidate, paired)).toBe('inconclusive')
  })

  test('without samples a hard metric can still regress, by the relative threshold', () => {
    expect(verdict(hard, of(100), of(106), paired)).toBe('regressed')
    expect(verdict(hard, of(100), of(105), paired)).toBe('inconclusive')
  })

  test('without samples a judge metric compares aggregates with minimum_improvement', () => {
    expect(verdict(judged, of(3), of(3.5), paired)).toBe('improved')
    expect(verdict(judged, of(3), of(2.75), paired)).toBe('inconclusive')
    expect(verdict(judged, of(3), of(2.5), paired)).toBe('regressed')
  })
})

describe('max_regression', () => {
  const within = (value: number, type: 'relative' | 'absolute' = 'relative'): Objective => ({
    ...hard,
    maxRegression: { type, value },
  })

  test('a regression inside a looser bound stays regressed without being a violation', () => {
    expect(compareMetric(within(0.1), of(100), of(107), relative)).toMatchObject({
      verdict: 'regressed',
      violated: false,
    })
  })

  test('a tighter bound turns an inconclusive loss into a regression', () => {
    expect(compareMetric(within(0.01), of(100), of(103), relative)).toMatchObject({
      verdict: 'regressed',
      violated: true,
    })
  })

  test('an absolute bound is in metric units, and reaching it exactly is allowed', () => {
    expect(compareMetric(within(7, 'absolute'), of(100), of(107), relative)?.violated).toBe(false)
    expect(compareMetric(within(7, 'absolute'), of(100), of(108), relative)?.violated).toBe(true)
  })

  test('it is ignored when the objective improved', () => {
    expect(compareMetric(within(0), of(100), of(90), relative)).toMatchObject({
      verdict: 'improved',
      violated: false,
    })
  })

  test('a negative bound is ignored', () => {
    expect(compareMetric(within(-0.1), of(100), of(100), relative)?.violated).toBe(false)
    expect(compareMetric(within(-0.1), of(100), of(110), relative)?.violated).toBe(true)
  })

  test('relative with a base of 0 allows nothing', () => {
    expect(compareMetric(within(0.5), of(0), of(0.001), relative)).toMatchObject({
      verdict: 'regressed',
      violated: true,
    })
    expect(compareMetric(within(0.5), of(0), of(0), relative)?.violated).toBe(false)
  })
})

describe('laws', () => {
  const number = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  const method = fc.constantFrom('absolute', 'relative', 'paired' as const)
  const direction = fc.constantFrom('minimize', 'maximize' as const)
  const cases = fc.record({ base: number, candidate: number, method, direction })

  test('swapping the sides swaps the sign of the delta', () => {
    fc.assert(
      fc.property(cases, ({ base, candidate, method, direction }) => {
        const rules = { ...thresholds, method }
        const there = compareMetric({ ...hard, direction }, of(base), of(candidate), rules)
        const back = compareMetric({ ...hard, direction }, of(candidate), of(base), rules)
        expect(there?.delta).toBeCloseTo(-(back?.delta ?? Number.NaN), 12)
      }),
    )
  })

  test('mirroring values and direction changes nothing', () => {
    fc.assert(
      fc.property(cases, ({ base, candidate, method }) => {
        const rules = { ...thresholds, method }
        const down = compareMetric(hard, of(base, base), of(candidate, candidate), rules)
        const mirrored = compareMetric(up, of(-base, -base), of(-candidate, -candidate), rules)
        expect(mirrored).toEqual(down)
      }),
    )
  })

  test('the unit of a metric does not matter to relative comparison', () => {
    const sized = fc.double({ min: 1e-3, max: 1e3, noNaN: true })
    const powerOfTwo = fc.integer({ min: -20, max: 20 }).map(exponent => 2 ** exponent)
    fc.assert(
      fc.property(sized, sized, powerOfTwo, (base, candidate, unit) => {
        const plain = compareMetric(hard, of(base), of(candidate), relative)
        const scaled = compareMetric(hard, of(base * unit), of(candidate * unit), relative)
        expect(scaled?.verdict).toBe(plain?.verdict)
        expect(scaled?.relative).toBe(plain?.relative)
      }),
    )
  })

  test('a larger gain is never judged worse', () => {
    const order = ['regressed', 'inconclusive', 'improved']
    fc.assert(
      fc.property(cases, fc.double({ min: 0, max: 1e6, noNaN: true }), (drawn, more) => {
        const rules = { ...thresholds, method: drawn.method }
        const less = verdict(hard, of(drawn.base, drawn.base), of(drawn.candidate, drawn.candidate), rules)
        const better = drawn.candidate - more
        const greater = verdict(hard, of(drawn.base, drawn.base), of(better, better), rules)
        expect(order.indexOf(greater ?? '')).toBeGreaterThanOrEqual(order.indexOf(less ?? ''))
      }),
    )
  })

  test('a gain over a base next to 0 stays finite, and a gain', () => {
    const found = compareMetric(hard, of(Number.MIN_VALUE), of(-1), relative)
    expect(found).toMatchObject({ verdict: 'improved', relative: Number.MAX_VALUE })
  })

  test('an infinite difference is no comparison', () => {
    expect(compareMetric(up, of(-Number.MAX_VALUE), of(Number.MAX_VALUE), thresholds)).toBeNull()
  })
})
