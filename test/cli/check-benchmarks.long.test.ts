import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BenchmarkFormat } from '../../src/spec/schema-values.ts'
import { recording } from '../measure/recorded.ts'
import { type Project, project } from './project.ts'

const ROOT = join(import.meta.dirname, '../..')
/** A tool's own caches and settings, which lie in the home directory of who runs this test. */
const TOOLS = ['GOCACHE', 'GOFLAGS', 'CARGO_HOME', 'RUSTUP_HOME']

/** One execution is enough to read what a tool prints: no noise is asked for. */
function spec(output: BenchmarkFormat, command: string, primary: string): string {
  return [
    'winnow: 1',
    `metric: { primary: { name: ${JSON.stringify(primary)} } }`,
    'measurement:',
    `  command: ${JSON.stringify(command)}`,
    `  output: ${output}`,
    `  env: [${TOOLS.join(', ')}]`,
    '  stability: {}',
    'gates: [{ name: tests, command: "true" }]',
    'scope: { mutable: [src/] }',
    '',
  ].join('\n')
}

interface Tried {
  output: BenchmarkFormat
  command: string
  primary: string
  files: Record<string, string>
}

function tried({ output, command, primary, files }: Tried): Project {
  return project({ 'src/value': 'a\n', ...files, '.winnow/speed.yaml': spec(output, command, primary) })
}

/** What a program prints first, or null where there is none that starts. */
function says(program: string, ...args: string[]): string | null {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return null
  }
}

const go = says('go', 'env', 'GOCACHE')
const cargo = says('rustup', 'show', 'home') ?? says('cargo', '--version')
const python = says('python3', '-c', 'import sys, pytest_benchmark; print(sys.executable)')
const hyperfine = says('hyperfine', '--version')
const HOME = process.env['HOME'] ?? ''

const REAL: readonly (Tried & { there: string | null; benchmarks: number; env?: Record<string, string> })[] =
  [
    {
      output: 'go',
      there: go,
      env: { GOCACHE: go ?? '', GOFLAGS: '-count=1' },
      command: 'go test -run "^$" -bench . -benchtime 10x -benchmem ./...',
      primary: 'geomean_ns_per_op',
      benchmarks: 2,
      files: {
        'go.mod': 'module example.com/a\n\ngo 1.19\n',
        'a_test.go': [
          'package a',
          'import "testing"',
          'func BenchmarkOne(b *testing.B) { for i := 0; i < b.N; i++ { _ = make([]byte, 100) } }',
          'func BenchmarkTwo(b *testing.B) { b.Run("sub", BenchmarkOne) }',
          '',
        ].join('\n'),
      },
    },
    {
      output: 'cargo',
      there: cargo,
      env: {
        CARGO_HOME: process.env['CARGO_HOME'] ?? join(HOME, '.cargo'),
        RUSTUP_HOME: process.env['RUSTUP_HOME'] ?? join(HOME, '.rustup'),
      },
      command: 'RUSTC_BOOTSTRAP=1 cargo bench --offline',
      primary: 'tests::adds.ns_per_iter',
      benchmarks: 1,
      files: {
        'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
        'src/lib.rs': [
          '#![feature(test)]',
          'extern crate test;',
          'mod tests {',
          '    #[bench]',
          '    fn adds(b: &mut test::Bencher) { b.iter(|| test::black_box(1) + 1); }',
          '}',
          '',
        ].join('\n'),
      },
    },
    {
      output: 'pytest-benchmark',
      there: python,
      command: `${python ?? ''} -m pytest -q -p no:cacheprovider --benchmark-max-time=0.01 --benchmark-json="$WINNOW_RESULT_PATH"`,
      primary: 'geomean_median_seconds',
      benchmarks: 1,
      files: { 'test_a.py': 'def test_sum(benchmark):\n    benchmark(sum, range(10))\n' },
    },
    {
      output: 'hyperfine',
      there: hyperfine,
      command: 'hyperfine -N -r 3 -n nap "sleep 0.001" --export-json "$WINNOW_RESULT_PATH"',
      primary: 'nap.mean_seconds',
      benchmarks: 1,
      files: {},
    },
    {
      output: 'vitest',
      there: ROOT,
      command: `ln -s ${JSON.stringify(join(ROOT, 'node_modules'))} node_modules && node node_modules/vitest/vitest.mjs bench --run --outputJson "$WINNOW_RESULT_PATH"`,
      primary: 'Parser > small.mean_ms',
      benchmarks: 1,
      files: {
        'package.json': '{ "type": "module" }\n',
        'a.bench.js': [
          "import { bench, describe } from 'vitest'",
          "describe('Parser', () => {",
          "  bench('small', () => { JSON.parse('[1]') }, { time: 5, iterations: 3, warmupTime: 1 })",
          '})',
          '',
        ].join('\n'),
      },
    },
  ]

