import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import type { NewFile } from '../setup/harness/skeleton.ts'

/** Nothing that exists is overwritten: what was written before a collision is taken back. */
export async function writeNewFiles(topLevel: string, files: readonly NewFile[]): Promise<void> {
  requireAbsent(topLevel, files)
  const written: string[] = []
  try {
    for (const { path, text } of files) {
      const file = join(topLevel, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: 'wx' })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    throw toUserError(error)
  }
}

export function requireAbsent(topLevel: string, files: readonly NewFile[]): void {
  const there = files.find(({ path }) => existsSync(join(topLevel, path)))
  if (there === undefined) return
  throw new UserError(`${there.path} exists already, and init overwrites nothing`, {
    place: { file: there.path },
    fix: 'give the new spec another name: winnow init --name <other>',
  })
}

function toUserError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error
  const { code } = error
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST'].includes(String(code)))
    return error
  return new UserError(`the files could not be written: ${error.message}`, {
    fix: 'give write permission or free space there, and repeat',
    cause: error,
  })
}

/** The default branch as it would be with these files committed: what can be tried before they are. */
export async function commitNewFiles(
  { repository }: RepositoryContext,
  base: Point,
  files: readonly NewFile[],
  now: number,
): Promise<Point> {
  const changes = []
  for (const { path, text } of files) {
    const entry = { mode: '100644' as const, oid: await repository.writeBlob(text) }
    changes.push({ path, entry })
  }
  const tree = await repository.replaceEntries(base.tree, changes)
  const date = Math.floor(now / 1000)
  const commit = await repository.writeCommit({ tree, parents: [base.commit], message: 'winnow init', date })
  return { commit, tree }
}
