import { z } from 'zod'
import type { BenchmarkAdapter } from './benchmarks.ts'
import { readUnitValues, parseToolJson, parseToolReport } from './tool-json.ts'

const PYTEST_EXAMPLE =
  '{"benchmarks": [{"name": "test_parse", "fullname": "tests/test_parse.py::test_parse", "stats": {"median": 0.0012, "mean": 0.0013, "min": 0.0011, "max": 0.002, "ops": 769.2}}]}'
const PYTEST_HINT = 'pytest --benchmark-only --benchmark-json="$WINNOW_RESULT_PATH"'
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
export const pytestBenchmark: BenchmarkAdapter = {
  example: PYTEST_EXAMPLE,
  hint: PYTEST_HINT,
  read: text => {
    const parsed = parseToolJson(text, PYTEST_EXAMPLE, PYTEST_HINT)
    const { benchmarks } = parseToolReport(report, parsed, {
      text,
      example: PYTEST_EXAMPLE,
      tool: 'pytest-benchmark',
    })
    return benchmarks.map(({ name, fullname, stats }) => ({
      name,
      fullName: fullname,
      values: readUnitValues(stats, FIELDS, { name, text, example: PYTEST_EXAMPLE }),
      line: name,
    }))
  },
}
