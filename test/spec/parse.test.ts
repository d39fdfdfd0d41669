import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { getExitCode, UserError } from '../../src/errors.ts'
import { formatProblem, SpecErrors } from '../../src/spec/errors.ts'
import { changed, fixture, fixtureNames, parsed, problemsOf, winnowSpec } from './problems-of.ts'

const lines = (text: string, options = {}): string[] => problemsOf(text, options).map(formatProblem)
const smallest = fixture('winnow-smallest.yaml')

describe('a spec file', () => {
  it('comes with the hash of its bytes', () => {
    const text = `${smallest}# é\n`
    expect(parsed(text).sha256).toBe(createHash('sha256').update(Buffer.from(text)).digest('hex'))
  })

  it('is named after its file, and described by its name', () => {
    expect(parsed(smallest).spec).toMatchObject({ rules: 'winnow', name: 'parse', description: 'parse' })
    expect(parsed(smallest, { file: '/a/b c/hot-path.yml' }).spec.name).toBe('hot-path')
  })

  it('needs a name when its file name is none', () => {
    expect(lines(smallest, { file: '.winnow/Hot Path.yaml' })).toEqual([
      '.winnow/Hot Path.yaml:1:1  name  found the file name "Hot Path", expected kebab-case: lower-case letters and digits joined by single hyphens; rename the file, or add name',
    ])
    expect(lines(`name: ok\n${smallest}`, { file: 'Hot Path.yaml' })).toEqual([])
  })

  it.each(fixtureNames)('parses: %s', name => {
    expect(lines(fixture(name))).toEqual([])
  })
})

