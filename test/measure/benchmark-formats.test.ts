import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readHarnessOutput } from '../../src/measure/output/read-output.ts'
import type { BenchmarkFormat } from '../../src/spec/schema-values.ts'
import { aSpec } from '../decide/a-spec.ts'
import { metricsIn, recording, refusalOf } from './recorded.ts'
import { scratch } from './scratch.ts'

function named(output: BenchmarkFormat, file: string): string[] {
  return Object.keys(metricsIn(output, recording(`${output}/${file}`)))
}

function told(output: BenchmarkFormat, text: string) {
  const { message, detail } = refusalOf(output, text)
  return [message, detail.line ?? '']
}

describe('a tool that prints a result beside the one it wrote', () => {
  const goOutput = (ns: number) => `pkg: example.com/a\nBenchmarkA-8 \t 100\t ${ns} ns/op\nPASS\n`
  const read = (result: string, stdout: string) => {
    const dir = scratch()
    const paths = { result: join(dir, 'result.json'), stdout: join(dir, 'stdout') }
    writeFileSync(paths.result, result)
    writeFileSync(paths.stdout, stdout)
    return readHarnessOutput(paths, aSpec({ measurement: { output: 'go' } })).metrics
  }

  test('is refused where the two disagree', () => {
    expect(() => read(goOutput(450), goOutput(12.5))).toThrow(
      /^[^:]*\$WINNOW_RESULT_PATH holds \S+ = 450, and stdout says \S+ = 12\.5: report it in one of them/,
    )
  })

  test.each([goOutput(450), 'goos: linux\nrunning\n', ''])('is read where they do not: %j', stdout => {
    expect(Object.values(read(goOutput(450), stdout))).toEqual([1, 450, 450])
  })
})

