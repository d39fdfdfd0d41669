import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createBareRepository, readRepositoryFormat, getScratchDir } from './bare-repository.ts'
import { buildFetchTask } from './fetch.ts'
import { buildLocalIsolation } from './isolation.ts'
import type { Oid } from './object-format.ts'
import { createGitRunner } from './runner.ts'

interface CommitRecovery {
  /** A damaged repository: only its objects are read. */
  from: string
  to: string
  env: Readonly<Record<string, string>>
  commits: readonly Oid[]
}

/** Copies these commits with their history, as far as git can read and verify them. Returns how many it copied. */
export async function recoverCommits({ from, to, env, commits }: CommitRecovery): Promise<number> {
  const format = await readRepositoryFormat(to)
  if (format === null || commits.length === 0) return 0
  const room = await mkdtemp(join(getScratchDir(to), 'salvage-'))
  const borrowed = join(room, 'repository.git')
  const git = createGitRunner(buildLocalIsolation(to, env), { GIT_DIR: to })
  try {
    await createBareRepository(borrowed, format, env)
    await writeFile(join(borrowed, 'objects/info/alternates'), `${join(from, 'objects')}\n`)
    let saved = 0
    for (const oid of commits) {
      const ref = 'refs/heads/salvaged'
      await writeFile(join(borrowed, 'packed-refs'), `# pack-refs with: sorted \n${oid} ${ref}\n`)
      const { exitCode } = await git.run(buildFetchTask({ dir: to, remote: borrowed }, [{ ref, oid }], 'ref'))
      if (exitCode === 0) saved += 1
    }
    return saved
  } finally {
    await rm(room, { recursive: true, force: true })
  }
}
