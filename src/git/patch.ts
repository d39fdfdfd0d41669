import { isUtf8 } from 'node:buffer'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Oid } from '../model/ids.ts'
import { getScratchDir } from './bare-repository.ts'
import type { DiffEntry } from './diff.ts'
import type { ObjectStore } from './objects.ts'
import { type GitRunner, type GitTask, toSilentTask } from './runner.ts'

// Applying

export type PatchResult = { tree: Oid } | { rejected: string }

/** Never touches a work tree. A patch is external input, so failure to apply is a result. */
export async function applyPatch(
  { dir, runner }: { dir: string; runner: GitRunner },
  tree: Oid,
  patch: string,
): Promise<PatchResult> {
  const scratch = mkdtempSync(join(getScratchDir(dir), 'patch-'))
  const env = { GIT_INDEX_FILE: join(scratch, 'index') }
  try {
    const patchFile = join(scratch, 'patch')
    writeFileSync(patchFile, patch.endsWith('\n') ? patch : `${patch}\n`)
    const reasons: string[] = []
    for (const options of [[], ['--3way']]) {
      await runner.run(toSilentTask(['read-tree', tree], env))
      const refused = await runner.run(applyToIndex(patchFile, env, options))
      if (refused === null)
        return { tree: await runner.run({ args: ['write-tree'], env, parse: ({ stdout }) => stdout.trim() }) }
      reasons.push(refused)
    }
    return { rejected: reasons[0] ?? '' }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Returns null if the patch applied. */
function applyToIndex(
  patchFile: string,
  env: Readonly<Record<string, string>>,
  options: readonly string[],
): GitTask<string | null> {
  return {
    args: ['apply', '--cached', '--whitespace=nowarn', ...options, '--', patchFile],
    answers: [1, 128],
    env,
    parse: ({ exitCode, stderr }) => (exitCode === 0 ? null : formatPatchErrors(stderr)),
  }
}

function formatPatchErrors(stderr: string): string {
  const errors = stderr.split('\n').filter(line => /^(?:error|fatal): (?!while searching for:)/.test(line))
  return (errors.length > 0 ? errors : [stderr]).join('\n').trim()
}

// Creating

interface PatchSource {
  dir: string
  runner: GitRunner
  store: Pick<ObjectStore, 'blob'>
}

export async function createPatch(
  { dir, runner, store }: PatchSource,
  { from, to, entries }: { from: Oid; to: Oid; entries: readonly DiffEntry[] },
): Promise<string> {
  if (await areAllText(store, entries)) return runner.run(buildPatchTask(from, to, '/dev/null'))
  // Text that is not UTF-8 and not binary to git would be damaged: in that case mark all files as binary.
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
  const standardFormat = ['--no-ext-diff', '--no-textconv', '--src-prefix=a/', '--dst-prefix=b/']
  return {
    args: ['-c', `core.attributesFile=${attributes}`, 'diff-tree', ...options, ...standardFormat, from, to],
    parse: ({ stdout }) => stdout,
  }
}