describe('an error in a spec', () => {
  it('is one line with file, line, column, path and what to write', () => {
    const text =
      'winnow: 1\nmeasurement: { command: x }\ngates: [{ name: t, command: x }]\nscope: { mutable: [a] }\nmetric:\n  primary:\n    directon: minimize\n'
    expect(lines(text)).toEqual([
      '.winnow/parse.yaml:7:5  metric.primary.directon  unknown key; did you mean "direction"?',
    ])
  })

  it('carries its parts', () => {
    const [problem] = problemsOf(changed('winnow-smallest.yaml', { 'metric.primary.direction': 'mimimize' }))
    expect(problem).toMatchObject({
      file: '.winnow/parse.yaml',
      path: 'metric.primary.direction',
      found: '"mimimize"',
      expected: 'minimize or maximize',
      didYouMean: 'minimize',
      fix: 'did you mean "minimize"?',
    })
  })

  it('is a user error at the first place', () => {
    const error = new SpecErrors(problemsOf('winnow: 3\n'))
    expect(error).toBeInstanceOf(UserError)
    expect(getExitCode(error)).toBe(2)
    expect(error.place).toMatchObject({ file: '.winnow/parse.yaml', line: 1 })
  })

  it('does not hide the others: keys, values and rules are told together, in the order of the file', () => {
    const text = [
      'winnow: 1',
      'measurement: { comand: x, mode: pared, timeout: 4 }',
      'gates: []',
      'scope: { mutable: src/, imutable: [] }',
      'parallel: { shared_files: [/db] }',
    ].join('\n')
    expect(lines(text)).toEqual([
      '.winnow/parse.yaml:2:16  measurement.comand  unknown key; did you mean "command"?',
      '.winnow/parse.yaml:2:33  measurement.mode  found "pared", expected auto, once or paired; did you mean "paired"?',
      '.winnow/parse.yaml:2:40  measurement.timeout  unknown key; did you mean "timeout_seconds"?',
      '.winnow/parse.yaml:3:8  gates  found no gate, expected at least one gate; add gates: [{ name: tests, command: … }] or metric.degenerate_gates',
      '.winnow/parse.yaml:4:19  scope.mutable  found "src/", expected a list; write [src/]',
      '.winnow/parse.yaml:4:25  scope.imutable  unknown key; did you mean "immutable"?',
      '.winnow/parse.yaml:5:28  parallel.shared_files[0]  found "/db": an absolute path, expected a path inside the repository, relative to its top; copy the file into the repository directory',
    ])
  })

  it('is not repeated as what follows from it', () => {
    const gate = changed('winnow-smallest.yaml', { gates: [{ name: 'tests' }] })
    expect(problemsOf(gate).map(({ path }) => path)).toEqual(['gates[0].command'])
    const typo = changed('winnow-smallest.yaml', { gates: undefined, gate: [] })
    expect(problemsOf(typo).map(({ path }) => path)).toEqual(['gate'])
  })

  const suggestions: [Record<string, unknown>, string, string][] = [
    [{ 'metric.gates': [] }, 'metric.gates', 'gates belongs at the top level'],
    [
      { timeout_seconds: 5 },
      'timeout_seconds',
      'timeout_seconds belongs under measurement or under gates or under propose',
    ],
    [
      { 'measurement.repeat_count': 5 },
      'measurement.repeat_count',
      'repeat_count belongs under measurement.stability',
    ],
    [{ 'metric.primary.Direction': 'minimize' }, 'metric.primary.Direction', 'did you mean "direction"?'],
    [{ 'limits.maxFiles': 5 }, 'limits.maxFiles', 'did you mean "max_files"?'],
    [{ 'stopping.max_runer_minutes': 5 }, 'stopping.max_runer_minutes', 'did you mean "max_runner_minutes"?'],
    [
      { 'report.noise_treshold': 5 },
      'report.noise_treshold',
      'did you mean "noise_threshold"? noise_threshold belongs under measurement.stability',
    ],
    [{ 'branches.qqqqqqqq': 5 }, 'branches.qqqqqqqq', 'known here: prefix'],
  ]
  it.each(suggestions)('%j says where the key belongs', (changes, path, fix) => {
    expect(problemsOf(changed('winnow-smallest.yaml', changes))).toMatchObject([
      { path, found: 'unknown key', fix },
    ])
  })

  const values: [Record<string, unknown>, string, string, string][] = [
    [{ 'measurement.command': 5 }, '5', 'text that is not empty', ''],
    [{ 'measurement.command': '  ' }, '"  "', 'text that is not empty', ''],
    [{ 'measurement.timeout_seconds': 0 }, '0', 'a number greater than 0', ''],
    [{ 'measurement.timeout_seconds': Infinity }, 'Infinity', 'a number', ''],
    [{ 'measurement.isolation': 'bwrp' }, '"bwrp"', 'auto, uid, bwrap, none or a mapping', 'bwrap'],
    [{ 'measurement.isolation': { container: { imag: 'x' } } }, 'unknown key', 'one of image', 'image'],
    [{ 'search.frontier': 'topk' }, '"topk"', '', 'top_k'],
    [
      { propose: [{ use: 'comand' }] },
      '"comand"',
      'external, patch, command, sweep, textgrad or dispatch',
      'command',
    ],
    [{ 'evidence.pairs_per_job': 'none' }, '"none"', 'auto or a number', ''],
    [{ 'evidence.alpha': 0.9 }, '0.9', 'a number, at most 0.5', ''],
    [{ 'limits.max_files': -1.5 }, '-1.5', 'a whole number', ''],
    [{ 'scope.mutable': [] }, 'an empty list', 'at least 1 entry', ''],
    [{ 'branches.prefix': 'a..b' }, '"a..b"', 'one lower-case component of a branch name', ''],
    [{ 'branches.prefix': 'x.lock' }, '"x.lock"', 'one lower-case component of a branch name', ''],
    [{ 'report.webhook': 'ftp://x' }, '"ftp://x"', 'an http or https address', ''],
    [
      { name: 'Not Kebab' },
      '"Not Kebab"',
      'kebab-case: lower-case letters and digits joined by single hyphens',
      '',
    ],
    [{ 'metric.degenerate_gates': [{ name: 'a', check: '=> 5' }] }, '"=> 5"', '', ''],
    [{ 'metric.degenerate_gates': [{ name: 'a', check: '> 1e999' }] }, '"> 1e999"', '', ''],
    [{ constraints: [{ metric: 'a', op: '<', value: 1 }] }, 'a mapping', '', ''],
  ]
  it.each(values)('%j is refused with what is expected', (changes, found, expected, didYouMean) => {
    const [problem, ...rest] = problemsOf(changed('winnow-smallest.yaml', changes))
    expect(rest).toEqual([])
    if (expected !== '' && !(found === '5')) expect(problem?.expected).toBe(expected)
    expect(problem?.found).toBe(found)
    expect(problem?.didYouMean ?? '').toBe(didYouMean)
  })

  it('sends checked constraints to metric.constraints', () => {
    const [problem] = problemsOf(changed('winnow-smallest.yaml', { constraints: [{ metric: 'a' }] }))
    expect(problem?.fix).toContain('move {metric, op, value} to metric.constraints')
  })
})

describe('which rules hold', () => {
  it.each(['2', '"1"', 'true', '', '1.5'])('winnow: %s is no version this release reads', version => {
    const text = smallest.replace('winnow: 1', `winnow: ${version}`)
    expect(problemsOf(text)).toMatchObject([{ path: 'winnow', line: 1, expected: '1' }])
  })

  it('a mistyped winnow: 1 is one mistake, not a ce spec with everything missing', () => {
    expect(lines(smallest.replace('winnow', 'winow'))).toEqual([
      '.winnow/parse.yaml:1:1  winow  unknown key; did you mean "winnow"?',
    ])
  })
})

