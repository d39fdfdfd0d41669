import { describe, expect, test } from 'vitest'
import { renderForgedOutput } from '../../src/probes/forged-output.ts'
import type { BenchmarkFormat } from '../../src/spec/schema-values.ts'
import { aSpec } from '../decide/a-spec.ts'
import { metricsIn, recording } from '../measure/recorded.ts'

describe('forged output', () => {
  test.each<[BenchmarkFormat, string, string]>([
    ['go', 'two-packages.txt', 'geomean_ns_per_op'],
    ['go', 'one-cpu.txt', 'geomean_ns_per_op'],
    ['cargo', 'bench.txt', 'geomean_ns_per_iter'],
    ['cargo', 'criterion-0.9.txt', 'geomean_ns_per_iter'],
    ['pytest-benchmark', 'current.json', 'geomean_median_seconds'],
    ['hyperfine', 'two.json', 'geomean_median_seconds'],
    ['hyperfine', 'param.json', 'geomean_median_seconds'],
    ['vitest', 'bench.json', 'geomean_mean_ms'],
    ['benchmark-js', 'suite.txt', 'geomean_ns_per_op'],
    ['mitata', 'run.txt', 'geomean_ns_per_iter'],
  ])('of %s (%s) has the names of the base, and numbers ten times as good', (output, file, primary) => {
    const base = metricsIn(output, recording(`${output}/${file}`))
    const spec = aSpec({ metric: { primary: { name: primary } }, measurement: { output } })
    const forged = metricsIn(output, renderForgedOutput(spec, { ...base, wall_seconds: 1 }) ?? '')
    expect(new Set(Object.keys(forged))).toEqual(new Set(Object.keys(base)))
    expect(forged[primary]).toBeCloseTo(Number(base[primary]) / 10, 2)
  })

  test('improves what may win, and leaves what could hold it back as it is', () => {
    const metric = {
      primary: { name: 'rate', direction: 'maximize' },
      objectives: [
        { name: 'bytes', direction: 'minimize' },
        { name: 'memory', direction: 'minimize', role: 'guardrail' },
      ],
    }
    const base = { rate: 10, bytes: 101, memory: 7, tests_passed: true, wall_seconds: 3 }
    expect(JSON.parse(renderForgedOutput(aSpec({ metric }), base) ?? '')).toEqual({
      rate: 100,
      bytes: 10,
      memory: 7,
      tests_passed: true,
    })
    const lines = aSpec({ metric, measurement: { output: 'metric-lines' } })
    expect(renderForgedOutput(lines, { rate: 0 })).toBe('METRIC rate=10\n')
  })

  test('is nothing where the harness prints nothing', () => {
    expect(renderForgedOutput(aSpec(), { wall_seconds: 3, cpu_seconds: 2 })).toBeNull()
  })
})
