import type { Verb } from './verb.ts'

export const versionVerb: Verb = {
  name: 'version',
  group: 'more',
  summary: 'print the version',
  access: 'apart',
  arguments: [],
  options: [],
  examples: ['winnow version'],
  exits: {},
  async run({ terminal, around }) {
    terminal.out(around.version)
    return 0
  },
}
