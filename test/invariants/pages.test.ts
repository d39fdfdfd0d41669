import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERBS } from '../../src/cli/registry.ts'
import { listOptions } from '../../src/cli/verb.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const ARCHITECTURE = read('docs/architecture.md')

/** What stands between back-ticks. */
function quoted(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(match => match[1] ?? '')
}

/** Files as the pages name them: from the root, or below src. */
function missingFiles(text: string): string[] {
  const named = quoted(text).filter(
    name => /^[\w./-]+\.(?:ts|md|json|yaml)$/.test(name) && name.includes('/'),
  )
  return named.filter(name => !existsSync(join(ROOT, name)) && !existsSync(join(ROOT, 'src', name)))
}

interface Row {
  number: string
  invariant: string
  enforcedIn: string[]
  provenIn: string[]
}

function invariantTable(): Row[] {
  const section = ARCHITECTURE.slice(ARCHITECTURE.indexOf('## Where the invariants live'))
  return [...section.matchAll(/^\| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
    ([, number = '', invariant = '', enforced = '', proven = '']) => ({
      number,
      invariant,
      enforcedIn: quoted(enforced),
      provenIn: quoted(proven),
    }),
  )
}

describe('where the invariants live', () => {
  it('names all twelve as their tests do', () => {
    const blocks = [
      ...read('test/invariants/invariants.test.ts').matchAll(/^describe\('invariant (\d+): (.*)'/gm),
    ]
    const tested = blocks.map(([, number, name]) => `${number} ${name}`)
    expect(invariantTable().map(({ number, invariant }) => `${number} ${invariant}`)).toEqual(tested)
    expect(tested).toHaveLength(12)
  })

  it.each(invariantTable())('$number, $invariant: sources and exact test files that exist', row => {
    expect(row.enforcedIn.filter(file => !existsSync(join(ROOT, 'src', file)))).toEqual([])
    expect(row.enforcedIn).not.toEqual([])
    const tests = row.provenIn.filter(file => file.endsWith('.test.ts') && existsSync(join(ROOT, file)))
    expect(tests).toEqual(row.provenIn)
    expect(tests).not.toEqual([])
  })
})

describe('the pages', () => {
  const pages = ['AGENTS.md', 'CONTRIBUTING.md', 'docs/architecture.md']
  const decisions = readdirSync(join(ROOT, 'docs/decisions')).map(name => `docs/decisions/${name}`)

  it.each([...pages, ...decisions])('%s names only files that exist', page => {
    expect(missingFiles(read(page))).toEqual([])
  })

  it('AGENTS.md runs only test files that exist', () => {
    const run = [...read('AGENTS.md').matchAll(/vitest run (\S+\.ts)/g)].map(match => match[1] ?? '')
    expect(run.filter(file => !existsSync(join(ROOT, file)))).toEqual([])
  })

  it('list the rooms there are', () => {
    const listed = [...ARCHITECTURE.matchAll(/^\| `(\w+)` \|/gm)].map(match => match[1] ?? '')
    const found = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter(each => each.isDirectory())
    expect(listed.toSorted()).toEqual(found.map(({ name }) => name).toSorted())
  })

  it('the package ships only what exists', () => {
    const { files } = JSON.parse(read('package.json'))
    expect(files.filter((name: string) => !existsSync(join(ROOT, name.replace(/^!/, ''))))).toEqual([])
  })
})

describe('the reading path through the core', () => {
  it('has at most 25 files, each once', () => {
    const section = ARCHITECTURE.split('## One experiment, from spec to merge')[1]?.split('\n## ')[0] ?? ''
    const rows = [...section.matchAll(/^\| [a-z]* ?\| (`[^|]*) \|/gm)].flatMap(([, files = '']) =>
      quoted(files),
    )
    expect(rows.length).toBeGreaterThan(15)
    expect(rows.length).toBeLessThanOrEqual(25)
    const named = quoted(section).filter(name => name.endsWith('.ts'))
    expect(named.filter((name, place) => named.indexOf(name) !== place)).toEqual([])
  })
})

describe('the skill for agents', () => {
  const SKILL = read('skills/winnow/SKILL.md')

  it('names only commands and options that there are, and is short', () => {
    const named = [...SKILL.matchAll(/`winnow ([a-z]+)([^`]*)`/g)]
    expect(named.length).toBeGreaterThan(5)
    for (const [, word = '', rest = ''] of named) {
      const verb = VERBS.find(each => each.name === word)
      expect(verb?.name).toBe(word)
      const options = verb === undefined ? [] : listOptions(verb).map(({ name }) => `--${name}`)
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(options).toContain(option)
    }
    expect(SKILL.split('\n').length).toBeLessThan(60)
  })
})

describe('every kind of event', () => {
  it('is written by some code', () => {
    const kinds = [...read('src/model/event-schemas.ts').matchAll(/^ {2}'?([a-z-]+)'?: (?:\{|orderTerms)/gm)]
    const names = kinds.map(match => match[1] ?? '')
    const made = sourcesOutside('model', 'report').map(read).join('\n')
    expect(names.filter(kind => !new RegExp(`kind: '${kind}'`).test(made))).toEqual([])
    expect(names.length).toBeGreaterThan(30)
  })
})

function sourcesOutside(...rooms: string[]): string[] {
  const all = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  return all
    .filter(path => path.endsWith('.ts') && !rooms.includes(path.split('/')[0] ?? ''))
    .map(path => join('src', path))
}