describe('go test -bench', () => {
  const GO = 'pkg: example.com/a\nBenchmarkA-8 \t 100\t 12.5 ns/op\nPASS\nok  \texample.com/a\t1s\n'
  const withLine = (line: string) => GO.replace('PASS', `${line}\nPASS`)

  test('has the units of every benchmark; only a name that two packages have is told with its package', () => {
    expect(metricsIn('go', recording('go/two-packages.txt'))).toMatchObject({
      benchmarks: 4,
      geomean_ns_per_op: 102.128161587,
      geomean_allocs_per_op: null,
      'BenchmarkSize/size-10.ns_per_op': 6.932,
      'BenchmarkSize/size-1000.words_per_op': 1000,
      'example.com/text/parse.BenchmarkCount.mb_per_s': 3515.1,
      'example.com/text/render.BenchmarkCount.bytes_per_op': 416,
      'example.com/text/render.BenchmarkCount.allocs_per_op': 1,
    })
  })

  test('names are the same with 1 and with 2 processors, verbose or not', () => {
    expect(named('go', 'one-cpu.txt')).toEqual(named('go', 'verbose.txt'))
    expect(named('go', 'one-cpu.txt')).toContain('BenchmarkSize/size-10.ns_per_op')
  })

  test('with several numbers of processors they are part of the name', () => {
    const names = named('go', 'cpus.txt')
    expect(names).toContain('BenchmarkSize/size-10.ns_per_op')
    expect(names).toContain('BenchmarkSize/size-10-2.ns_per_op')
  })

  test('-json says the same, however packages are mixed', () => {
    const text = recording('go/test2json.txt')
    const expected = metricsIn('go', text)
    expect(expected).toMatchObject({ benchmarks: 4, 'BenchmarkSize/size-10.ns_per_op': 6.261 })
    const lines = text.trimEnd().split('\n')
    const [parse, render] = ['/parse"', '/render"'].map(name => lines.filter(line => line.includes(name)))
    const mixed = (parse ?? []).flatMap((line, at) => [
      line,
      ...(render?.[at] === undefined ? [] : [render[at]]),
    ])
    expect(mixed).toHaveLength(lines.length)
    expect(metricsIn('go', `${mixed.join('\n')}\n`)).toEqual(expected)
    expect(told('go', text.slice(0, -20))[0]).toContain('no event of go test -json')
  })

  test('-count repeats a benchmark: its median counts', () => {
    expect(metricsIn('go', recording('go/count.txt'))).toMatchObject({
      benchmarks: 2,
      'BenchmarkSize/size-10.ns_per_op': 4.781,
      'BenchmarkSize/size-1000.ns_per_op': 712.8,
    })
    const even = GO.replace('PASS', 'BenchmarkA-8 \t 100\t 13.5 ns/op\nPASS')
    expect(metricsIn('go', even)['BenchmarkA.ns_per_op']).toBe(13)
  })

  test('a unit of its own is told as a name', () => {
    const line = 'BenchmarkB-8 \t 1\t 1.5e+06 ns/op\t 99.5 hit-rate%\t 3 p99-ns\t 7 µs/frame'
    expect(metricsIn('go', withLine(line))).toMatchObject({
      'BenchmarkB.ns_per_op': 1_500_000,
      'BenchmarkB.hit_ratepercent': 99.5,
      'BenchmarkB.p99_ns': 3,
      'BenchmarkB.µs_per_frame': 7,
    })
  })

  test.each([
    ['fail.txt', 'a benchmark failed', '--- FAIL: BenchmarkFails'],
    ['panic.txt', 'not whole', 'BenchmarkPanics-2   \tpanic: index out of range'],
    ['none.txt', 'no benchmark was run', ''],
  ])('%s: %s', (file, message, line) => {
    expect(told('go', recording(`go/${file}`))).toEqual([expect.stringContaining(message), line])
  })

  test.each([
    ['FAIL\texample.com/b [build failed]', 'a benchmark failed'],
    ['panic: runtime error', 'a benchmark failed'],
    ['BenchmarkB-8 \t', 'not whole'],
    ['BenchmarkB-8 \t 100\t 12.5', 'is not a number with its unit'],
    ['BenchmarkB-8 \t 100\t NaN ns/op', '"NaN" is not a number'],
    ['BenchmarkB-8 \t 100\t +Inf ns/op', '"+Inf" is not a number'],
    ['BenchmarkB-8 \t 100\t n/a ns/op', '"n/a" is not a number'],
    ['BenchmarkB-8 \t 100\t 1 ns/op\t 2 ns/op', 'ns/op is given twice'],
    ['BenchmarkB-8 \t 100\t 1 ns/op\t 2 ()', 'is no name'],
    ['BenchmarkA-8 \t 100\t 1 ns/op\t 2 B/op', 'has other units than before'],
  ])('%j is an error with that line', (line, message) => {
    expect(told('go', withLine(line))).toEqual([expect.stringContaining(message), line])
  })

  test('that ends without PASS is cut off', () => {
    const [cut = ''] = GO.split('PASS')
    expect(told('go', cut)).toEqual([expect.stringContaining('cut off'), 'BenchmarkA-8 \t 100\t 12.5 ns/op'])
    expect(told('go', `${cut}${GO}`)[0]).toContain('cut off')
  })
})

