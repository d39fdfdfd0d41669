import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { BENCHMARK_FORMATS } from '../../src/spec/schema-values.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { listPlannedFeatures } from '../../src/spec/planned-features.ts'
import { metricsIn, recording, refusalOf } from './recorded.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/adapters.md'), 'utf8')
const specs = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(match => match[1] ?? '')

describe('docs/adapters.md', () => {
  it('has a spec for each format', () => {
    const outputs = specs.map(text => parse(text).measurement.output)
    expect(new Set(outputs)).toEqual(new Set(BENCHMARK_FORMATS))
  })

  it.each(specs)('shows a spec that winnow runs: %s', text => {
    const { spec } = parseSpec(text, { file: '.winnow/speed.yaml' })
    expect(listPlannedFeatures(spec)).toEqual([])
    expect(spec.metric.primary.direction).toBe('minimize')
  })

  it('names units as they are read', () => {
    const units = {
      go: ['go/two-packages.txt', ['ns_per_op', 'bytes_per_op', 'allocs_per_op', 'mb_per_s']],
      cargo: ['cargo/bench.txt', ['ns_per_iter']],
      'pytest-benchmark': [
        'pytest-benchmark/current.json',
        ['median_seconds', 'mean_seconds', 'min_seconds', 'max_seconds', 'ops_per_second'],
      ],
      hyperfine: [
        'hyperfine/version-2.json',
        [
          'mean_seconds',
          'median_seconds',
          'min_seconds',
          'max_seconds',
          'user_seconds',
          'system_seconds',
          'memory_bytes',
          'cpu_seconds',
        ],
      ],
      vitest: ['vitest/bench.json', ['mean_ms', 'min_ms', 'p75_ms', 'p99_ms', 'median_ms', 'hz']],
      'benchmark-js': ['benchmark-js/suite.txt', ['ns_per_op', 'ops_per_second']],
      mitata: ['mitata/run.txt', ['ns_per_iter']],
    } as const
    for (const output of BENCHMARK_FORMATS) {
      const [file, documented] = units[output]
      const names = Object.keys(metricsIn(output, recording(file)))
      expect(
        documented.filter(unit => !PAGE.includes(`\`${unit}\``) && !PAGE.includes(`.${unit}\``)),
      ).toEqual([])
      expect(documented.filter(unit => !names.some(name => name.endsWith(`.${unit}`)))).toEqual([])
    }
  })

  it('names primary metrics that the format has', () => {
    const recorded = {
      go: 'go/count.txt',
      cargo: 'cargo/bench.txt',
      'pytest-benchmark': 'pytest-benchmark/current.json',
      hyperfine: 'hyperfine/version-1.20.json',
      vitest: 'vitest/bench.json',
      'benchmark-js': 'benchmark-js/suite.txt',
      mitata: 'mitata/run.txt',
    } as const
    for (const { metric, measurement } of specs.map(text => parseSpec(text, { file: 'x' }).spec)) {
      const format = BENCHMARK_FORMATS.find(each => each === measurement.output) ?? 'go'
      expect(metricsIn(format, recording(recorded[format]))).toHaveProperty([metric.primary.name])
    }
  })

  it.each(BENCHMARK_FORMATS)('%s: the error of an empty output says a command of this page', output => {
    const [, hint = ''] = refusalOf(output, '').message.split('use: ')
    const words = hint.split(' ').filter(word => word.startsWith('-'))
    expect(words.filter(word => !PAGE.includes(word.split('=')[0] ?? word))).toEqual([])
  })
})
