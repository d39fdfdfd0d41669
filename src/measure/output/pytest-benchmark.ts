import { z } from 'zod'
import type { Adapter } from './benchmarks.ts'
import { numbersOf, toolJson, toolReport } from './tool-json.ts'

const EXAMPLE =
  '{"benchmarks": [{"name": "test_parse", "fullname": "tests/test_parse.py::test_parse", "stats": {"median": 0.0012, "mean": 0.0013, "min": 0.0011, "max": 0.002, "ops": 769.2}}]}'
const HINT = 'pytest --benchmark-only --benchmark-json="$WINNOW_RESULT_PATH"'
const FIELDS = {
  median_seconds: 'median',
  mean_seconds: 'mean',
  min_seconds: 'min',
  max_seconds: 'max',
  ops_per_second: 'ops',
}

const report = z.object({
  benchmarks: z.array(z.object({ name: z.string(), fullname: z.string(), stats: z.unknown() })),
})

/** `--benchmark-json`, which says every time in seconds. */
export const pytestBenchmark: Adapter = {
  example: EXAMPLE,
  hint: HINT,
  read: text => {
    const parsed = toolJson(text, EXAMPLE, HINT)
    const { benchmarks } = toolReport(report, parsed, { text, example: EXAMPLE, tool: 'pytest-benchmark' })
    return benchmarks.map(({ name, fullname, stats }) => ({
      name,
      fullName: fullname,
      values: numbersOf(stats, FIELDS, { name, text, example: EXAMPLE }),
      line: name,
    }))
  },
}
