import { describe, expect, it } from 'vitest'
import { readByTool } from '../../src/cli/compare-spec.ts'
import { FILES, project } from './project.ts'

/** What a benchmark tool prints: it takes the same time, however fast what it measures is. */
const GO = 'printf "BenchmarkSum-2 \\t 1000 \\t %d ns/op\\nPASS\\n" $(wc -c < src/value)\n'

describe('a benchmark tool repeats until a time has passed, and its own numbers are compared', () => {
  it.each([
    ["go test -run '^$' -bench . ./...", 'go', 'geomean_ns_per_op', ''],
    ['go test -bench=Sum -benchtime 100ms', 'go', 'geomean_ns_per_op', ''],
    ['cargo +nightly bench parse', 'cargo', 'geomean_ns_per_iter', ''],
    [
      'python3 -m pytest --benchmark-only -q',
      'pytest-benchmark',
      'geomean_median_seconds',
      ' --benchmark-json="$WINNOW_RESULT_PATH"',
    ],
    ['npx vitest bench --run', 'vitest', 'geomean_mean_ms', ' --outputJson "$WINNOW_RESULT_PATH"'],
    ["hyperfine 'node a.js'", 'hyperfine', 'geomean_median_seconds', ' --export-json "$WINNOW_RESULT_PATH"'],
  ])('%s', (command, output, metric, added) => {
    expect(readByTool(command, undefined)).toEqual({ command: `${command}${added}`, output, metric })
    expect(readByTool(command, 'x.y')).toMatchObject({ output, metric: 'x.y' })
    expect(readByTool(command, 'wall_seconds')).toBeNull()
  })

  it.each([
    'go test ./...',
    'go test -benchmem ./...',
    'go build && ./bench',
    'cargo bench --no-run',
    'cargo run --release',
    'pytest -q',
    'pytest --benchmark-disable',
    'npm run bench',
    'vitest run',
    'node hyperfine.js',
  ])('but not of %s', command => {
    expect(readByTool(command, undefined)).toBeNull()
  })

  it('is told where to write only where that is certain', () => {
    const own = 'cd a && pytest --benchmark-json="$WINNOW_RESULT_PATH"'
    expect(readByTool(own, undefined)?.command).toBe(own)
    expect(() => readByTool('cd a && pytest --benchmark-only', undefined)).toThrow(
      'pytest-benchmark needs to know where to read the numbers',
    )
  })
})

describe('winnow compare', () => {
  const files = { ...FILES, 'bench/go': GO }

  it('compares what the tool measured', async () => {
    const person = project(files)
    person.write('src/value', 'a\n')
    const { code, out } = await person.winnow(
      'compare',
      'main',
      '--',
      'sh',
      'bench/go',
      'test',
      '-bench',
      '.',
    )
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('is better than main: geomean_ns_per_op 100 -> 2 (-98.0 %)'),
    ])
  })
})
