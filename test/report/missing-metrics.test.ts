import { describe, expect, it } from 'vitest'
import { findMissingMetrics, renderMetrics } from '../../src/report/metrics.ts'

describe('a metric that the spec names and the harness does not print', () => {
  const printed = ['benchmarks', 'geomean_ns_per_op', 'BenchmarkParse/small.ns_per_op']

  it('is reported with the printed metrics and a suggestion', () => {
    expect(findMissingMetrics(['geomean_ns_op'], printed)).toEqual({
      fix: 'geomean_ns_op is not printed: did you mean geomean_ns_per_op? Name one of the printed metrics, or print it.',
      printed,
    })
  })

  it('can be a benchmark without its unit', () => {
    expect(findMissingMetrics(['BenchmarkParse/small'], printed)?.fix).toContain(
      'did you mean BenchmarkParse/small.ns_per_op?',
    )
  })

  it('can be unlike all printed metrics, or one of several', () => {
    expect(findMissingMetrics(['benchmarks', 'recall', 'geomean_ns'], printed)?.fix).toBe(
      'recall is not printed. geomean_ns is not printed: did you mean geomean_ns_per_op? Name one of the printed metrics, or print it.',
    )
  })

  it('can be the only one', () => {
    expect(findMissingMetrics(['bytes'], [])).toEqual({ fix: 'print bytes', printed: [] })
    expect(findMissingMetrics(printed, printed)).toBeNull()
  })

  it('is reported with at most forty others', () => {
    const many = Array.from({ length: 50 }, (_, at) => `b${at}.ns`)
    expect(findMissingMetrics(['x'], many)?.printed).toEqual([...many.slice(0, 40), 'and 10 more'])
  })
})

describe('the metrics of one execution', () => {
  it('are on one line when they are few', () => {
    expect(renderMetrics({ wall_seconds: 1 })).toEqual(['wall_seconds 1'])
    expect(renderMetrics({ a: 1, b: null, wall_seconds: 1 })).toEqual(['a 1, b missing'])
    expect(renderMetrics({})).toEqual(['no metric'])
  })

  it('are listed one per line when they are many', () => {
    const names = ['benchmarks', 'geomean_ns', 'a.ns', 'b.ns', 'c.ns', 'd.ns', 'long name.ns']
    const lines = renderMetrics(Object.fromEntries(names.map((name, at) => [name, at])))
    expect(lines.slice(0, 3)).toEqual(['7 metrics', '  benchmarks    0', '  geomean_ns    1'])
    expect(lines.at(-1)).toBe('  long name.ns  6')
  })
})
