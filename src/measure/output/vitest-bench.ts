import { z } from 'zod'
import type { Adapter, Benchmark } from './benchmarks.ts'
import { numbersOf, toolJson, toolReport } from './tool-json.ts'

const EXAMPLE =
  '{"files": [{"filepath": "/app/bench/parse.bench.ts", "groups": [{"fullName": "bench/parse.bench.ts > Parser", "benchmarks": [{"name": "small", "hz": 812.4, "mean": 1.23, "median": 1.22, "min": 1.2, "p75": 1.25, "p99": 1.4}]}]}]}'
const HINT = 'vitest bench --run --outputJson "$WINNOW_RESULT_PATH"'
const TIMES = { mean_ms: 'mean', min_ms: 'min', p75_ms: 'p75', p99_ms: 'p99' }

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
export const vitestBench: Adapter = {
  example: EXAMPLE,
  hint: HINT,
  read: text => {
    const parsed = toolJson(text, EXAMPLE, HINT)
    return Array.isArray(parsed) ? tinybench(parsed, text) : vitest(parsed, text)
  },
}

function vitest(parsed: unknown, text: string): Benchmark[] {
  const { files } = toolReport(vitestReport, parsed, { text, example: EXAMPLE, tool: 'vitest' })
  return files.flatMap(({ groups }) =>
    groups.flatMap(({ fullName, benchmarks }) =>
      benchmarks.map(benchmark => {
        const [, ...suites] = fullName.split(' > ')
        const { name } = benchmark
        const values = numbersOf(
          benchmark,
          { ...TIMES, ...medianIn(benchmark, 'median'), hz: 'hz' },
          told(name, text),
        )
        return { name: [...suites, name].join(' > '), fullName: `${fullName} > ${name}`, values, line: name }
      }),
    ),
  )
}

/** Since tinybench 3 latency and throughput are told apart; before, all numbers stood beside each other. */
function tinybench(parsed: unknown, text: string): Benchmark[] {
  const found = toolReport(tasks, parsed, { text, example: EXAMPLE, tool: 'tinybench' })
  return found.map(({ name, result }) => {
    const { latency, throughput } = result
    const times = latency ?? result
    const values = {
      ...numbersOf(times, { ...TIMES, ...medianIn(times, 'p50') }, told(name, text)),
      ...(latency === undefined
        ? numbersOf(result, { hz: 'hz' }, told(name, text))
        : numbersOf(throughput, { hz: 'mean' }, told(name, text))),
    }
    return { name, fullName: name, values, line: name }
  })
}

/** Older versions do not say it. */
function medianIn(stats: object, field: string): Record<string, string> {
  return Object.hasOwn(stats, field) ? { median_ms: field } : {}
}

function told(name: string, text: string) {
  return { name, text, example: EXAMPLE }
}
