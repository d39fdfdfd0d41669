import { describe, expect, it } from 'vitest'
import { parseCommandLine, renderHelp } from '../../src/cli/command-line.ts'
import { VERBS } from '../../src/cli/registry.ts'
import { listOptions } from '../../src/cli/verb.ts'
import { project } from './project.ts'

const NAMES = VERBS.map(({ name }) => name)

describe('the registry of verbs', () => {
  it('has each verb once', () => {
    expect(new Set(NAMES).size).toBe(NAMES.length)
  })

  it.each([
    ['start', ['init', 'check', 'compare', 'try', 'run', 'demo']],
    ['see', ['status', 'show', 'log']],
    ['steer', ['approve', 'pause', 'stop']],
  ])('names in the group %s those that people meet first, in this order', (group, meant) => {
    const own = VERBS.filter(verb => verb.group === group).map(({ name }) => name)
    expect(own).toEqual(meant.filter(name => NAMES.includes(name)))
  })

  it('has no closed list that says its values twice, or has none', () => {
    for (const { name, options = [] } of VERBS) {
      for (const option of options.filter(({ values }) => values !== undefined)) {
        expect([name, option.name, option.value]).toEqual([name, option.name, undefined])
        expect(option.values?.length).toBeGreaterThan(0)
      }
    }
  })

  it('offers --json on every read and --dry-run on every write', () => {
    for (const verb of VERBS) {
      const names = listOptions(verb).map(({ name }) => name)
      if (verb.access === 'read') expect(names, verb.name).toContain('json')
      if (verb.access === 'write') expect(names, verb.name).toContain('dry-run')
      expect(new Set(names).size, verb.name).toBe(names.length)
      const shorts = listOptions(verb).flatMap(({ short }) => short ?? [])
      expect(new Set(shorts).size, verb.name).toBe(shorts.length)
    }
  })

  it.each(VERBS.map(verb => [verb.name, verb] as const))(
    'has examples of %s that are accepted',
    (_, verb) => {
      expect(verb.examples.length).toBeGreaterThan(0)
      for (const example of verb.examples) {
        const words = example.replace(/ <.*$/, '').match(/"[^"]*"|\S+/g) ?? []
        const argv = words.slice(1).map(word => word.replaceAll('"', ''))
        expect(parseCommandLine(argv, VERBS, () => undefined)?.verb.name, example).toBe(verb.name)
      }
    },
  )

  it.each(VERBS.map(verb => [verb.name, verb] as const))('shows all of %s in its help', (_, verb) => {
    const text = renderHelp(VERBS, verb.name)
    expect(text.startsWith(`Usage: winnow ${verb.name}`)).toBe(true)
    for (const { name } of listOptions(verb)) expect(text).toContain(`--${name}`)
    for (const { name } of verb.arguments ?? []) expect(text).toContain(name)
    for (const example of verb.examples) expect(text).toContain(`\n  ${example}\n`)
    for (const code of [...Object.keys(verb.exits ?? {}), '0', '2', '69', '70', '75'])
      expect(text).toContain(`\n  ${code} `)
  })

  it('lists in the overview, in groups, what most people need, and with help all every verb', () => {
    const listed = (text: string) =>
      text
        .slice(text.indexOf('\nStart:'))
        .split('\n')
        .flatMap(line => /^(?: {2}(\w+) {2,}|([A-Z]\w+):$)/.exec(line)?.slice(1).find(Boolean) ?? [])
    const inGroup = (group: string) => VERBS.filter(verb => verb.group === group).map(({ name }) => name)
    const groups = ['Start', ...inGroup('start'), 'See', ...inGroup('see'), 'Steer', ...inGroup('steer')]
    expect(listed(renderHelp(VERBS))).toEqual(groups)
    expect(listed(renderHelp(VERBS, 'all'))).toEqual([...groups, 'More', ...inGroup('more')])
  })

  it('has a line of at most 100 columns for each command of the overview', () => {
    expect(
      renderHelp(VERBS)
        .split('\n')
        .filter(line => line.length > 100),
    ).toEqual([])
  })

  it('names only commands that exist as first steps', () => {
    const named = [...renderHelp(VERBS).matchAll(/^ {2}winnow (\w+)/gm)].map(match => match[1])
    expect(named.length).toBeGreaterThanOrEqual(2)
    expect(named.filter(name => !NAMES.includes(name ?? ''))).toEqual([])
  })
})

describe('winnow help', () => {
  it('needs no repository', async () => {
    const { winnowWith } = project()
    const overview = await winnowWith({ directory: '/' }, 'help')
    expect(overview.code).toBe(0)
    expect(overview.out).toContain('Usage: winnow <command>')
    expect(await winnowWith({ directory: '/' })).toEqual(overview)
    const everything = await winnowWith({ directory: '/' }, 'help', 'all')
    expect([everything.code, everything.err]).toEqual([0, ''])
    expect(everything.out).toContain('\nMore:\n')
    expect((await winnowWith({ directory: '/' }, 'run', '--help')).out).toContain(
      'Usage: winnow run [options] [spec]',
    )
    expect((await winnowWith({ directory: '/' }, 'version')).out).toBe('0.0.0-test\n')
  })

  it.each([['help', 'runn'], ['runn'], ['start'], ['ru']])(
    'names what was probably meant by %s %s, on standard error',
    async (...argv) => {
      const { code, out, err } = await project().winnow(...argv)
      const said = `error: there is no command "${argv.at(-1)}"\n  fix: did you mean winnow run?\n`
      expect([code, out, err]).toEqual([2, '', said])
    },
  )

  it('says where they are listed when nothing is near', async () => {
    const { code, err } = await project().winnow('xyzzy')
    expect([code, err]).toEqual([
      2,
      'error: there is no command "xyzzy"\n  fix: winnow help lists the commands\n',
    ])
  })
})
