import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Benchmark,
  type BenchmarkAdapter,
  computeBenchmarkMetrics,
  parseDecimal,
} from '../../src/measure/output/benchmarks.ts'
import { readHarnessOutput } from '../../src/measure/output/read-output.ts'
import { BENCHMARK_FORMATS } from '../../src/spec/schema-values.ts'
import { aSpec } from '../decide/a-spec.ts'
import { metricsIn, RECORDED, recording, refusalOf } from './recorded.ts'
import { scratch } from './scratch.ts'

const adapter: BenchmarkAdapter = { read: () => [], example: 'valid', hint: 'bench' }

function benchmark(name: string, values: Benchmark['values'], fullName = `pkg/${name}`): Benchmark {
  return { name, fullName, values, line: name }
}

function metrics(...found: Benchmark[]) {
  return computeBenchmarkMetrics(found, adapter).metrics
}

describe('the metrics of benchmarks', () => {
  test('are each by its unit, the geometric mean of each unit, and how many there are', () => {
    expect(metrics(benchmark('a', { ns: 2, kb: 1 }), benchmark('b', { ns: 8, kb: 4 }))).toEqual({
      benchmarks: 2,
      geomean_ns: 4,
      geomean_kb: 2,
      'a.ns': 2,
      'a.kb': 1,
      'b.ns': 8,
      'b.kb': 4,
    })
  })

  test('have no geometric mean of a unit that not all of them have', () => {
    const names = Object.keys(metrics(benchmark('a', { ns: 2, kb: 1 }), benchmark('b', { ns: 8 })))
    expect(names).toEqual(['benchmarks', 'geomean_ns', 'a.ns', 'a.kb', 'b.ns'])
    expect(metrics(benchmark('b', { ns: 8 }), benchmark('a', { ns: 2, kb: 1 }))).not.toHaveProperty(
      'geomean_kb',
    )
  })

  test('a geometric mean with a 0 in it is missing, which is never good', () => {
    expect(metrics(benchmark('a', { allocs: 0 }), benchmark('b', { allocs: 8 }))['geomean_allocs']).toBeNull()
  })

  test('a geometric mean lies between the least and the most, and knows no order', () => {
    const values = fc.array(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(values, all => {
        const found = all.map((ns, at) => benchmark(`b${at}`, { ns }))
        const mean = Number(metrics(...found)['geomean_ns'])
        expect(mean).toBeGreaterThanOrEqual(Math.min(...all) * (1 - 1e-9))
        expect(mean).toBeLessThanOrEqual(Math.max(...all) * (1 + 1e-9))
        expect(Number(metrics(...found.toReversed())['geomean_ns'])).toBeCloseTo(
          mean,
          6 - Math.ceil(Math.log10(mean)),
        )
      }),
    )
  })

  test('several of one name have their full names, all of them, whichever came first', () => {
    const [one, other] = [benchmark('a', { ns: 1 }, 'x.a'), benchmark('a', { ns: 2 }, 'y.a')]
    const expected = { benchmarks: 3, 'x.a.ns': 1, 'y.a.ns': 2, 'b.ns': 3 }
    expect(metrics(one, benchmark('b', { ns: 3 }), other)).toMatchObject(expected)
    expect(metrics(other, one, benchmark('b', { ns: 3 }))).toMatchObject(expected)
  })

  test('names keep everything but control characters and runs of white space', () => {
    const names = Object.keys(metrics(benchmark('  Parser >\tdeep \u0007 json: "a/b"=1 ', { ns: 1 })))
    expect(names).toContain('Parser > deep json: "a/b"=1.ns')
  })

  test('names that become one are refused, not added up', () => {
    const twice = () => metrics(benchmark('a  b', { ns: 1 }, 'same'), benchmark('a b', { ns: 2 }, 'same'))
    expect(twice).toThrow('same.ns is given twice')
  })

  test('none at all is no result', () => {
    expect(() => metrics()).toThrow('no benchmark was run; use: bench')
  })
})

describe('a number of a tool', () => {
  test.each([
    ['12', 12],
    ['1,234.56', 1234.56],
    ['1,234,567', 1_234_567],
    ['0.25', 0.25],
    ['1.5e+06', 1_500_000],
  ])('%s is %d', (text, value) => expect(parseDecimal(text)).toBe(value))

  test.each(['', 'NaN', '+Inf', 'n/a', '1.234,56', '12,34', '0x10', '1e999', '12ms', '1 000'])(
    '%j is none',
    text => expect(parseDecimal(text)).toBeNull(),
  )
})

