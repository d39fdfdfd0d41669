import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_TASKS } from '../../src/model/tasks.ts'
import { readOutputTail } from '../../src/measure/output/capped-file.ts'
import { readFailed } from '../../src/measure/output/failure-output.ts'
import { parseMetricLines, readHarnessOutput, readScore } from '../../src/measure/output/read-output.ts'
import { findDuplicateKey, parseResultObject } from '../../src/measure/output/result-object.ts'
import { aSpec } from '../decide/a-spec.ts'
import { scratch } from './scratch.ts'

function left(files: { result?: string; stdout?: string }) {
  const dir = scratch()
  const paths = { result: join(dir, 'result.json'), stdout: join(dir, 'stdout') }
  if (files.result !== undefined) writeFileSync(paths.result, files.result)
  if (files.stdout !== undefined) writeFileSync(paths.stdout, files.stdout)
  return paths
}
const builtIn = aSpec({ metric: { primary: { type: 'hard', name: 'wall_seconds', direction: 'minimize' } } })

describe('where a result is looked for', () => {
  test('the result file comes first, and stdout beside it may be a log', () => {
    const logs = [
      '',
      'done',
      '{"bytes": "2 kB"}',
      '{"epoch": 1}\n{"epoch": 2}',
      '{"msg": "bytes", "n": 3}',
      'METRIC other=2',
    ]
    for (const stdout of logs) {
      const paths = left({ result: '{"bytes": 1}', stdout })
      expect(readHarnessOutput(paths, aSpec()).metrics).toEqual({ bytes: 1 })
    }
  })

  test.each(['{"bytes": 1}', '{"metrics": {"bytes": 1}}\n', 'METRIC bytes=1', '> bench\n{"bytes": 1.0}'])(
    'a result on stdout that agrees with the result file is fine: %s',
    stdout => {
      const paths = left({ result: '{"bytes": 1}', stdout })
      expect(readHarnessOutput(paths, aSpec()).metrics).toEqual({ bytes: 1 })
    },
  )

  test.each([
    ['an object', '{"bytes": 450}'],
    ['metrics in an object', '{"metrics": {"bytes": 450}}'],
    ['an object among other lines', 'noise\n{"bytes": 450}\nmore noise'],
    ['a METRIC line', 'noise\nMETRIC bytes=450'],
    ['a second METRIC line', 'METRIC bytes=-5\nMETRIC bytes=450'],
  ])('%s on stdout that disagrees with the result file is an error', (_, stdout) => {
    const paths = left({ result: '{"bytes": -5}', stdout })
    expect(() => readHarnessOutput(paths, aSpec())).toThrow(
      '$WINNOW_RESULT_PATH holds bytes = -5, and stdout says bytes = 450: report it in one of them',
    )
  })

  test('a gate that one channel passes and the other fails is an error', () => {
    const paths = left({ result: '{"bytes": 1, "ok": true}', stdout: 'METRIC ok=false' })
    expect(() => readHarnessOutput(paths, aSpec())).toThrow('ok = true, and stdout says ok = false')
  })

  test('then the whole of stdout as one object', () => {
    expect(readHarnessOutput(left({ stdout: '\n {"bytes": 2}\n' }), aSpec()).metrics).toEqual({ bytes: 2 })
  })

  test('and METRIC lines beside an object that says otherwise are none', () => {
    const say = (stdout: string) => () => readHarnessOutput(left({ stdout }), aSpec())
    expect(say('METRIC bytes=3\n{"bytes": 450}\n')).toThrow(
      'a METRIC line says bytes = 3, and a JSON object bytes = 450: report it in one of them, or the same in both',
    )
    expect(say('{"bytes": 450}\n{\nMETRIC bytes=3\n')).toThrow('a METRIC line says bytes = 3')
    expect(say('METRIC bytes=3\n{"bytes": 3, "log": 1}\n')().metrics).toEqual({ bytes: 3 })
  })

  test('then METRIC lines between anything else', () => {
    const stdout = '{"log": 1}\nMETRIC bytes=3\nMETRIC ok = true\ndone\n'
    expect(readHarnessOutput(left({ stdout }), aSpec()).metrics).toEqual({ bytes: 3, ok: true })
  })

  test('with output metric-lines nothing but lines', () => {
    const spec = aSpec({ measurement: { output: 'metric-lines' } })
    expect(() => readHarnessOutput(left({ stdout: '{"bytes": 2}' }), spec)).toThrow('bytes is needed')
  })

  test('built-in metrics need nothing', () => {
    expect(readHarnessOutput(left({ stdout: '{ not json' }), builtIn).metrics).toEqual({})
    expect(readHarnessOutput(left({}), builtIn).metrics).toEqual({})
  })

  test('every other metric does', () => {
    expect(() => readHarnessOutput(left({ stdout: 'hello' }), aSpec())).toThrow(
      /^[^:]*stdout is not a result, but /,
    )
    expect(() => readHarnessOutput(left({ stdout: ' \n' }), aSpec())).toThrow('stdout is empty, but ')
  })

  test('a result file that is no object is an error, whatever stdout says', () => {
    expect(() => readHarnessOutput(left({ result: '12', stdout: '{"bytes": 2}' }), aSpec())).toThrow(
      'one JSON object',
    )
  })

  test('no link is followed and no flood is read', () => {
    const dir = scratch()
    const paths = { result: join(dir, 'result.json'), stdout: join(dir, 'stdout') }
    symlinkSync('/etc/hostname', paths.result)
    writeFileSync(paths.stdout, '{"bytes": 2}')
    expect(readHarnessOutput(paths, aSpec()).metrics).toEqual({ bytes: 2 })
    truncateSync(paths.stdout, 2 ** 33)
    expect(() => readHarnessOutput(paths, aSpec())).toThrow('too large')
  })
})

