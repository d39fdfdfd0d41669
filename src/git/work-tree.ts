import { copyFile, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toNullIfMissing, getScratchDir } from './bare-repository.ts'
import { buildOwnerIsolation } from './isolation.ts'
import type { Oid } from './object-format.ts'
import { unquotePath } from './path-bytes.ts'
import { type GitOutput, type GitRunner, createGitRunner } from './runner.ts'

export interface WorkTreeRequest {
  /** winnow's own repository, which holds HEAD's commit already and takes what is new. */
  into: string
  topLevel: string
  head: Oid
  env: Readonly<Record<string, string>>
  /** Which files that git does not know yet belong to it. */
  takes: (path: string) => boolean
}

export type WorkTreeReading =
  | { unmerged: string[] }
  /** Every known file as it lies there, and the unknown ones that are taken. */
  | { tree: Oid; leftOut: string[] }

/**
 * What lies in a person's work tree, as a tree of winnow's own repository (invariant 12): a copy of the index is
 * brought up to date in a place of ours; their index, HEAD and objects are only read.
 */
export async function readWorkTree(question: WorkTreeRequest): Promise<WorkTreeReading> {
  const { into, topLevel, head, env, takes } = question
  const folder = await mkdtemp(join(getScratchDir(into), 'work-tree-'))
  try {
    const index = join(folder, 'index')
    const theirs = createGitRunner(buildOwnerIsolation(topLevel, env))
    await copyIndex(await theirs.run(indexPath), index)
    const aside = createGitRunner(buildOwnerIsolation(topLevel, env), {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: join(into, 'objects'),
    })
    const unmerged = await aside.run(buildListTask(['ls-files', '--unmerged']))
    if (unmerged.length > 0) return { unmerged: [...new Set(unmerged.map(parseConflictPath))] }
    return await readIntoIndex({ aside, folder, head, takes })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * With the second it was written in: a file changed since then, to the same size, is known by that alone. None
 * where nothing was ever added.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const written = await stat(from).catch(toNullIfMissing)
  if (written === null) return
  await copyFile(from, to)
  const second = Math.floor(written.mtimeMs / 1000)
  await utimes(to, second, second)
}

interface ScratchIndex {
  aside: GitRunner
  folder: string
  head: Oid
  takes: (path: string) => boolean
}

/** From HEAD on, so that what was staged is read anew as well: its content may be in nobody's repository but theirs. */
async function readIntoIndex({ aside, folder, head, takes }: ScratchIndex): Promise<WorkTreeReading> {
  const staged = await aside.run(
    buildListTask(['diff-index', '--cached', '--name-only', '--no-renames', '--diff-filter=A', head]),
  )
  await aside.run(buildSilentTask(['read-tree', '--reset', head]))
  await aside.run(buildSilentTask(['add', '--update', '--verbose', '--', '.']))
  const unknown = await aside.run(buildListTask(['ls-files', '--others', '--exclude-standard']))
  const known = new Set(staged)
  const taken = unknown.filter(line => known.has(line) || (isFile(line) && takes(unquotePath(line))))
  const forced = await selectExisting(aside, staged)
  const list = join(folder, 'paths')
  await writeFile(list, [...new Set([...taken, ...forced])].map(line => `${line}\n`).join(''))
  if (taken.length + forced.length > 0)
    await aside.run(buildSilentTask([...ADD_LISTED, `--pathspec-from-file=${list}`]))
  const leftOut = unknown.filter(line => !taken.includes(line)).map(unquotePath)
  return { tree: await aside.run(writeTree), leftOut }
}

/** A split index would put its other half beside theirs. */
const OWN_FILE = ['-c', 'core.splitIndex=false']

const ADD_LISTED = ['--literal-pathspecs', 'add', '--force', '--verbose']

/** Another repository inside this one is printed as a folder. */
function isFile(line: string): boolean {
  return !line.endsWith('/') && !line.endsWith('/"')
}

/** Of those that were staged as new, also where they are ignored. */
async function selectExisting(aside: GitRunner, staged: readonly string[]): Promise<string[]> {
  if (staged.length === 0) return []
  const all = new Set(await aside.run(buildListTask(['ls-files', '--others'])))
  return staged.filter(line => all.has(line))
}

const indexPath = {
  args: ['rev-parse', '--path-format=absolute', '--git-path', 'index'],
  parse: ({ stdout }: GitOutput) => stdout.trimEnd(),
}

const writeTree = { args: ['write-tree'], parse: ({ stdout }: GitOutput) => stdout.trim() }

/** Names stay quoted as git prints them: that is also how it reads them from a file. */
function buildListTask(args: readonly string[]) {
  return {
    args: [...OWN_FILE, ...args],
    parse: ({ stdout }: GitOutput) => stdout.split('\n').filter(line => line !== ''),
  }
}

function buildSilentTask(args: readonly string[]) {
  return { args: [...OWN_FILE, ...args], parse: () => undefined }
}

/** `100644 <oid> <stage>`, then the path. */
function parseConflictPath(line: string): string {
  return unquotePath(line.slice(line.indexOf('\t') + 1))
}
