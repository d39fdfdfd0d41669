import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { halvesOf, type KeySchema, keysBelow, valuesText } from '../../docs/generate/spec-keys.ts'
import { specPage } from '../../docs/generate/spec-page.ts'
import { unbuilt } from '../../docs/generate/spec-unbuilt.ts'
import { buildSpecJsonSchema } from '../../src/spec/json-schema.ts'
import { listKnownKeys } from '../../src/spec/errors.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { listPlannedFeatures } from '../../src/spec/planned-features.ts'
import { changed, FIXTURES, parsed } from './problems-of.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/spec.md'), 'utf8')
const halves = halvesOf(buildSpecJsonSchema())
const keys = keysBelow(halves.winnow)
const rows = page.split('\n').filter(line => line.startsWith('| `'))
const rowOf = (path: string) => rows.filter(row => row.startsWith(`| \`${path}\``)).join('\n')

describe('docs/spec.md', () => {
  it('is generated from the schema', () => {
    expect(page, 'docs/spec.md is stale: npm run docs writes it').toBe(specPage(buildSpecJsonSchema()))
  })

  it('has a line for every key of both kinds of spec, and for no other', () => {
    const known = (['winnow', 'ce'] as const).flatMap(kind =>
      [...listKnownKeys(kind)].flatMap(([home, names]) =>
        [...names].map(name => (home === '' ? name : `${home}.${name}`)),
      ),
    )
    const shown = rows.map(row => (/^\| `([^`]+)`/.exec(row)?.[1] ?? '').replaceAll('[]', ''))
    const sections = [...page.matchAll(/^## ([a-z_]+)$/gm)].map(match => match[1] ?? '')
    expect(new Set([...shown, ...sections])).toEqual(new Set(known))
  })

  it('says one thing of each: value, default and meaning are filled', () => {
    for (const row of rows) {
      const cells = row.split(/(?<!\\)\|/).map(cell => cell.trim())
      expect(cells).toHaveLength(6)
      expect([row, cells[2] === '', cells[4] === '']).toEqual([row, false, false])
    }
  })

  it('names the defaults of both kinds where they differ', () => {
    expect(rowOf('limits.max_files')).toContain('| `20` (ce: `null`) |')
    expect(rowOf('stopping.plateau')).toContain('| `40` (ce: `10`) |')
    expect(rowOf('measurement.stability')).toContain('| `null` (ce: `{}`) |')
    expect(rowOf('scope.immutable')).toContain('| `[]` (ce: **required**) |')
    expect(rowOf('measurement.timeout_seconds')).toContain('| `600` |')
  })

  it('tells the keys of a proposer by its use', () => {
    expect(rowOf('propose[].dir')).toContain('(`use: patch`)')
    expect(rowOf('policy.tie_breakers[].lower')).toContain('**one of these**')
    expect(rowOf('propose[].workflow')).toContain('(`use: dispatch`)')
  })

  it('says what is not built yet, as the code that refuses it does', () => {
    expect(rowOf('measurement.isolation.container')).toContain('*Not built yet.*')
    expect(rowOf('report.webhook')).toContain('*Not built yet: only the default is taken.*')
    for (const path of [
      'execution.runs_on',
      'execution.services',
      'dependencies.approvers',
      'merge.via',
      'merge.max_pull_requests_per_hour',
    ])
      expect(rowOf(path)).toContain('*On GitHub; elsewhere only the default is taken.*')
    expect(rowOf('measurement.output')).not.toContain('Not built')
    const refused = listPlannedFeatures(
      parsed(readFileSync(join(FIXTURES, 'winnow-everything.yaml'), 'utf8')).spec,
      'github',
    )
    const paths = refused.map(sentence => /^[a-z_.]+/.exec(sentence)?.[0] ?? '')
    const said = (path: string) => {
      const shown = path.replace(/^propose\./, 'propose[].')
      const shownThere = `${rowOf(shown)}${page.split(`## ${path}\n`)[1]?.split('##')[0] ?? ''}`
      return /Not built yet|On GitHub only|Not on GitHub yet/.test(shownThere)
    }
    expect(paths.filter(path => !said(path))).toEqual([])
  })

  it('begins with a spec that works', () => {
    const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
    const { spec } = parseSpec(example, { file: '.winnow/speed.yaml' })
    expect(listPlannedFeatures(spec)).toEqual([])
    expect(parse(example)).toHaveProperty('winnow', 1)
  })
})

describe('an example of a key', () => {
  const examples = keys.flatMap(({ path, schema }) =>
    (schema.examples ?? []).map(example => [path, example] as const),
  )

  it('is there for what people write first', () => {
    const paths = examples.map(([path]) => path)
    expect(paths).toEqual(expect.arrayContaining(['measurement.command', 'scope.mutable', 'gates[].command']))
  })

  it.each(examples)('of %s is valid: %j', (path, example) => {
    const entry = {
      'gates[].command': { gates: [{ name: 't', command: example }] },
      'metric.degenerate_gates[].check': { 'metric.degenerate_gates': [{ name: 'ok', check: example }] },
      'metric.primary.name': { 'metric.primary': { name: example, direction: 'minimize' } },
    }[path] ?? { [path]: example }
    expect(() => parsed(changed('winnow-smallest.yaml', entry))).not.toThrow()
  })
})

describe('the values of a key in words', () => {
  const cases: [KeySchema, string][] = [
    [{ type: 'integer', exclusiveMinimum: 0 }, 'whole number above 0'],
    [{ type: 'number', minimum: 0, maximum: 1 }, 'number from 0 to 1'],
    [{ type: ['number', 'null'] }, 'number or `null`'],
    [{ enum: ['a', 'b'] }, '`a` `b`'],
    [{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }, 'text or list of text'],
    [{ anyOf: [{ type: 'object' }, { type: 'object' }, { type: 'null' }] }, 'mapping or `null`'],
    [{ const: 1 }, '`1`'],
    [{}, 'anything'],
  ]
  it.each(cases)('%j: %s', (schema, words) => expect(valuesText(schema)).toBe(words))
})

describe('what is not built yet', () => {
  it('is nothing of a key that is read', () => {
    expect(unbuilt('measurement.command', { type: 'string' })).toEqual([])
    expect(unbuilt('propose[].use', { const: 'patch' })).toEqual([])
    expect(unbuilt('propose[].use', { const: 'sweep' })).toEqual(['*Not built yet:* `sweep`.'])
  })
})
