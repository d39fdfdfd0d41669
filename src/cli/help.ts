import { createProgram, createUnknownVerbError, EVERYTHING } from './command-line.ts'
import type { Verb } from './verb.ts'

export const helpVerb: Verb = {
  name: 'help',
  group: 'more',
  summary: 'list the common commands or all of them, or show one',
  access: 'apart',
  arguments: [{ name: 'command', summary: 'the command to show, or all', required: false }],
  options: [],
  examples: ['winnow help', 'winnow help run', 'winnow help all'],
  exits: {},
  async run({ given, terminal, verbs }) {
    const [name] = given.positionals
    terminal.out(renderHelp(verbs, name))
    return 0
  },
}

export const versionVerb: Verb = {
  name: 'version',
  group: 'more',
  summary: 'print the version',
  access: 'apart',
  arguments: [],
  options: [],
  examples: ['winnow version'],
  exits: {},
  async run({ terminal, environment }) {
    terminal.out(environment.version)
    return 0
  },
}

export function renderHelp(verbs: readonly Verb[], name?: string): string {
  let text = ''
  const program = createProgram(verbs, { print: part => (text += part), all: name === EVERYTHING })
  const command = program.commands.find(each => each.name() === name)
  if (command === undefined && name !== undefined && name !== EVERYTHING)
    throw createUnknownVerbError(name, verbs)
  ;(command ?? program).outputHelp()
  return text.trimEnd()
}
