import type { Call } from './call.ts'
import { renderAllCommands, renderOverview, renderVerbHelp } from './help-text.ts'
import { createUnknownVerbError } from './unknown-verb.ts'
import type { Verb } from './verb.ts'

export const helpVerb: Verb = {
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
    for (const line of renderHelp(name, verbs)) terminal.out(line)
    return 0
  },
}

function renderHelp(name: string | undefined, verbs: readonly Verb[]): string[] {
  if (name === undefined) return renderOverview(verbs)
  return name === EVERYTHING ? renderAllCommands(verbs) : renderVerbHelp(findVerb(verbs, name))
}

export const EVERYTHING = 'all'

export function findVerb(verbs: readonly Verb[], name: string): Verb {
  const found = verbs.find(each => each.name === name)
  if (found !== undefined) return found
  throw createUnknownVerbError(name, verbs)
}