describe('where it is looked for', () => {
  const text = recording('hyperfine/two.json')

  test('is $WINNOW_RESULT_PATH, else stdout', () => {
    expect(metricsIn('hyperfine', text, 'result')).toEqual(metricsIn('hyperfine', text))
    const dir = scratch()
    const paths = { result: join(dir, 'result.json'), stdout: join(dir, 'stdout') }
    writeFileSync(paths.result, text)
    writeFileSync(paths.stdout, 'Benchmark 1: short\n')
    const spec = aSpec({ measurement: { output: 'hyperfine' } })
    expect(readHarnessOutput(paths, spec).metrics['benchmarks']).toBe(2)
    truncateSync(paths.result, 0)
    writeFileSync(paths.stdout, text)
    expect(() => readHarnessOutput(paths, spec)).toThrow(
      'nothing was printed or written; use: hyperfine --export-json',
    )
  })

  test.each(BENCHMARK_FORMATS)(
    '%s: nothing, or METRIC lines, is no result even where no printed metric is needed',
    output => {
      const { message, detail } = refusalOf(output, ' \n')
      expect(message).toContain('nothing was printed or written; use: ')
      expect(detail.example).not.toBe('')
      expect(refusalOf(output, 'METRIC bytes=1\n').detail.example).toBe(detail.example)
    },
  )

  test('is read although it is larger than a result object may be', () => {
    const data = '0.001,'.repeat(2_000_000)
    const stats = `{"median":1,"mean":1,"min":1,"max":1,"ops":1,"data":[${data}0]}`
    const large = `{"benchmarks":[{"name":"t","fullname":"f::t","stats":${stats}}]}`
    expect(metricsIn('pytest-benchmark', large)).toMatchObject({ benchmarks: 1, 't.median_seconds': 1 })
  })
})

describe('every recording', () => {
  const files = BENCHMARK_FORMATS.flatMap(output =>
    readdirSync(join(RECORDED, output)).map(file => [output, `${output}/${file}`] as const),
  )
  const README = readFileSync(join(RECORDED, 'README.md'), 'utf8')

  test.each(files)('%s: %s has its tool, version and command in the README', (_, file) => {
    expect(README).toContain(`\`${file}\``)
  })

  test.each(files)('%s: %s is read the same with colours and Windows line ends', (output, file) => {
    const escape = String.fromCharCode(27)
    const plain = recording(file)
    const dressed = plain
      .replaceAll('\n', '\r\n')
      .replaceAll('PASS', `${escape}[32mPASS${escape}[0m`)
      .replaceAll('time:', `${escape}[1mtime:${escape}[0m`)
    const read = (text: string) => {
      try {
        return metricsIn(output, text)
      } catch (error) {
        return String(error)
      }
    }
    expect(read(`\uFEFF${dressed}`)).toEqual(read(plain))
  })

  /** Of a recording that ends in a failed benchmark, the results before it. */
  function longestReadable(output: (typeof BENCHMARK_FORMATS)[number], text: string) {
    const lines = text.split('\n')
    for (let kept = lines.length; kept > 0; kept -= 1) {
      const metrics = readOrNull(output, lines.slice(0, kept).join('\n'))
      if (metrics !== null) return metrics
    }
    return null
  }

  test.each(files)('%s: %s that is cut off anywhere is an error, or less of the same', (output, file) => {
    const whole = recording(file)
    const complete = Object.values(longestReadable(output, whole) ?? {})
    for (let part = 1; part < 40; part += 1) {
      const cut = readOrNull(output, whole.slice(0, Math.floor((whole.length * part) / 40)))
      const each = Object.entries(cut ?? {}).filter(
        ([name]) => name !== 'benchmarks' && !name.startsWith('geomean_'),
      )
      expect(each.filter(([, value]) => !complete.includes(value))).toEqual([])
    }
  })
})

function readOrNull(output: (typeof BENCHMARK_FORMATS)[number], text: string) {
  try {
    return metricsIn(output, text)
  } catch {
    return null
  }
}
