import type { Buffer } from 'node:buffer'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getScratchDir } from './bare-repository.ts'
import type { TreeChange } from './edit-tree.ts'
import { parseIndexEntries, buildIndexFile } from './index-file.ts'
import type { ObjectFormat, Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'
import type { GitRunner, GitTask } from './runner.ts'
import { type TreeFile, listTreeFiles } from './tree-walk.ts'

export type PatchResult = { tree: Oid } | { rejected: string }

export interface PatchContext {
  dir: string
  format: ObjectFormat
  runner: GitRunner
  store: ObjectStore
}

/** In an index of its own, never in a work tree. A patch comes from outside: it can only be rejected. */
export async function applyPatch(place: PatchContext, tree: Oid, patch: string): Promise<PatchResult> {
  const scratch = mkdtempSync(join(getScratchDir(place.dir), 'patch-'))
  try {
    const patchFile = join(scratch, 'patch')
    writeFileSync(patchFile, patch.endsWith('\n') ? patch : `${patch}\n`)
    const files = await listTreeFiles(place.store, tree)
    const index = buildIndexFile(place.format, files)
    const indexPath = join(scratch, 'index')
    const reasons: string[] = []
    for (const options of [[], ['--3way']]) {
      writeFileSync(indexPath, index)
      const refused = await place.runner.run(applyToIndex(patchFile, indexPath, options))
      if (refused === null)
        return { tree: await buildPatchedTree(place, tree, files, readFileSync(indexPath)) }
      reasons.push(refused)
    }
    return { rejected: reasons[0] ?? '' }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** null: it applied. Verbose, because the runner waits 50 ms for a command that prints nothing. */
function applyToIndex(patchFile: string, index: string, options: readonly string[]): GitTask<string | null> {
  return {
    args: ['apply', '--cached', '--verbose', '--whitespace=nowarn', ...options, '--', patchFile],
    answers: [1, 128],
    env: { GIT_INDEX_FILE: index },
    parse: ({ exitCode, stderr }) => (exitCode === 0 ? null : formatPatchErrors(stderr)),
  }
}

function formatPatchErrors(stderr: string): string {
  const errors = stderr.split('\n').filter(line => /^(?:error|fatal): (?!while searching for:)/.test(line))
  return (errors.length > 0 ? errors : [stderr]).join('\n').trim()
}

/** What the patch changed, written in process: a git process less for every patch. */
async function buildPatchedTree(
  { store, format }: PatchContext,
  before: Oid,
  files: readonly TreeFile[],
  index: Buffer,
): Promise<Oid> {
  const old = new Map(files.map(file => [file.path, file]))
  const changes: TreeChange[] = []
  for (const { path, mode, oid } of parseIndexEntries(format, index)) {
    const known = old.get(path)
    old.delete(path)
    if (known?.oid !== oid || known.mode !== mode) changes.push({ path, entry: { mode, oid } })
  }
  for (const path of old.keys()) changes.push({ path, entry: null })
  return store.replaceEntries(before, changes)
}