describe('cargo bench', () => {
  const RUN =
    'running 1 test\ntest a ... bench:       1,234.50 ns/iter (+/- 7.89)\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n'

  test('libtest and criterion of one run, all in nanoseconds an iteration', () => {
    expect(metricsIn('cargo', recording('cargo/bench.txt'))).toEqual({
      benchmarks: 7,
      geomean_ns_per_iter: 223.016545391,
      'big::count_big.ns_per_iter': 126_841.58,
      'count_small.ns_per_iter': 2.22,
      'count small.ns_per_iter': 2.2469,
      'count/10.ns_per_iter': 6.5382,
      'count/10000.ns_per_iter': 6830.2,
      'count/1000000.ns_per_iter': 769_320,
      'count/a name that is much longer than the column.ns_per_iter': 1.2623,
    })
  })

  test('what changed since the last run is not a time', () => {
    expect(metricsIn('cargo', recording('cargo/criterion-change.txt'))).toMatchObject({
      'count small.ns_per_iter': 2.6362,
    })
    expect(metricsIn('cargo', recording('cargo/criterion-0.9.txt'))).toEqual({
      benchmarks: 2,
      geomean_ns_per_iter: 9_849_339.01336,
      'parse/small.ns_per_iter': 78_582,
      'parse/a document of several hundred kilobytes.ns_per_iter': 1_234_500_000,
    })
  })

  test.each([
    ['ps', 0.0123],
    ['ns', 12.3],
    ['us', 12_300],
    ['\u00b5s', 12_300],
    ['\u03bcs', 12_300],
    ['ms', 12_300_000],
    ['s', 12_300_000_000],
  ])('criterion in %s', (unit, value) => {
    const text = `a/b                     time:   [11.1 ${unit} 12.3 ${unit} 13.4 ${unit}]\n`
    expect(metricsIn('cargo', text)['a/b.ns_per_iter']).toBe(value)
  })

  test('bounds and estimate may have different units', () => {
    const text = 'a time:   [999.1 ns 1.0002 µs 1.0010 µs]\n'
    expect(metricsIn('cargo', text)['a.ns_per_iter']).toBe(1000.2)
  })

  test('a benchmark that panics is an error, although cargo has printed others', () => {
    expect(told('cargo', recording('cargo/failed.txt'))).toEqual([
      'a benchmark failed',
      'test panics ... FAILED',
    ])
  })

  test.each([
    [RUN.replace('1,234.50', 'n/a'), '"n/a" is not a number'],
    [RUN.replace('1 measured', '2 measured'), '2 were measured, but 1 are shown'],
    [RUN.replace(/ns\/iter.*/, ''), 'not whole'],
    [RUN.slice(0, 70), 'cut off'],
    [`running 1 test\n${RUN}`, 'cut off'],
    [`${RUN}${RUN}`, 'a.ns_per_iter is given twice'],
    ['a   time:   [1.0 ns 2.0 ns 3.', 'not [low estimate high]'],
    ['a   time:   [1.0 cycles 2.0 cycles 3.0 cycles]', 'not [low estimate high]'],
    ['a   time:   [NaN ns NaN ns NaN ns]', 'not [low estimate high]'],
    ['\n     time:   [1.0 ns 2.0 ns 3.0 ns]', 'a time of no benchmark'],
    ['Benchmarking a: Analyzing\n', 'was begun and has no time'],
    ["thread 'main' panicked at benches/a.rs:1:1:\n", 'a benchmark failed'],
    [
      'running 1 test\ntest t ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n',
      'no benchmark was run',
    ],
  ])('%j is an error', (text, message) => {
    expect(told('cargo', text)[0]).toContain(message)
  })
})

describe('pytest-benchmark', () => {
  test.each(['current.json', 'debian.json'])('%s has one shape: seconds, and rounds a second', file => {
    const names = named('pytest-benchmark', file)
    expect(names).toContain('geomean_median_seconds')
    expect(names.filter(name => name.startsWith('test_sort[10].'))).toEqual(
      ['median_seconds', 'mean_seconds', 'min_seconds', 'max_seconds', 'ops_per_second'].map(
        unit => `test_sort[10].${unit}`,
      ),
    )
    expect(names).toContain('tests/a/test_sort.py::test_same.median_seconds')
    expect(names).toContain('tests/b/test_sum.py::test_same.median_seconds')
  })

  test.each([
    ['{"benchmarks": []}', 'no benchmark was run'],
    [
      '{"benchmarks": [{"name": "t", "fullname": "f::t", "stats": {"median": NaN}}]}',
      'not one whole JSON document',
    ],
    [
      '{"benchmarks": [{"name": "t", "fullname": "f::t", "stats": {"median": null}}]}',
      't has no number as its median',
    ],
    ['{"benchmarks": [{"name": "t", "fullname": "f::t"}]}', 'benchmarks.0.stats is not as expected'],
    ['{"benchmarks": [{"name": "t"}]}', 'benchmarks.0.fullname is not as expected'],
    ['{"results": []}', 'not a report of pytest-benchmark: benchmarks'],
    ['3 passed in 0.38s', 'not one whole JSON document'],
  ])('%s is an error', (text, message) => expect(told('pytest-benchmark', text)[0]).toContain(message))
})

