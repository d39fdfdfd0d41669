import { escapeInvisible, isMisleadingPath, isUnsafePath } from '../model/path.ts'
import { joinFirst } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { formatCount } from './wording.ts'

/** Invariant 4: a change of any path outside scope.mutable is refused before any of its code runs. */
export type DiffChange = {
  path: string
  status: string
  /** null, or git's zeros, where the path does not exist on that side. */
  oldMode: string | null
  newMode: string | null
  /** Lines; null for a binary file. */
  added: number | null
  deleted: number | null
}

export type ChangeSet = {
  changes: readonly DiffChange[]
  isMutable: (path: string) => boolean
  limits: Spec['limits']
  /** Sizes of changed binary files in bytes, by path, as the candidate leaves them. */
  binaryBytes: ReadonlyMap<string, number>
  /** Paths of the candidate that some file systems take for another one, by the changed path. */
  sameNames: ReadonlyMap<string, string>
}

type ScopeRefusal = { code: string; message: string; path: string | null }

const SYMLINK = '120000'
const SUBMODULE = '160000'

type ScopeRule = {
  code: string
  isBrokenBy: (change: DiffChange, set: ChangeSet) => boolean
  describe: (paths: string, set: ChangeSet, count: number) => string
}

const SCOPE_RULES: readonly ScopeRule[] = [
  {
    code: 'file-name',
    isBrokenBy: change =>
      !isAbsent(change.newMode) && (isUnsafePath(change.path) || isMisleadingPath(change.path)),
    describe: paths =>
      `has a file name that git, an editor or another file system may misread: "${escapeInvisible(paths)}"`,
  },
  {
    code: 'file-name',
    isBrokenBy: ({ path }, { sameNames }) => sameNames.has(path),
    describe: (_, { sameNames }) => {
      const [first = []] = sameNames
      return `some file systems take two names for one file, because they differ only in case or Unicode form: ${first.join(' and ')}`
    },
  },
  {
    code: 'out-of-scope',
    isBrokenBy: (change, set) => !set.isMutable(change.path),
    describe: (paths, _, count) => `changes ${formatCount(count, 'file')} outside scope.mutable: ${paths}`,
  },
  {
    code: 'symlink',
    isBrokenBy: change => hasMode(change, SYMLINK),
    describe: paths => `symbolic links cannot be changed: ${paths}`,
  },
  {
    code: 'submodule',
    isBrokenBy: change => hasMode(change, SUBMODULE),
    describe: paths => `submodules cannot be changed: ${paths}`,
  },
  {
    code: 'mode',
    isBrokenBy: isModeChanged,
    describe: paths => `file modes cannot be changed: ${paths}`,
  },
  {
    code: 'file-type',
    isBrokenBy: hasWrongType,
    describe: (paths, { limits }) =>
      `only ${limits.allowed_file_types.join(', ')} may change (limits.allowed_file_types): ${paths}`,
  },
  {
    code: 'binary',
    isBrokenBy: isTooLarge,
    describe: (paths, { limits }) =>
      `binary files over ${limits.max_binary_bytes} bytes (limits.max_binary_bytes): ${paths}`,
  },
]

const PATHS_NAMED = 3

/** The first rule that a candidate's diff against the incumbent breaks; null when it may be measured. */
export function checkChanges(set: ChangeSet): ScopeRefusal | null {
  if (set.changes.length === 0) {
    return { code: 'empty', message: 'changes nothing against the incumbent', path: null }
  }
  for (const { code, isBrokenBy, describe } of SCOPE_RULES) {
    const paths = set.changes.filter(change => isBrokenBy(change, set)).map(change => change.path)
    const first = paths[0]
    const named = joinFirst(paths, PATHS_NAMED)
    if (first !== undefined) return { code, message: describe(named, set, paths.length), path: first }
  }
  return findSizeRefusal(set)
}

function hasMode({ oldMode, newMode }: DiffChange, mode: string): boolean {
  return oldMode === mode || newMode === mode
}

const FILE_MODES: readonly string[] = ['100644', '100755']

/** A new file may be executable; a file that exists keeps its mode. */
function isModeChanged({ oldMode, newMode }: DiffChange): boolean {
  if (newMode === null || isAbsent(newMode)) return false
  if (isAbsent(oldMode)) return !FILE_MODES.includes(newMode)
  return oldMode !== newMode
}

function isAbsent(mode: string | null): boolean {
  return mode === null || /^0+$/.test(mode)
}

function hasWrongType(change: DiffChange, { limits }: ChangeSet): boolean {
  const types = limits.allowed_file_types
  return types.length > 0 && !types.some(type => hasFileType(change.path, type))
}

/** Types are endings (`ts`, `.d.ts`) or whole names (`Makefile`). */
function hasFileType(path: string, type: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const ending = type.toLowerCase().replace(/^\*?\./, '')
  return name === type.toLowerCase() || name.endsWith(`.${ending}`)
}

/** A binary of unknown size is too large (invariant 5); one that is removed has no size. */
function isTooLarge(change: DiffChange, { limits, binaryBytes }: ChangeSet): boolean {
  const isBinary = change.added === null || change.deleted === null
  if (limits.max_binary_bytes === null || !isBinary || isAbsent(change.newMode)) return false
  const size = binaryBytes.get(change.path)
  return size === undefined || !(size <= limits.max_binary_bytes)
}

function findSizeRefusal({ changes, limits }: ChangeSet): ScopeRefusal | null {
  if (limits.max_files !== null && changes.length > limits.max_files) {
    const message = `changes ${changes.length} files, limits.max_files allows ${limits.max_files}`
    return { code: 'too-many-files', message, path: changes[limits.max_files]?.path ?? null }
  }
  const count = changes.reduce((sum, change) => sum + countLines(change), 0)
  if (limits.max_changed_lines === null || count <= limits.max_changed_lines) return null
  const message = `changes ${count} lines, limits.max_changed_lines allows ${limits.max_changed_lines}`
  const [largest] = changes.toSorted((a, b) => countLines(b) - countLines(a))
  return { code: 'too-many-lines', message, path: largest?.path ?? null }
}

function countLines({ added, deleted }: DiffChange): number {
  return (added ?? 0) + (deleted ?? 0)
}
