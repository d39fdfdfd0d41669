import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { detect } from '../../src/setup/detect.ts'
import { draft } from '../../src/setup/draft.ts'
import { readGoal } from '../../src/setup/goal.ts'
import { specText } from '../../src/setup/spec-text.ts'
import { parseSpec } from '../../src/spec/parse.ts'
import { type Files, yardOf } from './a-project.ts'

const NODE: Files = {
  'package.json': { name: 'n', main: 'src/index.js', scripts: { test: 'node --test' } },
  'src/index.js': '',
  'bench/parse.mjs': '',
}
const GO: Files = { 'go.mod': 'module m\n', 'a.go': 'package m\n' }

function drafted(files: Files, more: { directory?: string; goal?: string; prefix?: string } = {}) {
  const yard = yardOf(files, more.directory ?? '')
  const goal = more.goal === undefined ? null : readGoal(more.goal)
  const detected = detect(yard, undefined)
  const made = draft({ yard, detected, name: 'speed', prefix: more.prefix ?? 'optimize', goal })
  const yaml = made.files[0]?.text ?? ''
  const lines = yaml.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return { ...made, yaml, lines, spec: parseSpec(yaml, { file: made.specPath }).spec }
}

describe('a drafted spec', () => {
  it('is as short as one can be, with the reference as a link', () => {
    const { yaml, files, edit } = drafted(NODE)
    expect(yaml).toBe(`# yaml-language-server: $schema=https://unpkg.com/git-winnow/schema/spec.schema.json
# Every key and its default: https://unpkg.com/git-winnow/docs/spec.md
winnow: 1
measurement: { command: node bench/parse.mjs }
gates: [{ name: tests, command: npm test }]
scope: { mutable: [src/] }
`)
    expect(files).toHaveLength(1)
    expect(edit).toBeNull()
  })

  it('of a package runs there, and names paths from the top', () => {
    const files = Object.fromEntries(Object.entries(NODE).map(([path, text]) => [`packages/a/${path}`, text]))
    const { spec } = drafted(files, { directory: 'packages/a' })
    expect(spec.measurement.working_directory).toBe('packages/a')
    expect(spec.scope.mutable).toEqual(['packages/a/src/'])
  })

  it('has another prefix only where it needs one', () => {
    expect(drafted(NODE, { prefix: 'winnow' }).lines.at(-1)).toBe('branches: { prefix: winnow }')
    expect(drafted(NODE).yaml).not.toContain('branches')
  })

  it('without a benchmark brings one, which nobody may change', () => {
    const { spec, files, edit } = drafted(GO)
    expect(files.map(({ path }) => path)).toEqual(['.winnow/speed.yaml', 'bench/speed/main.go'])
    expect(edit).toBe('bench/speed/main.go')
    expect(spec.metric).toMatchObject({
      primary: { name: 'milliseconds', direction: 'minimize' },
      degenerate_gates: [{ name: 'output_bytes', check: '> 0' }],
    })
    expect(spec.scope).toMatchObject({ mutable: ['**/*.go'], immutable: ['bench/'] })
  })

  it('without tests says so, and still has a gate', () => {
    const { spec, notes } = drafted({ ...NODE, 'package.json': {} })
    expect(spec.gates).toMatchObject([{ name: 'runs', command: 'node bench/parse.mjs' }])
    expect(notes).toEqual([expect.stringContaining('no tests were found')])
  })
})

describe('a goal in a spec', () => {
  it('is told to proposers, and chooses what winnow measures itself', () => {
    const { spec } = drafted(NODE, { goal: 'less memory, under 100 MB' })
    expect(spec.description).toBe('less memory, under 100 MB')
    expect(spec.metric.primary).toMatchObject({ name: 'max_rss_mb', direction: 'minimize', target: 100 })
  })

  it('of size brings a harness that counts bytes, which may not become none', () => {
    const { spec, files } = drafted(NODE, { goal: 'a smaller bundle' })
    expect(spec.measurement.command).toBe('sh bench/speed.sh')
    expect(spec.metric).toMatchObject({
      primary: { name: 'bytes' },
      degenerate_gates: [{ name: 'bytes', check: '> 0' }],
    })
    expect(files[1]?.text).toContain('src/index.js')
  })

  it('that people judge is drafted with a rubric', () => {
    const { spec } = drafted(NODE, { goal: 'friendlier error messages' })
    expect(spec.metric.primary).toMatchObject({ type: 'judge', name: 'quality', direction: 'maximize' })
    expect(spec.metric.judge?.rubric).toContain('friendlier error messages')
  })
})

describe('a spec as text', () => {
  it('is read as what was written, whatever the words are', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), (words, list) => {
        expect(parse(specText({ words, list, inner: { words } }))).toEqual({ words, list, inner: { words } })
      }),
    )
  })
})
