import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { VERBS } from '../src/cli/registry.ts'
import { listOptions, type Verb } from '../src/cli/verb.ts'
import { commandsOn, pages, pageText } from './page-commands.ts'

const ROOT = new URL('..', import.meta.url).pathname

/** Who runs what a page shows. A page that gets its first command needs a line here, and a test behind it. */
const RUN_BY: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.long.test.ts',
  'CONTRIBUTING.md': '.ci/run',
  'docs/agents.md': 'test/cli/agents-page.release.test.ts',
  'docs/attestation.md': 'test/cli/attest.long.test.ts',
  'docs/commands.md': 'test/docs.test.ts',
  'docs/compare.md': 'test/cli/compare-page.release.test.ts',
  'docs/dependencies.md': 'test/cli/demo.long.test.ts',
  'docs/epochs.md': 'test/cli/demo.long.test.ts',
  'docs/github.md': 'test/cli/init-github.long.test.ts',
  'docs/harness.md': 'test/cli/harness-page.release.test.ts',
  'docs/import-and-export.md': 'test/cli/import-export.long.test.ts',
  'docs/install.md': 'test/install-page.release.test.ts',
  'docs/skills.md': 'test/cli/demo.long.test.ts',
  'skills/winnow/SKILL.md': 'test/cli/agents-page.release.test.ts',
}

describe('the commands that a page shows', () => {
  it('are run by a test, or written from the code', () => {
    const shown = pages().filter(page => commandsOn(page).length > 0)
    expect(new Set(Object.keys(RUN_BY))).toEqual(new Set(shown))
  })

  it.each(Object.entries(RUN_BY).filter(([, test]) => test.endsWith('.ts')))('%s: by %s', (page, test) => {
    expect(existsSync(join(ROOT, test))).toBe(true)
    const names = [page, page.replace(/^docs\//, '../docs/'), page.replace(/^docs\//, '')]
    expect(names.some(name => readFileSync(join(ROOT, test), 'utf8').includes(name))).toBe(true)
  })

  it('for working on winnow are what CI runs', () => {
    const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8')
    const forCi = [...commandsOn('README.md'), ...commandsOn('CONTRIBUTING.md')].filter(({ command }) =>
      command.startsWith('npm '),
    )
    const own = forCi.filter(({ command }) => !command.includes('--global'))
    expect(own.map(({ command }) => command)).toContain('npm ci && npm test')
    expect(own.filter(({ command }) => !ci.includes(command))).toEqual([])
  })

  it('leave no test out: what `npm test` does not run, CI runs besides, or a release does', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(scripts['test']).toBe("vitest run --exclude 'test/**/*.{long,release}.test.ts'")
    expect(scripts['test:long']).toMatch(/^vitest run \.long\.test\.ts( --maxWorkers=\d+)?$/)
    expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toContain('\nnpm run test:long\n')
    expect(scripts['test:release']).toContain(' vitest run .release.test.ts ')
    expect(readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')).toContain(
      'npm run test:release',
    )
  })

  it('leave no seeded test at its sample: a release runs everything that it draws from', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const [settings = '', filters = ''] = scripts['test:release'].split(' vitest run ')
    const all = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    const files = all.filter(name => name.endsWith('.ts') && name !== 'pages.test.ts')
    const texts = new Map(files.map(file => [file, readFileSync(join(ROOT, 'test', file), 'utf8')]))
    /** The tests that a setting means: the file that reads it, or those that import that file. */
    const meant = (file: string) =>
      file.endsWith('.test.ts')
        ? [file]
        : files.filter(each => each.endsWith('.test.ts') && texts.get(each)?.includes(`/${basename(file)}'`))
    for (const [file, text] of texts) {
      for (const [, name = ''] of text.matchAll(/env\['(WINNOW_\w+)'\] === 'full'/g)) {
        expect(settings.split(' ')).toContain(`${name}=full`)
        const isRun = (test: string) =>
          filters.split(' ').some((filter: string) => `test/${test}`.includes(filter))
        expect(meant(file).filter(test => !isRun(test))).toEqual([])
      }
    }
  })
})

/** `winnow try -m "…"` and the like, wherever a page says it, but where it says that it is not built. */
function namedOn(page: string): { verb: string; rest: string }[] {
  const built = pageText(page).replace(/^.*\*\*not built\*\*.*$/gm, '')
  const quoted = [...built.matchAll(/`(?:git[ -])?winnow ([a-z]+)([^`]*)`/g)]
  const typed = commandsOn(page).flatMap(({ command }) => [...command.matchAll(/\bwinnow ([a-z]+)([^&|]*)/g)])
  return [...quoted, ...typed].map(([, verb = '', rest = '']) => ({ verb, rest }))
}

function unknownOptions(verb: Verb, rest: string): string[] {
  const known = listOptions(verb).flatMap(({ name, short }) => [`--${name}`, ...(short ? [`-${short}`] : [])])
  const given = rest.split(' -- ')[0]?.replace(/"[^"]*"/g, '') ?? ''
  return [...given.matchAll(/(?<=\s)--?[a-z][a-z-]*/g)]
    .map(([option]) => option)
    .filter(each => !known.includes(each))
}

describe.each(pages())('%s', page => {
  it('names only commands and options that there are', () => {
    for (const { verb: word, rest } of namedOn(page)) {
      const verb = VERBS.find(each => each.name === word)
      expect([page, word, verb?.name]).toEqual([page, word, word])
      if (verb !== undefined) expect([page, word, unknownOptions(verb, rest)]).toEqual([page, word, []])
    }
  })

  it('names only scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    const own = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md'].includes(page)
    const named = [...pageText(page).matchAll(/`npm run ([\w:-]+)/g)].map(match => match[1] ?? '')
    if (own) expect(named.filter(name => !(name in scripts))).toEqual([])
  })

  // A decision tells of what there was when it was taken.
  it.skipIf(page.startsWith('docs/decisions/'))('names only tests that exist', () => {
    const named = [...pageText(page).matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(match => match[1] ?? '')
    expect(named.filter(name => !existsSync(join(ROOT, name)))).toEqual([])
  })

  it('links only to what exists', () => {
    const links = [...pageText(page).matchAll(/\]\(([^)#:\s]+)(?:#[\w-]*)?\)/g)].map(match => match[1] ?? '')
    const from = join(ROOT, page, '..')
    expect(links.filter(link => !existsSync(join(from, link)))).toEqual([])
  })
})

describe('the list of pages', () => {
  it('has every page once', () => {
    const listed = [...pageText('docs/README.md').matchAll(/^\| \[\w+\]\((\w+\.md)\)/gm)].map(
      match => match[1] ?? '',
    )
    const found = pages().filter(page => /^docs\/\w+\.md$/.test(page) && page !== 'docs/README.md')
    expect(listed.toSorted()).toEqual(found.map(page => page.replace('docs/', '')).toSorted())
  })
})
