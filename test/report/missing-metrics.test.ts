import { describe, expect, it } from 'vitest'
import { findMissingMetrics, renderMetrics } from '../../src/report/metrics.ts'

describe('a metric that the spec names and the harness does not print', () => {
  const printed = ['benchmarks', 'geomean_ns_per_op', 'BenchmarkParse/small.ns_per_op']

  it('is told with what is printed, and with the one that was meant', () => {
    expect(findMissingMetrics(['geomean_ns_op'], printed)).toEqual({
      fix: 'geomean_ns_op is not printed: did you mean geomean_ns_per_op? Name one of the printed metrics, or print it.',
      printed,
    })
  })

  it('may be a benchmark without its unit', () => {
    expect(findMissingMetrics(['BenchmarkParse/small'], printed)?.fix).toContain(
      'did you mean BenchmarkParse/small.ns_per_op?',
    )
  })

  it('may be like nothing that is printed, or stand among others', () => {
    expect(findMissingMetrics(['benchmarks', 'recall', 'geomean_ns'], printed)?.fix).toBe(
      'recall is not printed. geomean_ns is not printed: did you mean geomean_ns_per_op? Name one of the printed metrics, or print it.',
    )
  })

  it('may be the only one', () => {
    expect(findMissingMetrics(['bytes'], [])).toEqual({ fix: 'print bytes', printed: [] })
    expect(findMissingMetrics(printed, printed)).toBeNull()
  })

  it('is told beside forty others at most', () => {
    const many = Array.from({ length: 50 }, (_, at) => `b${at}.ns`)
    expect(findMissingMetrics(['x'], many)?.printed).toEqual([...many.slice(0, 40), 'and 10 more'])
  })
})

describe('the metrics of one execution', () => {
  it('stand on one line where they are few', () => {
    expect(renderMetrics({ wall_seconds: 1 })).toEqual(['wall_seconds 1'])
    expect(renderMetrics({ a: 1, b: null, wall_seconds: 1 })).toEqual(['a 1, b missing'])
    expect(renderMetrics({})).toEqual(['no metric'])
  })

  it('stand below each other where one is to be chosen of many', () => {
    const names = ['benchmarks', 'geomean_ns', 'a.ns', 'b.ns', 'c.ns', 'd.ns', 'long name.ns']
    const lines = renderMetrics(Object.fromEntries(names.map((name, at) => [name, at])))
    expect(lines.slice(0, 3)).toEqual(['7 metrics', '  benchmarks    0', '  geomean_ns    1'])
    expect(lines.at(-1)).toBe('  long name.ns  6')
  })
})
