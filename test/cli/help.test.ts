import { describe, expect, it } from 'vitest'
import { parseCommandLine } from '../../src/cli/parse.ts'
import { overviewText, verbText } from '../../src/verbs/help-text.ts'
import { VERBS } from '../../src/verbs/registry.ts'
import { optionsOf } from '../../src/verbs/verb.ts'
import { project } from './project.ts'

const NAMES = VERBS.map(({ name }) => name)

describe('the registry of verbs', () => {
  it('has the verbs of this release', () => {
    const spoken = 'check run tick propose measure decide status log show note amend revert pause resume stop'
    expect(NAMES).toEqual([...spoken.split(' '), 'archive', 'audit', 'replay', 'help', 'version'])
  })

  it('offers --json on every read and --dry-run on every write', () => {
    for (const verb of VERBS) {
      const names = optionsOf(verb).map(({ name }) => name)
      if (verb.access === 'read') expect(names, verb.name).toContain('json')
      if (verb.access === 'write') expect(names, verb.name).toContain('dry-run')
      expect(new Set(names).size, verb.name).toBe(names.length)
      const shorts = optionsOf(verb).flatMap(({ short }) => short ?? [])
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
    const text = verbText(verb).join('\n')
    expect(text.startsWith(`usage: winnow ${verb.name}`)).toBe(true)
    for (const { name } of optionsOf(verb)) expect(text).toContain(`--${name}`)
    for (const { name } of verb.arguments) expect(text).toContain(name)
    for (const code of [...Object.keys(verb.exits), '0', '2', '69', '70', '75'])
      expect(text).toContain(`  ${code} `)
  })

  it('lists every verb once in the overview', () => {
    const text = overviewText(VERBS)
    for (const name of NAMES) expect(text.filter(line => line.startsWith(`  ${name} `))).toHaveLength(1)
  })
})

describe('winnow help', () => {
  it('needs no repository', async () => {
    const { winnowWith } = project()
    const overview = await winnowWith({ directory: '/' }, 'help')
    expect(overview.code).toBe(0)
    expect(overview.out).toContain('usage: winnow <command>')
    expect((await winnowWith({ directory: '/' }, 'run', '--help')).out).toContain('usage: winnow run [spec]')
    expect((await winnowWith({ directory: '/' }, 'version')).out).toBe('0.0.0-test\n')
  })

  it('names what is near to a command there is not', async () => {
    const { code, err } = await project().winnow('help', 'runn')
    expect([code, err]).toEqual([2, 'error: there is no command "runn"\n  fix: did you mean winnow run?\n'])
  })
})
