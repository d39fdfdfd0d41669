import { isUtf8 } from 'node:buffer'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getScratchDir } from './bare-repository.ts'
import type { DiffEntry } from './diff-tree.ts'
import type { Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'
import type { GitRunner, GitTask } from './runner.ts'

interface PatchSource {
  dir: string
  runner: GitRunner
  store: Pick<ObjectStore, 'blob'>
}

/** Everything by which two trees differ, as text that `applyPatch` turns back into exactly that. */
export async function createPatch(
  { dir, runner, store }: PatchSource,
  { from, to, entries }: { from: Oid; to: Oid; entries: readonly DiffEntry[] },
): Promise<string> {
  if (await areAllText(store, entries)) return runner.run(buildPatchTask(from, to, '/dev/null'))
  // What is neither UTF-8 nor binary to git would be damaged as text: then all of it is binary.
  const scratch = mkdtempSync(join(getScratchDir(dir), 'attributes-'))
  try {
    const attributes = join(scratch, 'attributes')
    writeFileSync(attributes, '* -diff\n')
    return await runner.run(buildPatchTask(from, to, attributes))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function areAllText(store: PatchSource['store'], entries: readonly DiffEntry[]): Promise<boolean> {
  for (const { added, oldOid, newOid, oldMode, newMode } of entries) {
    if (added === null) continue
    const sides = [oldMode === '160000' ? null : oldOid, newMode === '160000' ? null : newOid]
    for (const oid of sides) if (oid !== null && !isUtf8(await store.blob(oid))) return false
  }
  return true
}

function buildPatchTask(from: Oid, to: Oid, attributes: string): GitTask<string> {
  const options = ['-r', '-p', '--binary', '--full-index', '--no-renames', '--no-color']
  const alone = ['--no-ext-diff', '--no-textconv', '--src-prefix=a/', '--dst-prefix=b/']
  return {
    args: ['-c', `core.attributesFile=${attributes}`, 'diff-tree', ...options, ...alone, from, to],
    parse: ({ stdout }) => stdout,
  }
}
