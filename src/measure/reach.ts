import type { Reach } from '../model/reach.ts'
import type { Supervisor } from './process/launch.ts'

/** Folders of this name get replaced in a namespace, unless the sides are below them. */
const REPLACED = /^\/(?:var\/)?tmp(?:\/|$)/
const SHARED_MEMORY = /^\/dev\/shm(?:\/|$)/

/** How sides that run as one user can reach each other, as far as their supervisor does not prevent it. */
export function listReaches({ strategy }: Pick<Supervisor, 'strategy'>, workDir: string): Reach[] {
  const always: Reach[] = ['files', 'network', 'memory']
  switch (strategy) {
    case 'pid-namespace':
      return [
        ...always,
        ...(SHARED_MEMORY.test(workDir) ? (['shared memory'] as const) : []),
        ...(REPLACED.test(workDir) ? (['/tmp'] as const) : []),
      ]
    case 'shell-namespace':
      return [...always, 'shared memory', '/tmp']
    case 'subreaper':
    case 'group':
      return [...always, 'processes', 'shared memory', '/tmp']
    // Each side has a user of its own.
    case 'uid':
      return []
    default:
      return strategy satisfies never
  }
}
