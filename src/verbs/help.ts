import type { Call } from './call.ts'
import { everythingText, overviewText, verbText } from './help-text.ts'
import { unknownVerb } from './unknown-verb.ts'
import type { Verb } from './verb.ts'

export const help: Verb = {
  name: 'help',
  group: 'more',
  summary: 'list the commands most people need, all of them, or show one in full',
  access: 'apart',
  arguments: [{ name: 'command', summary: 'the command to show, or all', required: false }],
  options: [],
  examples: ['winnow help', 'winnow help run', 'winnow help all'],
  exits: {},
  async run({ given, terminal, verbs }: Call) {
    const [name] = given.positionals
    for (const line of linesOf(name, verbs)) terminal.out(line)
    return 0
  },
}

function linesOf(name: string | undefined, verbs: readonly Verb[]): string[] {
  if (name === undefined) return overviewText(verbs)
  return name === EVERYTHING ? everythingText(verbs) : verbText(verbNamed(verbs, name))
}

export const EVERYTHING = 'all'

export function verbNamed(verbs: readonly Verb[], name: string): Verb {
  const found = verbs.find(each => each.name === name)
  if (found !== undefined) return found
  throw unknownVerb(name, verbs)
}