describe('a result object', () => {
  test('holds numbers and booleans, at the top or under metrics', () => {
    expect(parseResultObject('{"a": 1.5, "ok": false, "metrics": {"b": -2, "yes": true}}')?.metrics).toEqual({
      a: 1.5,
      ok: false,
      b: -2,
      yes: true,
    })
  })

  test('keeps what a harness writes about its tasks; a number of that name is a metric, and a judge writes itself', () => {
    const read = (feedback: unknown, judged = false) =>
      parseResultObject(JSON.stringify({ feedback, ...(judged ? { items: [] } : {}) }), { judged })
    expect(read('no\nsource')).toEqual({ metrics: {}, feedback: { '': 'no source' } })
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`t${at}`, 'x'.repeat(900)]))
    const kept = Object.values(read(many)?.feedback ?? {})
    expect([kept.length, new Set(kept.map(text => text.length))]).toEqual([30, new Set([400])])
    expect(read(0.5)?.metrics).toEqual({ feedback: 0.5 })
    expect(() => read({ a: 1 })).toThrow('"feedback" is neither a number nor a boolean')
    expect(() => read('text', true)).toThrow('"feedback"')
  })

  test('keeps tasks and artifacts; evo and judge sections are understood', () => {
    const text = JSON.stringify({
      score: 0.5,
      tasks: { a: 1, b: null },
      tasks_meta: { a: { direction: 'max' } },
      started_at: 'now',
      ended_at: 'later',
      items: [{ id: '1', bucket: 'x', content: 'text' }],
      artifacts: { model: 'out/model.bin' },
    })
    expect(parseResultObject(text)).toEqual({
      metrics: { score: 0.5 },
      tasks: { a: 1, b: null },
      tasks_meta: { a: { direction: 'maximize' } },
      artifacts: { model: 'out/model.bin' },
    })
    const many = Object.fromEntries(Array.from({ length: MAX_TASKS + 1 }, (_, at) => [`t${at}`, 1]))
    expect(() => parseResultObject(JSON.stringify({ tasks: many }))).toThrow('"tasks" has 1001 tasks')
    const long = { ['x'.repeat(201)]: 1 }
    expect(() => parseResultObject(JSON.stringify({ tasks: long }))).toThrow('an id of 201 characters')
  })

  test.each([
    ['a name given twice', '{"a": 1, "a": 2}', '"a" is given twice'],
    ['a name given twice deep inside', '{"tasks": {"t": 1, "t": 0}}', '"t" is given twice'],
    ['a name at the top and under metrics', '{"a": 1, "metrics": {"a": 1}}', 'a is given twice'],
    [
      'a task that is true',
      '{"tasks": {"a": 1, "t": true}}',
      '"tasks.t" is true: the score of a task is a number, print 0 or 1',
    ],
    [
      'a task that is false',
      '{"tasks": {"t": false}}',
      '"tasks.t" is false: the score of a task is a number',
    ],
    ['a text', '{"latency": "12ms"}', '"latency" is neither a number nor a boolean'],
    ['a list', '{"latency": [1]}', '"latency" is neither'],
    ['a text under metrics', '{"metrics": {"a": "1"}}', '"metrics.a"'],
    ['artifacts that are no paths', '{"artifacts": {"a": 1}}', '"artifacts.a"'],
    ['a name that winnow measures itself', '{"wall_seconds": 0.001}', 'wall_seconds is measured by winnow'],
  ])('%s is an error', (_, text, message) => {
    expect(() => parseResultObject(text)).toThrow(message)
  })

  test('the error shows the line and a valid example', () => {
    const text = '{\n  "a": 1,\n  "latency": "12ms"\n}'
    expect(() => parseResultObject(text)).toThrow(
      expect.objectContaining({
        detail: { line: '"latency": "12ms"', example: expect.stringContaining('latency_ms') },
      }),
    )
  })

  test('what is printed but not finite is missing, never a number', () => {
    expect(parseResultObject('{"a": null, "b": 1e999}')?.metrics).toEqual({ a: null, b: null })
    expect(parseMetricLines('METRIC a=NaN\nMETRIC b=-inf\n')?.metrics).toEqual({ a: null, b: null })
  })

  test('no name reaches a prototype', () => {
    const printed = parseResultObject('{"__proto__": 1, "constructor": 2}')
    expect(Object.entries(printed?.metrics ?? {})).toEqual([
      ['__proto__', 1],
      ['constructor', 2],
    ])
  })

  test('any numbers come back as they were written', () => {
    const names = fc
      .string({ minLength: 1, unit: 'binary' })
      .filter(name => !/_seconds|max_rss|metrics|tasks|items|singletons|artifacts|_at$|__proto__/.test(name))
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.double({ noNaN: true, noDefaultInfinity: true }), { maxKeys: 5 }),
        metrics => {
          const said = JSON.parse(JSON.stringify(metrics))
          expect(parseResultObject(JSON.stringify(metrics))?.metrics).toEqual({ ...said })
        },
      ),
    )
  })
})