describe('hyperfine', () => {
  test('is told by its command, or the name it was given', () => {
    expect(metricsIn('hyperfine', recording('hyperfine/two.json'))).toMatchObject({
      benchmarks: 2,
      'short.mean_seconds': 0.0018465986666666668,
      'short.user_seconds': 0.0007216666666666666,
      'sleep 0.002.median_seconds': 0.002817023,
      geomean_system_seconds: null,
    })
    expect(named('hyperfine', 'param.json')).toContain('sleep 0.003.min_seconds')
  })

  test('commands of one name are told apart by their parameters', () => {
    const names = named('hyperfine', 'param-named.json')
    expect(names).toContain('nap (t=1).mean_seconds')
    expect(names).toContain('nap (t=2).mean_seconds')
  })

  test('hyperfine 2 has the same names for the same things', () => {
    const two = metricsIn('hyperfine', recording('hyperfine/version-2.json'))
    expect(two).toMatchObject({
      benchmarks: 2,
      geomean_mean_seconds: 0.026,
      'parse 1.max_seconds': 0.014,
      'parse 1.user_seconds': 0.01,
      'parse 1.cpu_seconds': 0.011,
      'parse --size 2.memory_bytes': 8_388_608,
    })
    const first = metricsIn('hyperfine', recording('hyperfine/version-1.20.json'))
    expect(first['parse.memory_bytes']).toBeCloseTo(4_237_994.67, 1)
    const units = (name: string, of: object) =>
      Object.keys(of).flatMap(key => (key.startsWith(`${name}.`) ? [key.slice(name.length)] : []))
    expect(units('parse 1', two)).toEqual(expect.arrayContaining(units('parse', first)))
  })

  test('a quantity that is not known keeps its name', () => {
    const text = recording('hyperfine/version-2.json').replaceAll('time_cpu', 'instructions')
    expect(metricsIn('hyperfine', text)['parse 1.instructions']).toBe(0.011)
  })

  const two = recording('hyperfine/version-2.json')
  const one = recording('hyperfine/one.json')
  test.each([
    [recording('hyperfine/failed.json'), 'false ended with exit code 1'],
    [two.replace('"exit_code": 0', '"exit_code": 3'), 'parse 1 ended with exit code 3'],
    [two.replace('"exit_code": 0', '"exit_code": null'), 'parse 1 was ended by a signal'],
    [two.replace('"schema_version": 2', '"schema_version": 3'), 'schema_version 3 of hyperfine is not known'],
    [two.replace('"mean": 0.013', '"mean": null'), 'parse 1 has no number as its mean'],
    [one.replace(/"median".*/, ''), 'true has no number as its median'],
    [one.replace('"results"', '"result"'), 'not a report of hyperfine: results'],
    [
      one.replace(
        /\n {4}\}\n/,
        '\n    },\n    { "command": "true", "mean": 1, "median": 1, "min": 1, "max": 1, "user": 1, "system": 1 }\n',
      ),
      'true.mean_seconds is given twice',
    ],
    [one.slice(0, 300), 'not one whole JSON document'],
    [`Benchmark 1: true\n${one}`, 'use: hyperfine --export-json'],
    [one.replace('"min":', '"mean": 0, "min":'), '"mean" is given twice'],
  ])('%# is an error: %s', (text, message) => expect(told('hyperfine', text)[0]).toContain(message))
})

describe('vitest bench', () => {
  test('is told by its suites; by its file only where two files have the name', () => {
    const names = named('vitest', 'bench.json')
    expect(names).toContain('geomean_median_ms')
    expect(names).toContain('Parser > parses JSON.mean_ms')
    expect(names).toContain('Parser > deep > parses JSON.hz')
    expect(names).toContain('bench/parse.bench.js > top level.p99_ms')
    expect(names).toContain('bench/more/sort.bench.js > top level.p99_ms')
    expect(names.filter(name => name.includes('later') || name.includes('one day'))).toEqual([])
  })

  test('a benchmark that throws is an error, although vitest exits with 0', () => {
    expect(told('vitest', recording('vitest/throws.json'))).toEqual([
      'throws has no number as its mean: it failed, or did not run',
      '"name": "throws",',
    ])
  })

  test('a version that says no median has none', () => {
    const names = Object.keys(
      metricsIn('vitest', recording('vitest/bench.json').replaceAll('"median"', '"middle"')),
    )
    expect(names.filter(name => name.includes('median'))).toEqual([])
  })

  test.each([
    ['{"files": []}', 'no benchmark was run'],
    [
      '{"files": [{"groups": [{"fullName": "a.bench.ts"}]}]}',
      'files.0.groups.0.benchmarks is not as expected',
    ],
    [
      '{"files": [{"groups": [{"fullName": "a.bench.ts", "benchmarks": [{"name": "x", "mean": null}]}]}]}',
      'x has no number as its mean',
    ],
    ['[{"name": "x"}]', 'not a report of tinybench: 0.result'],
    ['', 'nothing was printed or written; use: vitest bench --run --outputJson "$WINNOW_RESULT_PATH"'],
  ])('%s is an error', (text, message) => expect(told('vitest', text)[0]).toContain(message))
})

