import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PAGES } from '../docs/generate/pages.ts'
import { pictureSources } from '../docs/generate/pictures.ts'
import { VERBS } from '../src/cli/registry.ts'

const ROOT = new URL('..', import.meta.url).pathname
const committed = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('pages that are written from the code', () => {
  it.each(Object.entries(PAGES))('%s is what the code says', (path, page) => {
    expect(committed(path), `${path} is stale: npm run docs writes it`).toBe(page())
  })
})

describe('the oldest Node that winnow runs on', () => {
  const { node } = JSON.parse(committed('package.json')).engines
  const oldest = /^>=(\d+\.\d+)$/.exec(node)?.[1]

  it.each(['README.md', 'docs/install.md', 'CONTRIBUTING.md'])('is in %s as in package.json', path => {
    expect(committed(path)).toContain(`Node ${oldest} or newer`)
  })

  it('is in package-lock.json as in package.json', () => {
    expect(JSON.parse(committed('package-lock.json')).packages[''].engines.node).toBe(node)
  })
})

describe('the pictures of pull requests', () => {
  const sources = pictureSources()

  it.each(Object.entries(sources))('%s is what the code says', (path, source) => {
    expect(committed(path), `${path} is stale: npm run docs:images draws it`).toBe(source)
  })

  it.each(Object.keys(sources).filter(path => path.endsWith('.md')))('%s has a small picture', path => {
    const { size } = statSync(join(ROOT, path.replace(/\.md$/, '.png')))
    expect(size).toBeGreaterThan(1_000)
    expect(size).toBeLessThan(150_000)
  })
})

describe('the page of commands', () => {
  const page = committed('docs/commands.md')
  const section = (name: string) =>
    page.split(/^###? /m).find(text => text.startsWith(`winnow ${name}\n`)) ?? ''

  it.each(VERBS.map(verb => [verb.name, verb] as const))('has all of %s', (name, verb) => {
    const text = section(name)
    for (const option of verb.options ?? []) expect(text).toContain(`--${option.name}`)
    for (const argument of verb.arguments ?? []) expect(text).toContain(`| \`${argument.name}\` |`)
    for (const example of verb.examples) expect(text).toContain(`\n${example}\n`)
    for (const [exit, meaning] of Object.entries(verb.exits ?? {}))
      expect(text).toContain(`| \`${exit}\` | ${meaning} |`)
  })

  it('has tables whose every row has two cells', () => {
    const rows = page.split('\n').filter(line => line.startsWith('|'))
    expect(rows.filter(row => row.split(/(?<!\\)\|/).length !== 4)).toEqual([])
  })

  it('names its parts as links do', () => {
    const anchors = [...page.matchAll(/\]\(#([a-z-]+)\)/g)].map(match => match[1])
    const titles = [...page.matchAll(/^#+ (.*)$/gm)].map(match =>
      match[1]?.toLowerCase().replaceAll(' ', '-'),
    )
    expect(anchors.filter(anchor => !titles.includes(anchor))).toEqual([])
  })
})
