import { UserError } from '../errors.ts'
import { nearest } from '../spec/suggest.ts'
import type { Call } from './call.ts'
import { overviewText, verbText } from './help-text.ts'
import type { Verb } from './verb.ts'

export const help: Verb = {
  name: 'help',
  group: 'more',
  summary: 'list the commands, or show one in full',
  access: 'apart',
  arguments: [{ name: 'command', summary: 'the command to show', required: false }],
  options: [],
  examples: ['winnow help', 'winnow help run'],
  exits: {},
  async run({ given, terminal, verbs }: Call) {
    const [name] = given.positionals
    const lines = name === undefined ? overviewText(verbs) : verbText(verbNamed(verbs, name))
    for (const line of lines) terminal.out(line)
    return 0
  },
}

export function verbNamed(verbs: readonly Verb[], name: string): Verb {
  const found = verbs.find(each => each.name === name)
  if (found !== undefined) return found
  const near = nearest(
    name,
    verbs.map(each => each.name),
  )
  throw new UserError(`there is no command ${JSON.stringify(name)}`, {
    fix: near === undefined ? 'winnow help lists the commands' : `did you mean winnow ${near}?`,
  })
}
