import { z } from 'zod'
import type { BenchmarkAdapter, Benchmark } from './benchmarks.ts'
import { readUnitValues, parseToolJson, parseToolReport } from './tool-json.ts'

const VITEST_EXAMPLE =
  '{"files": [{"filepath": "/app/bench/parse.bench.ts", "groups": [{"fullName": "bench/parse.bench.ts > Parser", "benchmarks": [{"name": "small", "hz": 812.4, "mean": 1.23, "median": 1.22, "min": 1.2, "p75": 1.25, "p99": 1.4}]}]}]}'
const VITEST_HINT = 'vitest bench --run --outputJson "$WINNOW_RESULT_PATH"'
const VITEST_TIMES = { mean_ms: 'mean', min_ms: 'min', p75_ms: 'p75', p99_ms: 'p99' }

const vitestReport = z.object({
  files: z.array(
    z.object({
      groups: z.array(
        z.object({ fullName: z.string(), benchmarks: z.array(z.looseObject({ name: z.string() })) }),
      ),
    }),
  ),
})
const tasks = z.array(
  z.object({
    name: z.string(),
    result: z.looseObject({
      latency: z.record(z.string(), z.unknown()).optional(),
      throughput: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
)

/** `vitest bench --outputJson`, or the tasks of tinybench, which vitest measures with: times in milliseconds. */
export const vitestBench: BenchmarkAdapter = {
  example: VITEST_EXAMPLE,
  hint: VITEST_HINT,
  read: text => {
    const parsed = parseToolJson(text, VITEST_EXAMPLE, VITEST_HINT)
    return Array.isArray(parsed) ? parseTinybench(parsed, text) : parseVitest(parsed, text)
  },
}

function parseVitest(parsed: unknown, text: string): Benchmark[] {
  const { files } = parseToolReport(vitestReport, parsed, { text, example: VITEST_EXAMPLE, tool: 'vitest' })
  return files.flatMap(({ groups }) =>
    groups.flatMap(({ fullName, benchmarks }) =>
      benchmarks.map(benchmark => {
        const [, ...suites] = fullName.split(' > ')
        const { name } = benchmark
        const values = readUnitValues(
          benchmark,
          { ...VITEST_TIMES, ...getMedianField(benchmark, 'median'), hz: 'hz' },
          buildErrorContext(name, text),
        )
        return { name: [...suites, name].join(' > '), fullName: `${fullName} > ${name}`, values, line: name }
      }),
    ),
  )
}

/** Since tinybench 3 latency and throughput are told apart; before, all numbers stood beside each other. */
function parseTinybench(parsed: unknown, text: string): Benchmark[] {
  const found = parseToolReport(tasks, parsed, { text, example: VITEST_EXAMPLE, tool: 'tinybench' })
  return found.map(({ name, result }) => {
    const { latency, throughput } = result
    const times = latency ?? result
    const values = {
      ...readUnitValues(
        times,
        { ...VITEST_TIMES, ...getMedianField(times, 'p50') },
        buildErrorContext(name, text),
      ),
      ...(latency === undefined
        ? readUnitValues(result, { hz: 'hz' }, buildErrorContext(name, text))
        : readUnitValues(throughput, { hz: 'mean' }, buildErrorContext(name, text))),
    }
    return { name, fullName: name, values, line: name }
  })
}

/** Older versions do not say it. */
function getMedianField(stats: object, field: string): Record<string, string> {
  return Object.hasOwn(stats, field) ? { median_ms: field } : {}
}

function buildErrorContext(name: string, text: string) {
  return { name, text, example: VITEST_EXAMPLE }
}
