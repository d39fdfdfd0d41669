import { Buffer, isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Oid } from '../model/ids.ts'
import { getScratchDir } from './bare-repository.ts'
import type { DiffEntry } from './diff.ts'
import type { ObjectFormat } from './object-format.ts'
import type { ObjectStore } from './objects.ts'
import type { GitRunner, GitTask } from './runner.ts'
import { decodeName, encodeName, listTreeFiles, parseMode, type TreeChange, type TreeFile } from './tree.ts'

// Applying

export type PatchResult = { tree: Oid } | { rejected: string }

interface PatchContext {
  dir: string
  format: ObjectFormat
  runner: GitRunner
  store: ObjectStore
}

/** Never touches a work tree. A patch is external input, so failure to apply is a result. */
export async function applyPatch(context: PatchContext, tree: Oid, patch: string): Promise<PatchResult> {
  const scratch = mkdtempSync(join(getScratchDir(context.dir), 'patch-'))
  try {
    const patchFile = join(scratch, 'patch')
    writeFileSync(patchFile, patch.endsWith('\n') ? patch : `${patch}\n`)
    const files = await listTreeFiles(context.store, tree)
    const index = buildIndexFile(context.format, files)
    const indexPath = join(scratch, 'index')
    const reasons: string[] = []
    for (const options of [[], ['--3way']]) {
      writeFileSync(indexPath, index)
      const refused = await context.runner.run(applyToIndex(patchFile, indexPath, options))
      if (refused === null)
        return { tree: await buildPatchedTree(context, tree, files, readFileSync(indexPath)) }
      reasons.push(refused)
    }
    return { rejected: reasons[0] ?? '' }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Returns null if the patch applied. */
function applyToIndex(patchFile: string, index: string, options: readonly string[]): GitTask<string | null> {
  return {
    args: ['apply', '--cached', '--whitespace=nowarn', ...options, '--', patchFile],
    answers: [1, 128],
    env: { GIT_INDEX_FILE: index },
    parse: ({ exitCode, stderr }) => (exitCode === 0 ? null : formatPatchErrors(stderr)),
  }
}

function formatPatchErrors(stderr: string): string {
  const errors = stderr.split('\n').filter(line => /^(?:error|fatal): (?!while searching for:)/.test(line))
  return (errors.length > 0 ? errors : [stderr]).join('\n').trim()
}

/** Writes the trees in process, which saves a git process per patch. */
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

// Index files

const STAT_BYTES = 40
const MODE_OFFSET = 24

/** Builds a git index (version 2) without a work tree: every stat field is zero. */
export function buildIndexFile(format: ObjectFormat, files: readonly TreeFile[]): Buffer {
  const entries = files.map(file => ({ file, path: encodeName(file.path) }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  const header = Buffer.alloc(12)
  header.write('DIRC', 'latin1')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries.map(({ file, path }) => encodeIndexEntry(file, path))])
  return Buffer.concat([body, createHash(format).update(body).digest()])
}

function encodeIndexEntry(file: TreeFile, path: Buffer): Buffer {
  const oid = Buffer.from(file.oid, 'hex')
  const length = STAT_BYTES + oid.length + 2 + path.length
  // One to eight NULs pad the entry to a multiple of eight.
  const entry = Buffer.alloc(length + 8 - (length % 8))
  entry.writeUInt32BE(Number.parseInt(file.mode, 8), MODE_OFFSET)
  oid.copy(entry, STAT_BYTES)
  entry.writeUInt16BE(Math.min(path.length, 0xfff), STAT_BYTES + oid.length)
  path.copy(entry, STAT_BYTES + oid.length + 2)
  return entry
}

/** Reads the entries of an index of version 2 or 3. Skips conflicts and intent-to-add entries. */
export function parseIndexEntries(format: ObjectFormat, bytes: Buffer): TreeFile[] {
  const version = bytes.readUInt32BE(4)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version > 3)
    throw new Error(`unknown git index, version ${version}`)
  const oidBytes = format === 'sha1' ? 20 : 32
  const files: TreeFile[] = []
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flags = bytes.readUInt16BE(at + STAT_BYTES + oidBytes)
    const extended = (flags & EXTENDED) === 0 ? 0 : 2
    const start = at + STAT_BYTES + oidBytes + 2 + extended
    const end = bytes.indexOf(0, start)
    const mode = parseMode(bytes.readUInt32BE(at + MODE_OFFSET).toString(8))
    const oid = bytes.toString('hex', at + STAT_BYTES, at + STAT_BYTES + oidBytes)
    files.push({ path: decodeName(bytes.subarray(start, end)), mode, oid })
    at += Math.floor((end - at) / 8) * 8 + 8
  }
  return files
}

const EXTENDED = 0x4000