describe('tinybench', () => {
  test('has the units of vitest, which measures with it', () => {
    expect(metricsIn('vitest', recording('vitest/tinybench.json'))).toMatchObject({
      benchmarks: 2,
      'parses JSON.mean_ms': 0.0001847940016076105,
      'parses JSON.median_ms': 0.00018000000000029104,
      'parses JSON.hz': 5588172.140429946,
    })
  })

  test('before version 3 all numbers stood beside each other', () => {
    const result = { hz: 100, mean: 10, min: 9, p75: 11, p99: 12 }
    expect(metricsIn('vitest', JSON.stringify([{ name: 'a', result }]))).toMatchObject({
      'a.mean_ms': 10,
      'a.hz': 100,
    })
  })

  test('a task that throws is an error', () => {
    expect(told('vitest', recording('vitest/tinybench-throws.json'))[0]).toContain(
      'throws has no number as its mean',
    )
  })
})

describe('benchmark.js', () => {
  test('has every benchmark, as time and as rate', () => {
    expect(metricsIn('benchmark-js', recording('benchmark-js/suite.txt'))).toMatchObject({
      benchmarks: 2,
      'split on blanks.ops_per_second': 13_777_566,
      'match#words.ns_per_op': 235.167127398,
    })
  })

  test('one that throws is not among them', () => {
    expect(metricsIn('benchmark-js', recording('benchmark-js/throws.txt'))).toMatchObject({ benchmarks: 1 })
  })

  test.each([
    ['parse  12,345 ops/sec', 'parse'],
    ['│ parse │ 12,345 ops/s │', 'parse'],
    ['lookup static route: 12,345 ops/sec', 'lookup static route'],
    ['2 x parse x 12,345 ops/sec ±1% (9 runs sampled)', '2 x parse'],
  ])('other tools that print %s are read', (line, name) => {
    expect(metricsIn('benchmark-js', line)).toMatchObject({ [`${name}.ops_per_second`]: 12_345 })
  })

  test('several suites may have a benchmark of one name', () => {
    const text = 'Sync:\nid 10 ops/sec\nother 5 ops/sec\n\nAsync:\nid 20 ops/sec\n'
    const names = Object.keys(metricsIn('benchmark-js', text)).filter(name =>
      name.endsWith('.ops_per_second'),
    )
    expect(names).toEqual(['Sync > id.ops_per_second', 'other.ops_per_second', 'Async > id.ops_per_second'])
    expect(told('benchmark-js', 'id 10 ops/sec\nid 20 ops/sec\n')[0]).toContain('is given twice')
  })

  test.each(['parse x 1,23 ops/sec', 'parse x NaN ops/sec', 'parse x 0 ops/sec'])('%s is refused', line => {
    expect(told('benchmark-js', line)[0]).toContain('a line with ops/sec that is not whole')
  })
})

describe('mitata', () => {
  test('has every benchmark, in nanoseconds, with colours and groups or not', () => {
    expect(metricsIn('mitata', recording('mitata/run.txt'))).toMatchObject({
      benchmarks: 2,
      'split on blanks.ns_per_iter': 70.34,
      'match words.ns_per_iter': 144.59,
    })
    expect(metricsIn('mitata', 'noop    1.25 µs/iter  (1 µs … 2 µs)')).toMatchObject({
      'noop.ns_per_iter': 1250,
    })
  })

  test('one that throws is an error, though the tool exits with 0', () => {
    expect(told('mitata', recording('mitata/throws.txt'))).toEqual([
      expect.stringContaining('a benchmark failed'),
      expect.stringContaining('throws'),
    ])
  })
})