describe('a duplicate member', () => {
  test('is found at any depth and in no valid object', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        expect(findDuplicateKey(JSON.stringify(value))).toBeNull()
      }),
    )
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (key, value) => {
        const [name, inner] = [JSON.stringify(key), JSON.stringify(value)]
        expect(findDuplicateKey(`[{"outer": {${name}: ${inner}, ${name}: 1}}]`)).toBe(key)
      }),
    )
  })

  test('escapes do not hide it', () => {
    expect(findDuplicateKey('{"a": 1, "\\u0061": 2}')).toBe('a')
  })
})

describe('a METRIC line', () => {
  test.each([
    ['a unit', 'METRIC t=12ms', 'is not a number'],
    ['hexadecimal', 'METRIC t=0x10', 'is not a number'],
    ['no value', 'METRIC t', 'not name=value'],
    ['the same name twice', 'METRIC t=1\nMETRIC t=1', 't is given twice'],
    ['a built-in name', 'METRIC cpu_seconds=0', 'measured by winnow'],
  ])('with %s is an error', (_, text, message) => {
    expect(() => parseMetricLines(text)).toThrow(message)
  })

  test('is looked for at the start of a line only', () => {
    expect(parseMetricLines('log: METRIC t=1')).toBeNull()
  })
})

describe('a scorer of its own format', () => {
  const score = (parse: object) => {
    const found = aSpec({ measurement: { score: { command: 'x', parse } } }).measurement.score
    if (found === null) throw new Error('no score')
    return found
  }

  test('is read where the spec says it keeps its numbers', () => {
    const { stdout } = left({ stdout: '{"result": 0.9, "more": {"recall": 0.7}, "text": "ignored"}' })
    expect(readScore(stdout, score({ score_field: 'result', metrics_field: 'more' }), 'f1').metrics).toEqual({
      f1: 0.9,
      recall: 0.7,
    })
  })

  test('that does not print it is an error', () => {
    const { stdout } = left({ stdout: '{"other": 0.9}' })
    expect(() => readScore(stdout, score({ score_field: 'result' }), 'f1')).toThrow('did not print "result"')
    expect(() => readScore(left({ stdout: 'x' }).stdout, score({}), 'f1')).toThrow('did not print a result')
  })
})

describe('what is kept of a command that failed', () => {
  const failed = (stdout: string, stderr: string) => {
    const dir = scratch()
    writeFileSync(join(dir, 'out'), stdout)
    writeFileSync(join(dir, 'err'), stderr)
    return readFailed({ stdout: join(dir, 'out'), stderr: join(dir, 'err') })
  }

  test('is the end of both streams, without what installing prints', () => {
    expect(failed('1 of 2\nnpm notice\n', 'npm warn old\nboom\n')).toEqual({
      failing: [],
      stdout: '1 of 2',
      stderr: 'boom',
    })
    expect(failed(' \n', '')).toBeNull()
  })

  test('is at most 2,000 characters of whole lines for each', () => {
    const lines = Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n')
    const kept = failed(lines, lines)
    for (const text of [kept?.stdout ?? '', kept?.stderr ?? '']) {
      expect(text.length).toBeLessThanOrEqual(2_000)
      expect(text).toMatch(/^line \d+\n[^]*\nline 499$/)
    }
  })

  test('has the failing tests first, also those that the ends do not reach', () => {
    const more = Array.from({ length: 500 }, (_, at) => `ok ${at}`).join('\n')
    expect(failed(`not ok 7 - adds\n${more}`, '')?.failing).toEqual(['not ok 7 - adds'])
  })
})

describe('what people are shown of an output', () => {
  test('is its end, and nothing of what is not a plain file', () => {
    const dir = scratch()
    writeFileSync(join(dir, 'log'), `${'x'.repeat(50_000)}\nlast\n`)
    expect(readOutputTail(join(dir, 'log'))).toMatch(/x\nlast$/)
    mkdirSync(join(dir, 'folder'))
    expect(readOutputTail(join(dir, 'folder'))).toBe('')
  })
})
