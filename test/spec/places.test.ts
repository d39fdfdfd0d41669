import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { describeFoundValue, formatPath, formatProblem, SpecErrors } from '../../src/spec/errors.ts'
import { changed, fixture, fixtureNames, problemsOf } from './problems-of.ts'

const at = (text: string): string[] =>
  problemsOf(text).map(({ path, line, column }) => `${path} ${line}:${column}`)

const block = `winnow: 1
metric:
  primary:
    name: ms
    direction: up
measurement:
  timeout_seconds: 5
gates:
  - name: a
    command: b
  - name: a
    command:
scope:
  mutable:
    - src/
    - ../x
`

describe('the place of a problem', () => {
  it('is the value, the key for an unknown key, and the section of something missing', () => {
    expect(at(block)).toEqual([
      'metric.primary.direction 5:16',
      'measurement.command 6:1',
      'gates[1].command 12:13',
      'scope.mutable[1] 16:7',
    ])
  })

  it('is the entry of a list, also in flow style and after a byte order mark', () => {
    const flow =
      '\uFEFFwinnow: 1\nmeasurement: { command: x, env: [A, "B=1"] }\ngates: [{ name: t, command: x }]\nscope: { mutable: [a] }\n'
    expect(at(flow)).toEqual(['measurement.env[1] 2:37'])
  })

  it('is counted in lines of either ending', () => {
    const crlf = block.replaceAll('\n', '\r\n')
    expect(problemsOf(crlf).map(({ line }) => line)).toEqual(problemsOf(block).map(({ line }) => line))
  })

  it('is where an alias was anchored, because that is what to change', () => {
    const text = fixture('winnow-smallest.yaml').replace('[src/]', '&s [../x]')
    expect(at(`${text}parallel: { shared_files: *s }\n`)).toEqual([
      'scope.mutable[0] 4:23',
      'parallel.shared_files[0] 4:23',
    ])
  })

  it('is found for an unknown key anywhere in any fixture', () => {
    const mappings = (value: unknown, path: string[]): string[][] => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
      return [path, ...Object.entries(value).flatMap(([key, part]) => mappings(part, [...path, key]))]
    }
    // Maps with names of the user's own choosing take any key.
    const free = ['services', 'weights', 'parameters', 'limits', 'container', 'frontier', 'budget', 'db']
    const where = fixtureNames.flatMap(name =>
      mappings(parse(fixture(name)), []).map(path => ({ name, path })),
    )
    const strict = where.filter(({ path }) => !path.some(part => free.includes(part)))
    fc.assert(
      fc.property(fc.constantFrom(...strict), ({ name, path }) => {
        const text = changed(name, { [[...path, 'zzzqqqxxx'].join('.')]: 1 })
        const line = text.split('\n').findIndex(one => one.includes('zzzqqqxxx')) + 1
        expect(problemsOf(text)).toMatchObject([{ path: [...path, 'zzzqqqxxx'].join('.'), line }])
      }),
      { numRuns: 60 },
    )
  })

  it('does not depend on how the same values are written', () => {
    const value: unknown = parse(block)
    const flow = stringify(value, { collectionStyle: 'flow' })
    expect(problemsOf(flow).map(({ path, found }) => path + found)).toEqual(
      problemsOf(block).map(({ path, found }) => path + found),
    )
  })
})

describe('the words of a problem', () => {
  it('write a path as people do', () => {
    expect(formatPath(['metric', 'objectives', 2, 'name'])).toBe('metric.objectives[2].name')
    expect(formatPath([])).toBe('')
  })

  it.each([
    [undefined, 'nothing'],
    [null, 'nothing'],
    ['a "b"', '"a \\"b\\""'],
    [Number.NaN, 'NaN'],
    [[], 'an empty list'],
    [[1], 'a list'],
    [{}, 'a mapping'],
    ['x'.repeat(100), `"${'x'.repeat(60)}…"`],
  ])('name what was found: %j', (value, words) => {
    expect(describeFoundValue(value)).toBe(words)
  })

  it('stay on one line, whatever was found', () => {
    const hostile = {
      'measurement.mode': 'a\nb\r\nc',
      'up\nper\u001b[31m': 1,
      'scope.mutable': 'a\nb',
      gates: [{ name: 'x\ny' }],
    }
    const problems = problemsOf(changed('winnow-smallest.yaml', hostile))
    expect(problems).toHaveLength(4)
    for (const problem of problems) expect(formatProblem(problem)).not.toMatch(/\p{Cc}/u)
  })

  it('are one line for each problem', () => {
    const problems = problemsOf(block)
    expect(new SpecErrors(problems).message.split('\n')).toEqual(problems.map(formatProblem))
  })
})