describe('winnow check with a benchmark tool that is installed here', () => {
  for (const { there, benchmarks, env = {}, ...real } of REAL) {
    it.skipIf(there === null)(`reads what ${real.output} prints`, { timeout: 120_000 }, async () => {
      const { code, out, err } = await tried(real).winnowWith({ env }, 'check', '--no-probes', '--json')
      expect([err, code]).toEqual(['', 0])
      const { metrics } = JSON.parse(out).tried
      expect(metrics).toMatchObject({ benchmarks, [real.primary]: expect.any(Number) })
    })
  }
})

/** The same, of a tool that is not: what it printed once. */
function recorded(
  output: BenchmarkFormat,
  file: string,
  primary: string,
  to = '"$WINNOW_RESULT_PATH"',
): Project {
  const command = `cat recording > ${to}`
  return tried({ output, command, primary, files: { recording: recording(file) } })
}

describe('winnow check with a recorded output', () => {
  it('lists every metric that was found', async () => {
    const { code, out } = await recorded(
      'go',
      'go/two-packages.txt',
      'geomean_ns_per_op',
      '/dev/stdout',
    ).winnow('check', '--no-probes')
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}tried: 19 metrics in \S+ s; passed tests$/m)
    expect(out).toMatch(/^ {4}geomean_ns_per_op +102\.128$/m)
    expect(out).toMatch(/^ {4}geomean_allocs_per_op +missing$/m)
    expect(out).toMatch(/^ {4}example\.com\/text\/render\.BenchmarkCount\.allocs_per_op +1$/m)
  })

  it.each([
    ['cargo', 'cargo/bench.txt', 'count/a name that is much longer than the column.ns_per_iter'],
    ['hyperfine', 'hyperfine/version-2.json', 'parse --size 2.memory_bytes'],
    ['vitest', 'vitest/tinybench.json', 'parses JSON.median_ms'],
    ['pytest-benchmark', 'pytest-benchmark/debian.json', 'test_sort[10].median_seconds'],
  ] as const)('%s: %s, with a primary called "%s"', async (output, file, primary) => {
    const { code, out, err } = await recorded(output, file, primary).winnow('check', '--no-probes')
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`compared: ${primary} (primary, lower is better)`)
  })

  it('says which metric was meant', async () => {
    const { code, err } = await recorded('go', 'go/count.txt', 'BenchmarkSize/size-10').winnow(
      'check',
      '--no-probes',
    )
    expect(code).toBe(13)
    expect(err.split('\n').map(line => line.trim())).toEqual(
      expect.arrayContaining([
        'it printed:',
        'BenchmarkSize/size-1000.ns_per_op',
        'fix: BenchmarkSize/size-10 is not printed: did you mean BenchmarkSize/size-10.ns_per_op? Name one of the printed metrics, or print it.',
      ]),
    )
  })

  it('shows the line of a benchmark that failed, and a valid one', async () => {
    const { code, err } = await recorded('go', 'go/fail.txt', 'geomean_ns_per_op').winnow(
      'check',
      '--no-probes',
    )
    expect(code).toBe(13)
    expect(err).toContain('a benchmark failed')
    expect(err).toContain('in: --- FAIL: BenchmarkFails')
    expect(err).toContain('valid: BenchmarkParse-8')
  })
})
