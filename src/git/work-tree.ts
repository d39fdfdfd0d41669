import { copyFile, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { getScratchDir, toNullIfMissing } from './bare-repository.ts'
import { buildLocalIsolation, buildNetworkIsolation, buildOwnerIsolation } from './isolation.ts'
import {
  createGitRunner,
  GitExit,
  type GitOutput,
  type GitRunner,
  type GitTask,
  toSilentTask,
} from './runner.ts'
import { unquotePath } from './tree.ts'

// Checkout

/** The user's repository, which is only read. */
export interface Checkout {
  /** Absolute path; null in a bare repository and inside of .git. */
  topLevel: string | null
  commonDir: string
  /** Full name of HEAD's branch; null when detached. */
  head: string | null
  remotes: { name: string; url: string }[]
}

/** Reads the configuration of the repository, not that of the user. */
export async function inspectCheckout(
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<Checkout> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  const ask = (...args: string[]) => git.run({ args, answers: [1, 128], parse: output => output })
  const inside = await ask('rev-parse', '--path-format=absolute', '--git-common-dir', '--is-bare-repository')
  if (inside.exitCode !== 0) {
    throw new UserError(`${directory} is not in a git repository`, {
      fix: 'run winnow inside the repository to be optimised, or git init first',
    })
  }
  const [commonDir = '', bare] = inside.stdout.trimEnd().split('\n')
  // git names no work tree inside of .git either.
  const topLevel = bare === 'true' ? '' : (await ask('rev-parse', '--show-toplevel')).stdout.trimEnd()
  const head = (await ask('symbolic-ref', '-q', 'HEAD').catch(acceptGitExit)).stdout.trim()
  const urls = await ask('config', '--get-regexp', '^remote\\..*\\.url$').catch(acceptGitExit)
  return {
    topLevel: topLevel || null,
    commonDir,
    head: head || null,
    remotes: urls.exitCode === 0 ? parseRemotes(urls.stdout) : [],
  }
}

function acceptGitExit(error: unknown) {
  if (error instanceof GitExit) return error.output
  throw error
}

function parseRemotes(text: string): Checkout['remotes'] {
  return text.split('\n').flatMap(line => {
    const match = /^remote\.(.+)\.url (.+)$/.exec(line)
    return match?.[1] && match[2] ? [{ name: match[1], url: match[2] }] : []
  })
}

// Work tree

interface WorkTreeRequest {
  /** winnow's own repository. It already holds HEAD's commit and receives the new objects. */
  into: string
  topLevel: string
  head: Oid
  env: Readonly<Record<string, string>>
  /** Selects the untracked files to include. */
  takes: (path: string) => boolean
}

export type WorkTreeReading =
  | { unmerged: string[] }
  /** The tree holds every tracked file as it is on disk, and the selected untracked files. */
  | { tree: Oid; leftOut: string[] }

/**
 * Reads a user's work tree as a tree of winnow's own repository (invariant 12). Updates a copy of the index in
 * a scratch directory; the user's index, HEAD and objects are only read.
 */
export async function readWorkTree(question: WorkTreeRequest): Promise<WorkTreeReading> {
  const { into, topLevel, head, env, takes } = question
  const folder = await mkdtemp(join(getScratchDir(into), 'work-tree-'))
  try {
    const index = join(folder, 'index')
    const theirs = createGitRunner(buildOwnerIsolation(topLevel, env))
    await copyIndex(await theirs.run(indexPath), index)
    const git = createGitRunner(buildOwnerIsolation(topLevel, env), {
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: join(into, 'objects'),
    })
    const unmerged = await git.run(buildListTask(['ls-files', '--unmerged']))
    if (unmerged.length > 0) return { unmerged: [...new Set(unmerged.map(parseConflictPath))] }
    return await readIntoIndex({ git, folder, head, takes })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Keeps the modification time in seconds: git uses it to detect a file that changed since then to the same
 * size. Does nothing if the user has no index yet.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const written = await stat(from).catch(toNullIfMissing)
  if (written === null) return
  await copyFile(from, to)
  const second = Math.floor(written.mtimeMs / 1000)
  await utimes(to, second, second)
}

interface ScratchIndex {
  git: GitRunner
  folder: string
  head: Oid
  takes: (path: string) => boolean
}

/** Starts from HEAD: the content of staged files may exist only in the user's repository. */
async function readIntoIndex({ git, folder, head, takes }: ScratchIndex): Promise<WorkTreeReading> {
  const staged = await git.run(
    buildListTask(['diff-index', '--cached', '--name-only', '--no-renames', '--diff-filter=A', head]),
  )
  await git.run(toSilentTask([...NO_SPLIT_INDEX, 'read-tree', '--reset', head]))
  await git.run(toSilentTask([...NO_SPLIT_INDEX, 'add', '--update', '--', '.']))
  const unknown = await git.run(buildListTask(['ls-files', '--others', '--exclude-standard']))
  const known = new Set(staged)
  const taken = unknown.filter(line => known.has(line) || (isFile(line) && takes(unquotePath(line))))
  const forced = await selectExisting(git, staged)
  const list = join(folder, 'paths')
  await writeFile(list, [...new Set([...taken, ...forced])].map(line => `${line}\n`).join(''))
  const addListed = ['--literal-pathspecs', 'add', '--force', `--pathspec-from-file=${list}`]
  if (taken.length + forced.length > 0) await git.run(toSilentTask([...NO_SPLIT_INDEX, ...addListed]))
  const chosen = new Set(taken)
  const leftOut = unknown.filter(line => !chosen.has(line)).map(unquotePath)
  return { tree: await git.run(writeTree), leftOut }
}

/** A split index would write its other half next to the user's index. */
const NO_SPLIT_INDEX = ['-c', 'core.splitIndex=false']

/** git prints a nested repository as a folder. */
function isFile(line: string): boolean {
  return !line.endsWith('/') && !line.endsWith('/"')
}

/** Returns the existing ones of the newly staged files, ignored files included. */
async function selectExisting(git: GitRunner, staged: readonly string[]): Promise<string[]> {
  if (staged.length === 0) return []
  const all = new Set(await git.run(buildListTask(['ls-files', '--others'])))
  return staged.filter(line => all.has(line))
}

const indexPath = {
  args: ['rev-parse', '--path-format=absolute', '--git-path', 'index'],
  parse: ({ stdout }: GitOutput) => stdout.trimEnd(),
}

const writeTree = { args: ['write-tree'], parse: ({ stdout }: GitOutput) => stdout.trim() }

/** Keeps names quoted as git prints them, which is also the form that git reads from a file. */
function buildListTask(args: readonly string[]) {
  return {
    args: [...NO_SPLIT_INDEX, ...args],
    parse: ({ stdout }: GitOutput) => stdout.split('\n').filter(line => line !== ''),
  }
}

/** Input: `100644 <oid> <stage>`, then the path. */
function parseConflictPath(line: string): string {
  return unquotePath(line.slice(line.indexOf('\t') + 1))
}

/** Lists paths that differ from the commit: changed, removed, or new and not ignored. */
export function listUncommittedPaths(
  topLevel: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  return createGitRunner(buildNetworkIsolation(topLevel, env)).run({
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

// Linked worktrees

export interface Worktree {
  path: string
  /** Full ref name; null when detached or bare. */
  branch: string | null
}

export function listWorktrees(repository: string): GitTask<Worktree[]> {
  return {
    args: ['-C', repository, 'worktree', 'list', '--porcelain', '-z'],
    parse: ({ stdout }) => stdout.split('\0\0').flatMap(parseWorktree),
  }
}

function parseWorktree(block: string): Worktree[] {
  const fields = new Map(block.split('\0').map(line => [line.split(' ', 1)[0] ?? '', line]))
  const path = fields.get('worktree')?.slice('worktree '.length)
  if (path === undefined || fields.has('bare')) return []
  return [{ path, branch: fields.get('branch')?.slice('branch '.length) ?? null }]
}