describe('YAML that is no spec', () => {
  const broken: [string, string, string][] = [
    ['an empty file', '', 'an empty file'],
    ['only a comment', '# nothing\n', 'an empty file'],
    ['a list', '- a\n', 'a list'],
    ['text', 'hello\n', '"hello"'],
    ['a key twice', `${smallest}winnow: 1\n`, 'a key that is already there'],
    ['two documents', `${smallest}---\na: 1\n`, 'a second document'],
    ['an unknown tag', 'winnow: !!binary aGk=\n', 'a value tagged tag:yaml.org,2002:binary'],
    ['a tag nobody knows', 'name: !mine x\n', 'broken YAML'],
    ['an unclosed list', 'scope: [\n', 'broken YAML'],
    ['a key that is a list', `${smallest}? [a, b]\n: 1\n`, 'a key that is not text'],
    ['an anchor nobody set', 'name: *nobody\n', ''],
    ['an anchor inside itself', 'services: &a [*a]\n', 'more than a spec can hold'],
    ['a prototype', `${smallest}__proto__: { polluted: true }\n`, 'the key "__proto__"'],
    [
      'a constructor',
      `${smallest}execution: { services: { constructor: { x: 1 } } }\n`,
      'the key "constructor"',
    ],
    [
      'the same key as number and text',
      `${smallest}execution: { services: { 1: a, "1": b } }\n`,
      'the key 1 again',
    ],
    ['hopeless nesting', '['.repeat(20_000), ''],
  ]
  it.each(broken)('%s is told with its place', (_what, text, found) => {
    const [problem] = problemsOf(text)
    expect(problem?.found).toContain(found)
    expect(problem?.line).toBeGreaterThan(0)
  })

  it('a file of aliases cannot expand without bound', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`,
    )
    const [problem] = problemsOf(['a0: &a0 [x]', ...levels].join('\n'))
    expect(problem?.found).toBe('more than a spec can hold')
  })

  it('an alias within bounds is just a value', () => {
    const text = smallest.replace('[src/]', '&s [src/]').replace('winnow: 1', 'winnow: 1\nadvice: [a]')
    expect(parsed(`${text}parallel: { shared_files: *s }\n`).spec.parallel.shared_files).toEqual(['src/'])
  })

  it('says how to write a gate check that YAML takes for something else', () => {
    for (const check of ['>= 5', '!= 0']) {
      const text = `winnow: 1\nmetric:\n  degenerate_gates:\n    - name: rows\n      check: ${check}\n`
      expect(problemsOf(text)[0]).toMatchObject({ line: 5, fix: 'quote the check, as in check: ">= 5"' })
    }
  })
})

describe('any text at all', () => {
  const word = fc.constantFrom(
    'winnow',
    'metric',
    'primary',
    'gates',
    'scope',
    'mutable',
    'name',
    'check',
    'propose',
    'use',
    'a',
    '1',
    '"',
    "'",
    ': ',
    ':\n  ',
    '\n',
    '\n- ',
    ', ',
    '[',
    ']',
    '{',
    '}',
    '&a ',
    '*a',
    '!!',
    '? ',
    '#',
    '|',
    '>',
    '---\n',
    '\t',
    '~',
    '\r\n',
    'null',
    '-1',
    '.inf',
    '.nan',
    '__proto__',
    '\u0000',
    '\uFEFF',
    'é',
    '<<',
    '%YAML 1.1\n',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(word, { maxLength: 40 }).map(words => words.join('')),
    fc
      .tuple(fc.constantFrom(...fixtureNames.map(fixture)), fc.nat(), fc.nat({ max: 30 }), word)
      .map(([whole, at, length, piece]) => {
        const start = at % whole.length
        return whole.slice(0, start) + piece + whole.slice(start + length)
      }),
  )

  it('is a spec, or problems on lines of the file, and nothing else', () => {
    fc.assert(
      fc.property(text, one => {
        const count = one.split(/\r\n|\n/).length
        for (const { line, column, fix, found, expected } of problemsOf(one)) {
          expect(line).toBeGreaterThanOrEqual(1)
          expect(line).toBeLessThanOrEqual(count)
          expect(column).toBeGreaterThanOrEqual(1)
          expect([fix, found, expected].every(part => part.length > 0)).toBe(true)
        }
      }),
      { numRuns: 400 },
    )
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  it('keeps the meaning of what it accepts: parsing is a pure function of the text', () => {
    expect(winnowSpec()).toEqual(winnowSpec())
  })
})
