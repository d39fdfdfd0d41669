import { createHash } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { isMissing } from '../measure/file-system.ts'
import type { ActionEnv } from './inputs.ts'

/** This action's own bundle, and the Node that started it. */
interface Programs {
  program: string
  node: string
}

/**
 * Invariant 6: the steps after a measurement hold the runner's tokens, and post steps of checkout and of
 * set-up actions always run. Lists the folders of their code. Side users must not be able to write to them.
 */
export function listLaterCodeFolders(env: ActionEnv, { program, node }: Programs): string[] {
  const { RUNNER_TEMP: temp = '', GITHUB_WORKSPACE: workspace = '' } = env
  const work = temp === '' ? [] : [...listActionFolders(temp), resolve(temp, COMMAND_FILES_FOLDER)]
  const clone = workspace === '' ? [] : [resolve(workspace)]
  return [...work, dirname(program), findExternalsFolder(node), ...clone]
}

/** The runner keeps `_actions` next to `_temp`. A preinstalled action is a symbolic link. */
function listActionFolders(temp: string): string[] {
  const actions = join(dirname(resolve(temp)), '_actions')
  const below = (folder: string) => listFolderNames(folder).map(name => join(folder, name))
  const linked = below(actions)
    .flatMap(below)
    .flatMap(below)
    .filter(path => lstatSync(path).isSymbolicLink() && existsSync(path))
  return [actions, ...linked.map(path => realpathSync(path))]
}

/** The runner keeps all its Node versions in one folder, named externals. */
function findExternalsFolder(node: string): string {
  const own = dirname(dirname(node))
  return /\/externals\/[^/]+$/.test(own) ? dirname(own) : dirname(node)
}

/** Programs that post steps look up by PATH. */
const LOOKED_UP = ['git', 'node', 'sh', 'bash', 'tar', 'zstd', 'gzip', 'docker'] as const
/** Configuration of a clone by which git starts other programs. */
const CLONE_PARTS = ['config', 'config.worktree', 'hooks', 'info/attributes'] as const

/** Lists what the job's own user could change. Needed where experiments run as that user. */
function listExposedPaths(env: ActionEnv, { program, node }: Programs): string[] {
  const { RUNNER_TEMP: temp = '', GITHUB_WORKSPACE: workspace = '', PATH = '' } = env
  const clones =
    workspace === '' ? [] : ['', ...listFolderNames(workspace)].map(name => join(workspace, name, '.git'))
  const programs = PATH.split(':')
    .filter(isAbsolute)
    .flatMap(folder => LOOKED_UP.map(name => join(folder, name)))
  return [
    ...(temp === '' ? [] : listActionFolders(temp)),
    dirname(program),
    ...listRuntimes(node),
    ...clones.flatMap(git => CLONE_PARTS.map(part => join(git, part))),
    ...programs.filter(isExposed),
  ]
}

function listRuntimes(node: string): string[] {
  const externals = findExternalsFolder(node)
  if (!externals.endsWith('/externals')) return [node]
  return listFolderNames(externals).map(name => join(externals, name, 'bin/node'))
}

/** The job's user can also create a missing folder, so only paths that root protects are safe. */
function isExposed(path: string): boolean {
  const folder = dirname(path)
  if (isClosed(folder)) return false
  return !existsSync(folder) || isWritable(folder) || isWritable(path)
}

function isClosed(folder: string): boolean {
  try {
    lstatSync(folder)
    return false
  } catch (error) {
    return isDenied(error)
  }
}

