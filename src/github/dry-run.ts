import type { Forge, ForgeChange, Workflows } from './port.ts'

/** Ends a dry run at the first step that depends on the answer to a write. */
export class WouldChange extends Error {
  override readonly name = 'WouldChange'
}

/** Reads from GitHub, and prints one line per change instead of writing it. */
export function createDryRunForge(forge: Forge, print: (line: string) => void): Forge {
  const { workflows } = forge
  return {
    ...forge,
    async batch(changes) {
      if (changes.length === 0) return []
      for (const change of changes) print(describeChange(change))
      throw new WouldChange('something would be changed on GitHub')
    },
    async merge(number) {
      print(`merge #${number}`)
      throw new WouldChange(`#${number} would be merged`)
    },
    check: async ({ head, state, title }) =>
      print(`set the check ${state} at ${head.slice(0, 12)}: ${title}`),
    react: async () => undefined,
    ...(workflows === undefined ? {} : { workflows: createDryRunWorkflows(workflows, print) }),
  }
}

function createDryRunWorkflows(real: Workflows, print: (line: string) => void): Workflows {
  return {
    ...real,
    async start({ branch, inputs }) {
      print(`start a run on ${branch}: ${Object.values(inputs).join(', ')}`)
      throw new WouldChange('a run would be started')
    },
    cancel: async run => print(`cancel workflow run ${run}`),
  }
}

function describeChange(change: ForgeChange): string {
  switch (change.kind) {
    case 'open':
      return `open a ${change.draft === true ? 'draft' : 'pull request'} of ${change.branch} into ${change.base}: ${change.title}`
    case 'update':
      return `update #${change.number}${change.title === undefined ? '' : `: ${change.title}`}`
    case 'comment':
      return `comment #${change.number}: ${change.body.split('\n')[0] ?? ''}`
    case 'close':
      return `close #${change.number}`
    default:
      return change satisfies never
  }
}
