import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { renderAllCommands, renderOverview, renderVerbHelp } from '../../src/cli/help.ts'
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
    for (const { name, options } of VERBS) {
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
        expect(parseCommandLine(argv, VERBS).verb.name, example).toBe(verb.name)
      }
    },
  )

  it.each(VERBS.map(verb => [verb.name, verb] as const))('shows all of %s in its help', (_, verb) => {
    const text = renderVerbHelp(verb).join('\n')
    expect(text.startsWith(`usage: winnow ${verb.name}`)).toBe(true)
    for (const { name } of listOptions(verb)) expect(text).toContain(`--${name}`)
    for (const { name } of verb.arguments) expect(text).toContain(name)
    for (const code of [...Object.keys(verb.exits), '0', '2', '69', '70', '75'])
      expect(text).toContain(`  ${code} `)
  })

  it('lists in the overview, in groups, what most people need, and with help all every verb', () => {
    const listed = (lines: string[]) =>
      lines.flatMap(line => /^(?: {2}(\w+) {2,}|([A-Z]\w+)$)/.exec(line)?.slice(1).find(Boolean) ?? [])
    const inGroup = (group: string) => VERBS.filter(verb => verb.group === group).map(({ name }) => name)
    const groups = ['Start', ...inGroup('start'), 'See', ...inGroup('see'), 'Steer', ...inGroup('steer')]
    expect(listed(renderOverview(VERBS))).toEqual(groups)
    expect(listed(renderAllCommands(VERBS))).toEqual([...groups, 'More', ...inGroup('more')])
  })

  it('fits the overview into 80 columns, a line for each command', () => {
    expect(renderOverview(VERBS).filter(line => line.length > 80)).toEqual([])
  })

  it('says in the overview what to type first, and only what there is', () => {
    const shown = (verbs: typeof VERBS) =>
      renderOverview(verbs).flatMap(line => /^ {2}winnow (\w+)/.exec(line)?.[1] ?? [])
    expect(shown(VERBS).length).toBeGreaterThanOrEqual(2)
    expect(shown(VERBS).filter(name => !NAMES.includes(name))).toEqual([])
    expect(shown(VERBS.filter(({ name }) => name !== 'check'))).not.toContain('check')
  })
})

describe('winnow help', () => {
  it('needs no repository', async () => {
    const { winnowWith } = project()
    const overview = await winnowWith({ directory: '/' }, 'help')
    expect(overview.code).toBe(0)
    expect(overview.out).toContain('usage: winnow <command>')
    expect(await winnowWith({ directory: '/' })).toEqual(overview)
    const everything = await winnowWith({ directory: '/' }, 'help', 'all')
    expect([everything.code, everything.err]).toEqual([0, ''])
    expect(everything.out).toContain('\nMore\n')
    expect((await winnowWith({ directory: '/' }, 'run', '--help')).out).toContain('usage: winnow run [spec]')
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
