import { UserError } from '../errors.ts'
import { renderBashCompletion } from './completion/bash.ts'
import { renderFishCompletion } from './completion/fish.ts'
import { renderZshCompletion } from './completion/zsh.ts'
import type { Verb } from './verb.ts'

const SHELLS: Readonly<Record<string, (verbs: readonly Verb[]) => string>> = {
  bash: renderBashCompletion,
  zsh: renderZshCompletion,
  fish: renderFishCompletion,
}

export const completionVerb: Verb = {
  name: 'completion',
  group: 'more',
  summary:
    'print what makes a shell complete commands, options and campaigns; its first lines say where to put it',
  access: 'apart',
  arguments: [{ name: 'shell', summary: 'which shell', required: true, values: Object.keys(SHELLS) }],
  options: [],
  examples: ['winnow completion bash', 'winnow completion zsh', 'winnow completion fish'],
  exits: {},
  async run({ given, terminal, verbs }) {
    const [shell = ''] = given.positionals
    const written = SHELLS[shell]
    if (written === undefined) throw new UserError(`winnow has no completion for ${shell}`)
    terminal.out(written(verbs).trimEnd())
    return 0
  },
}