function readStat(path: string): Stats | undefined {
  return isClosed(path) ? undefined : lstatSync(path, { throwIfNoEntry: false })
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

// Snapshots of later code

interface SavedEntry {
  kind: 'file' | 'link' | 'folder'
  mode: number
  /** The hash of a file, or the target of a link. */
  content: string
  /** Null: not a file, or above the size limit. */
  bytes: Buffer | null
}

const MOST_KEPT_BYTES = 64 * 1024 * 1024

/** Takes precedence over any other error of the measurement. */
export class LaterCodeChanged extends UserError {}

/** Snapshot of the code of later steps, taken before experiment code starts. */
export class LaterCode {
  readonly #roots: readonly string[]
  readonly #before: ReadonlyMap<string, SavedEntry>

  constructor(env: ActionEnv, programs: Programs) {
    this.#roots = listExposedPaths(env, programs)
    this.#before = readEntries(this.#roots, MOST_KEPT_BYTES)
  }

  /** Restores changed code, removes what it cannot restore, and throws. */
  requireUnchanged(): void {
    const now = readEntries(this.#roots, 0)
    const paths = new Set([...this.#before.keys(), ...now.keys()])
    const changed = [...paths].filter(path => !isSame(this.#before.get(path), now.get(path)))
    if (changed.length === 0) return
    const removed = this.#putBack(changed.toSorted())
    throw new LaterCodeChanged(describeChangedCode(changed, removed), {
      fix: 'review the measured change; on a hosted Linux runner measurement.isolation: uid protects these files from experiments',
    })
  }

  /** Returns the paths that could not be restored. */
  #putBack(changed: readonly string[]): string[] {
    return changed.filter(path => {
      try {
        return !tryRestore(path, this.#before.get(path))
      } catch {
        return true
      }
    })
  }
}

/** Returns false if the content was not kept. The path is empty then. */
function tryRestore(path: string, before: SavedEntry | undefined): boolean {
  // Restored already, together with its folder.
  const stat = readStat(path)
  if (before !== undefined && stat !== undefined && isSame(before, toEntry(path, stat))) return true
  const isFolder = stat?.isDirectory() === true
  if (before?.kind !== 'folder' || !isFolder) rmSync(path, { recursive: true, force: true })
  if (before === undefined) return true
  mkdirSync(dirname(path), { recursive: true })
  if (before.kind === 'link') {
    symlinkSync(before.content, path)
    return true
  }
  if (before.kind === 'folder') mkdirSync(path, { recursive: true })
  else if (before.bytes === null) return false
  else writeFileSync(path, before.bytes, { flag: 'wx' })
  chmodSync(path, before.mode)
  return true
}

const MOST_NAMED = 5

function describeChangedCode(changed: readonly string[], removed: readonly string[]): string {
  const named = changed.slice(0, MOST_NAMED).join(', ')
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : ''
  const end =
    removed.length === 0
      ? 'winnow restored it'
      : `winnow could not restore ${removed.join(', ')} and removed what it could`
  return `the measured code changed code that later steps of this job run (${named}${more}). winnow discards the report, and ${end}`
}

function isSame(before: SavedEntry | undefined, now: SavedEntry | null | undefined): boolean {
  if (before === undefined || now == null) return false
  return before.kind === now.kind && before.mode === now.mode && before.content === now.content
}

function readEntries(roots: readonly string[], limit: number): Map<string, SavedEntry> {
  const found = new Map<string, SavedEntry>()
  let remaining = limit
  const pending = [...roots].toReversed()
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const stat = readStat(path)
    if (stat === undefined || found.has(path)) continue
    const entry = toEntry(path, stat)
    if (entry === null) continue
    const { bytes } = entry
    const isKept = bytes !== null && bytes.length <= remaining
    if (isKept) remaining -= bytes.length
    found.set(path, isKept ? entry : { ...entry, bytes: null })
    if (entry.kind === 'folder') pending.push(...listFolderNames(path).map(name => join(path, name)))
  }
  return found
}

/** Null for sockets, pipes and devices: no step can run them. */
function toEntry(path: string, stat: Stats): SavedEntry | null {
  const mode = stat.mode & 0o7777
  if (stat.isSymbolicLink()) return { kind: 'link', mode, content: readlinkSync(path), bytes: null }
  if (stat.isDirectory()) return { kind: 'folder', mode, content: '', bytes: null }
  if (!stat.isFile()) return null
  const bytes = readOrNull(path)
  const content = bytes === null ? 'unreadable' : createHash('sha256').update(bytes).digest('hex')
  return { kind: 'file', mode, content, bytes }
}

function readOrNull(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isDenied(error) || isMissing(error)) return null
    throw error
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EACCES'
}

function listFolderNames(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch (error) {
    const isNoFolder = error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
    if (isMissing(error) || isDenied(error) || isNoFolder) return []
    throw error
  }
}

// Files through which steps set variables and outputs

const COMMAND_FILES = ['ENV', 'PATH', 'OUTPUT', 'STATE', 'STEP_SUMMARY'].map(name => `GITHUB_${name}`)
const COMMAND_FILES_FOLDER = '_runner_file_commands'

/**
 * Empties every file by which a step sets variables, paths, outputs, state and the summary. A process of the
 * experiment that runs as the job's user can write to the files of all steps, and the runner would apply
 * their content.
 */
export function clearRunnerFiles(env: ActionEnv): void {
  const named = COMMAND_FILES.flatMap(name => env[name] || [])
  const folders = new Set(
    named.map(file => dirname(resolve(file))).filter(folder => folder.endsWith(`/${COMMAND_FILES_FOLDER}`)),
  )
  const { RUNNER_TEMP: temp = '' } = env
  if (temp !== '') folders.add(join(resolve(temp), COMMAND_FILES_FOLDER))
  const found = [...folders].flatMap(listRunnerFiles)
  for (const file of new Set([...named.map(file => resolve(file)), ...found])) makeEmptyFile(file)
}

function listRunnerFiles(folder: string): string[] {
  try {
    return readdirSync(folder).map(name => join(folder, name))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** Replaces a link instead of following it: its target could be another file of the job's user. */
function makeEmptyFile(path: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true })
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() === true && found.nlink === 1 && isTruncated(path)) return
  if (found !== undefined) rmSync(path, { recursive: true, force: true })
  writeFileSync(path, '', { flag: 'wx' })
  const { uid, gid } = statSync(folder)
  if (process.getuid?.() === 0) lchownSync(path, uid, gid)
}

/** Returns false if this process may not write to the file. */
function isTruncated(path: string): boolean {
  try {
    truncateSync(path)
    return true
  } catch {
    return false
  }
}
