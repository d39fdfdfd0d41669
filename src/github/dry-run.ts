import type { Check } from '../model/github.ts'
import { type Forge, type ForgeChange, type HeadAuthors, type Workflows, withSingleChanges } from './port.ts'

/** Ends a dry run at the first step that depends on the answer to a write. */
export class WouldChange extends Error {
  override readonly name = 'WouldChange'
}

const UNKNOWN_AUTHORS: HeadAuthors = { head: '', pusher: null, named: [] }

/** Reads from the forge, and prints one line per change instead of writing it. */
export function createDryRunForge(forge: Forge, tell: (line: string) => void): Forge {
  function batch(changes: readonly ForgeChange[]): never {
    for (const change of changes) tell(describeChange(change))
    throw new WouldChange('something would be changed on the forge')
  }

  const { workflows, isPrivate } = forge
  return {
    ...withSingleChanges({
      kind: forge.kind,
      list: (...args) => forge.list(...args),
      batch: async changes => (changes.length === 0 ? [] : batch(changes)),
    }),
    check: async check => tell(describeCheck(check)),
    ...(forge.readPermission
      ? { readPermission: async login => (await forge.readPermission?.(login)) ?? null }
      : {}),
    ...(forge.readHeadAuthors
      ? { readHeadAuthors: async number => (await forge.readHeadAuthors?.(number)) ?? UNKNOWN_AUTHORS }
      : {}),
    ...(isPrivate === undefined ? {} : { isPrivate }),
    ...(workflows === undefined ? {} : { workflows: createDryRunWorkflows(workflows, tell) }),
  }
}

function createDryRunWorkflows(real: Workflows, tell: (line: string) => void): Workflows {
  return {
    ...real,
    async start({ branch, inputs }) {
      tell(`start a run on ${branch}: ${Object.values(inputs).join(', ')}`)
      throw new WouldChange('a run would be started')
    },
    cancel: async run => tell(`cancel workflow run ${run}`),
  }
}

function describeChange(change: ForgeChange): string {
  switch (change.kind) {
    case 'open':
      return `open a ${change.draft === true ? 'draft' : 'pull request'} of ${change.branch} into ${change.base}: ${change.title}`
    case 'update':
      return `change what #${change.number} says${change.title === undefined ? '' : `: ${change.title}`}`
    case 'comment':
    case 'review':
      return `${change.kind} #${change.number}: ${change.body.split('\n')[0] ?? ''}`
    case 'label':
      return `label #${change.number}: ${[...(change.add ?? []), ...(change.remove ?? []).map(name => `not ${name}`)].join(', ')}`
    case 'close':
      return `close #${change.number}`
    default:
      return change satisfies never
  }
}

function describeCheck({ head, state, title }: Check): string {
  return `show ${state} at ${head.slice(0, 12)}: ${title}`
}
