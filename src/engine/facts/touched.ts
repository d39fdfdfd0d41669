import { type ChangedFile, type TouchedLines, digestTouchedLines } from '../../decide/changed-lines.ts'
import type { DiffEntry } from '../../git/diff-tree.ts'
import type { Repository } from '../../git/repository.ts'
import type { Oid } from '../../model/ids.ts'

/** The lines that differ between two trees, from their objects alone: anybody can find them again. */
export async function compareTouchedLines(repository: Repository, from: Oid, to: Oid): Promise<TouchedLines> {
  return readTouchedLines(repository, await repository.diff(from, to))
}

export async function readTouchedLines(
  repository: Repository,
  entries: readonly DiffEntry[],
): Promise<TouchedLines> {
  return digestTouchedLines(await Promise.all(entries.map(entry => readChangedFile(repository, entry))))
}

async function readChangedFile(repository: Repository, entry: DiffEntry): Promise<ChangedFile> {
  const { path, oldOid, newOid, oldMode, newMode, added } = entry
  const text = async (oid: Oid | null, mode: string | null) =>
    oid === null || added === null || mode === '160000' ? null : (await repository.blob(oid)).toString('utf8')
  return { path, before: await text(oldOid, oldMode), after: await text(newOid, newMode) }
}
