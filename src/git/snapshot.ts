import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scratchOf } from './bare-repository.ts'
import { networkIsolation } from './isolation.ts'
import type { Oid } from './object-format.ts'
import { gitRunner } from './runner.ts'

type Env = Readonly<Record<string, string>>

/**
 * What `git add -A` and a commit would make of a work tree, as a tree in winnow's own repository, which has the
 * commit that is checked out. Invariant 12: index and objects are ours, and of the person's nothing is written.
 * Their configuration counts, since what is ignored and how lines end is theirs to say.
 */
export async function snapshotOf(topLevel: string, dir: string, env: Env): Promise<Oid> {
  const index = join(scratchOf(dir), `index-${randomBytes(8).toString('hex')}`)
  const git = gitRunner(networkIsolation(topLevel, env), {
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(dir, 'objects'),
  })
  const ask = (...args: string[]) => git.run({ args, parse: ({ stdout }) => stdout.trim() })
  try {
    await ask('read-tree', '-v', 'HEAD')
    await ask('add', '--all', '--verbose')
    return await ask('write-tree')
  } finally {
    await rm(index, { force: true })
  }
}

/** Paths of a work tree that are not as they are committed: changed, removed, or new and not ignored. */
export function uncommittedPaths(topLevel: string, env: Env): Promise<string[]> {
  return gitRunner(networkIsolation(topLevel, env)).run({
    args: [
      'status',
      '--porcelain',
      '-z',
      '--no-renames',
      '--untracked-files=all',
      '--ignore-submodules=dirty',
    ],
    parse: ({ stdout }) => stdout.split('\0').flatMap(line => (line === '' ? [] : [line.slice(3)])),
  })
}

/** What a sparse checkout leaves out looks removed to a new index. */
export function isSparse(topLevel: string, env: Env): Promise<boolean> {
  return gitRunner(networkIsolation(topLevel, env)).run({
    args: ['config', '--bool', '--get', 'core.sparseCheckout'],
    answers: [1],
    parse: ({ stdout }) => stdout.trim() === 'true',
  })
}
