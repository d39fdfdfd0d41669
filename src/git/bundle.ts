import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createBareRepository, getScratchDir } from './bare-repository.ts'
import type { RemoteTip } from './fetch.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { ObjectFormat } from './object-format.ts'
import { type GitTask, createGitRunner } from './runner.ts'

export interface BundleRequest {
  /** A repository of ours in which everything that is reachable from the tips is present. */
  dir: string
  format: ObjectFormat
  tips: readonly RemoteTip[]
  /** Absolute. */
  file: string
  env: Readonly<Record<string, string>>
}

/**
 * Branches with their whole history in one file, as git itself would check it before bringing them back. They get
 * their own names in a repository that only borrows the objects.
 */
export async function saveBundle({ dir, format, tips, file, env }: BundleRequest): Promise<void> {
  const room = await mkdtemp(join(getScratchDir(dir), 'bundle-'))
  const borrowed = join(room, 'repository.git')
  try {
    await createBareRepository(borrowed, format, env)
    await writeFile(join(borrowed, 'objects/info/alternates'), `${join(dir, 'objects')}\n`)
    const lines = tips.toSorted((a, b) => (a.ref < b.ref ? -1 : 1)).map(({ ref, oid }) => `${oid} ${ref}\n`)
    await writeFile(join(borrowed, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`)
    const git = createGitRunner(buildLocalIsolation(borrowed, env))
    await git.run(buildBundleTask('create', file, '--all'))
    await git.run(buildBundleTask('verify', file))
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}

function buildBundleTask(verb: 'create' | 'verify', file: string, ...what: string[]): GitTask<void> {
  return { args: ['bundle', verb, '-q', file, ...what], parse: () => undefined }
}
