import type { Spec } from './schema.ts'
import { listArtifacts, listHiddenPaths } from './spec-facts.ts'

/** Invariant 4: no spec can make the specs, the workflows or git's own rules mutable. */
export const ALWAYS_IMMUTABLE = ['.winnow', '.github', '**/.gitattributes', '**/.gitmodules'] as const

export type Scope = { isMutable: (path: string) => boolean }

/** Refuses everything outside mutable. Immutable and hidden paths win where both match. */
export function compileScope(spec: Pick<Spec, 'scope' | 'metric'>): Scope {
  const mutable = spec.scope.mutable.map(compilePathspec)
  const immutable = [...spec.scope.immutable, ...ALWAYS_IMMUTABLE].map(compilePathspec)
  const isHidden = compileHiddenPathTest(spec)
  return {
    isMutable(path) {
      if (!isTreePath(path) || immutable.some(matches => matches(path)) || isHidden(path)) return false
      return mutable.some(matches => matches(path))
    },
  }
}

/** A path outside the repository is in none of its trees. */
export function compileHiddenPathTest(spec: Pick<Spec, 'metric'>): (path: string) => boolean {
  const inside = listHiddenPaths(spec).filter(path => explainOutsidePath(path) === undefined)
  const hidden = inside.map(compilePathspec)
  return path => hidden.some(matches => matches(path))
}

const CONTROL_CHARACTER = /\p{Cc}/u

/** Returns the reason why this is not a path inside the repository; undefined when it is one. */
export function explainOutsidePath(path: string): string | undefined {
  if (CONTROL_CHARACTER.test(path)) return 'a control character'
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith('~')) return 'an absolute path'
  if (path.split('/').includes('..')) return 'a path with ..'
  if (path.startsWith('-')) return 'a leading -, which a command would take for an option'
  return undefined
}

/** True for a path as git writes it in a tree. All other paths are never mutable. */
function isTreePath(path: string): boolean {
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..')
}

// Files that no measurement reads

const TEXT_TYPES = ['md', 'markdown', 'mdx', 'rst', 'adoc', 'asciidoc']
const PICTURE_TYPES = ['png', 'jpg', 'jpeg', 'gif', 'svg', 'webp', 'pdf', 'txt']
const DOCUMENT = new RegExp(`^[^/]+\\.(?:${TEXT_TYPES.join('|')})$`, 'i')
const FILE_IN_DOCS = new RegExp(`^docs?/.+\\.(?:${[...TEXT_TYPES, ...PICTURE_TYPES].join('|')})$`, 'i')
const KNOWN_DOCUMENT =
  /^(?:readme|changelog|changes|history|news|licen[cs]e|copying|notice|authors|contributors|maintainers)(?:[-.](?:txt|mit|apache|bsd))?$/i
const GITHUB_DOCUMENT =
  /^\.github\/(?:[^/]+\.md|issue_template\/.+|pull_request_template\/.+|funding\.yml|codeowners|dependabot\.yml)$/i
const WINNOW_FILE = /^\.winnow\/(?:[^/]+\.ya?ml|results\/.+|.+\.(?:patch|diff|mbox|eml|md))$/
const PATCH = /\.(?:patch|diff|mbox|eml)$/i

/**
 * Returns a test for files that neither harness, gates nor set-up read, as far as the spec alone tells:
 * documentation, specs and patches. A path counts as read when it is mutable, matches scope.immutable or is named by
 * a command; every path does when a command looks at the whole tree. Data of a harness may have any type, so
 * documentation counts only at the root, in docs/ and in .github/.
 */
export function compileUnreadPathTest(spec: Spec): (path: string) => boolean {
  const { isMutable } = compileScope(spec)
  const immutable = spec.scope.immutable.map(compilePathspec)
  const commands = listMeasuredCommands(spec)
  if (commands.some(isReadingWholeTree)) return () => false
  const named = listNamedPaths(spec)
  const patchFolders = spec.propose.flatMap(proposer =>
    proposer.use === 'patch' ? [getFolder(proposer.dir)] : [],
  )
  return path => {
    const isPatch = PATCH.test(path) && patchFolders.some(dir => path.startsWith(dir))
    if (
      ![DOCUMENT, FILE_IN_DOCS, KNOWN_DOCUMENT, GITHUB_DOCUMENT, WINNOW_FILE].some(type => type.test(path)) &&
      !isPatch
    )
      return false
    if (isMutable(path) || immutable.some(matches => matches(path))) return false
    return (
      !named.some(namedPath => path === namedPath || path.startsWith(getFolder(namedPath))) &&
      !commands.some(text => isPathNamed(text, path))
    )
  }
}

export function listMeasuredCommands({ measurement, gates }: Spec): string[] {
  const { setup, command, score, stability, holdout, suite } = measurement
  const all = [
    setup,
    command,
    score?.command,
    stability?.ladder?.smoke_command,
    holdout?.command,
    ...(suite?.tasks ?? []).flatMap(task => [task.command, ...(task.args ?? [])]),
    ...gates.map(gate => gate.command),
  ]
  return all.filter(text => typeof text === 'string')
}

function listNamedPaths({ measurement, metric, parallel, artifacts }: Spec): string[] {
  const directory = measurement.working_directory
  return [
    ...(directory === '.' || directory === '' ? [] : [directory]),
    ...(measurement.env_file === null ? [] : [measurement.env_file.path]),
    ...(measurement.suite?.tasks ?? []).flatMap(({ workflow }) => workflow ?? []),
    ...(metric.judge?.calibration ? [metric.judge.calibration.labels] : []),
    ...parallel.shared_files,
    ...listArtifacts({ artifacts }).map(({ path }) => path),
  ].map(path => path.replace(/^(?:\.\/)+/, ''))
}

function getFolder(path: string): string {
  return `${path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')}/`
}

/** Whether a text names the file, its top folder, or files of its type. */
export function isPathNamed(text: string, path: string): boolean {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  const [, type] = /\.([a-z]+)$/i.exec(file) ?? []
  if (text.includes(file) || (type !== undefined && text.includes(`.${type}`))) return true
  return (
    parts.length > 1 && new RegExp(`(?:^|[^\\w.-])${escapePattern(parts[0] ?? '')}(?:$|[^\\w.-])`).test(text)
  )
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

const WHOLE_TREE_TOOL =
  /(?:^|[\s;&|('"/])(?:fd|cloc|tokei|scc|rg|ag|prettier|dprint|mkdocs|sphinx-build|jekyll|markdownlint(?:-cli2?)?|remark|vale|cspell|codespell|typos|pre-commit|lint-staged|twine)(?:$|[\s;&|)'"])/
const DISK_USAGE = /(?:^|[\s;&|(])du(?:\s+-\S+)*\s*(?:$|[;&|)])/
const PACKING = /\b(?:pack|publish|sdist|archive|ls-files|ls-tree|docker\s+build|grep\s+-\w*r)\b/
const WHOLE_TREE = /(?:^|[\s'"=])(?:\.\/?|\*{1,2}|\$PWD)(?:$|[\s'";&|)])/
/** For these tools `.` is a package; they do not run its documentation. */
const INSTALLERS = /\b(?:pip3?|uv|go|cargo|poetry|npm|pnpm|yarn|bun|gem|bundle)\s[^;&|\n]*/g

/** Whether a command line or a shell script looks at files without naming them. */
export function isReadingWholeTree(text: string): boolean {
  if ([WHOLE_TREE_TOOL, DISK_USAGE, PACKING].some(each => each.test(text))) return true
  return WHOLE_TREE.test(text.replaceAll(INSTALLERS, ''))
}

const TREE_WALK =
  /recursive["']?\s*[:=]\s*true|\bos\.walk\(|\brglob\(|\bfilepath\.Walk|\bWalkDir\b|readdir(?:Sync)?\(\s*['"`]\.|listdir\(\s*['"]?\.|npm pack/i

/** Whether a program in any other language looks at files without naming them. */
export function isWalkingTree(code: string): boolean {
  return TREE_WALK.test(code)
}

// Overlap of patterns

/** True only when every path that the mutable pattern matches is certain to match the immutable one. */
export function isCoveredByPattern(immutable: string, mutable: string): boolean {
  const immutablePattern = normalisePattern(immutable)
  const mutablePattern = normalisePattern(mutable)
  if (immutablePattern === mutablePattern) return true
  const directory = findLiteralStem(immutablePattern)
  if (directory !== undefined) return isInsideDirectory(directory, mutablePattern, immutablePattern)
  const namesAFile = !hasWildcard(immutablePattern.split('/').at(-1) ?? '')
  return namesAFile && !hasWildcard(mutablePattern) && compilePathspec(immutable)(mutablePattern)
}

function isInsideDirectory(directory: string, pattern: string, immutablePattern: string): boolean {
  if (directory === '' || getFixedPart(pattern).startsWith(`${directory}/`)) return true
  return findLiteralStem(pattern) === directory && immutablePattern === directory
}

/** Returns the directory or file that a pattern names without wildcards: `d`, `d/` and `d/**` all name `d`. */
function findLiteralStem(pattern: string): string | undefined {
  const named = pattern.replace(/(?:^|\/)(?:\*\*)?$/, '')
  return hasWildcard(named) ? undefined : named
}

// Git's `:(top,glob)` pathspecs, matched byte by byte as git does

const WILDCARDS = /[*?[\\]/

export function compilePathspec(pattern: string): (path: string) => boolean {
  const written = toByteString(normalisePattern(pattern))
  const literal = written.endsWith('/') ? written : `${written}/`
  const glob = written.endsWith('/') ? `${written}**` : written
  const fixed = getFixedPart(glob)
  const tokens = hasWildcard(glob) ? parseGlob(glob.slice(fixed.length)) : undefined
  return path => {
    const name = toByteString(path)
    if (written === '' || name === written || name.startsWith(literal)) return true
    return tokens !== undefined && name.startsWith(fixed) && matchTokens(tokens, name.slice(fixed.length))
  }
}

/** Removes `.` and doubled slashes, as git does. The pattern `.` alone matches everything. */
export function normalisePattern(pattern: string): string {
  const parts = pattern.split('/')
  const kept = parts.filter(part => part !== '.' && part !== '').join('/')
  const below = ['', '.'].includes(parts.at(-1) ?? '')
  return below && kept !== '' ? `${kept}/` : kept
}

/** git would read the magic of `:(exclude)x` and `:/x` literally after winnow's own `:(top,glob)`. */
export function hasMagic(pattern: string): boolean {
  return /^:[(/!^]/.test(pattern)
}

function hasWildcard(pattern: string): boolean {
  return WILDCARDS.test(pattern)
}

function getFixedPart(pattern: string): string {
  return hasWildcard(pattern) ? pattern.slice(0, pattern.search(WILDCARDS)) : pattern
}

/** Maps each byte to one character: for git, `?` and each member of a class is one byte. */
function toByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

// A glob compiles to a state machine over bytes: matching is linear in the path for every pattern

type GlobToken =
  | { kind: 'byte'; accepts(byte: string): boolean }
  | { kind: 'star'; crossesSlash: boolean }
  | { kind: 'directories' }
  | { kind: 'throughSlash' }

type TokenRead = { tokens: GlobToken[]; next: number }

const NEVER_MATCHES: GlobToken = { kind: 'byte', accepts: () => false }

const POSIX: Record<string, RegExp> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[^\x20-\x7e\x80-\xff]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
}

type ClassMember = { accepts(byte: string): boolean; last: string; next: number }

function parseGlob(glob: string): GlobToken[] {
  const tokens: GlobToken[] = []
  for (let at = 0; at < glob.length; ) {
    const { tokens: found, next } = readToken(glob, at)
    tokens.push(...found)
    at = next
  }
  return tokens
}

function readToken(glob: string, at: number): TokenRead {
  if (glob[at] === '*') return readStars(glob, at)
  if (glob[at] === '[') return readByteClass(glob, at)
  if (glob[at] === '?') return { tokens: [{ kind: 'byte', accepts: byte => byte !== '/' }], next: at + 1 }
  const one = readPlainByte(glob, at)
  return one === undefined
    ? { tokens: [NEVER_MATCHES], next: glob.length }
    : { tokens: [matchLiteral(one.byte)], next: one.next }
}

/** Two stars cross slashes only as a whole path segment. `**` with its slash also matches the empty string. */
function readStars(glob: string, start: number): TokenRead {
  let next = start
  while (glob[next] === '*') next += 1
  const opens = start === 0 || glob[start - 1] === '/'
  const closes = next === glob.length || glob[next] === '/' || glob.startsWith('\\/', next)
  if (next - start < 2 || !opens || !closes) return { tokens: [{ kind: 'star', crossesSlash: false }], next }
  if (glob[next] !== '/') return { tokens: [{ kind: 'star', crossesSlash: true }], next }
  return { tokens: [{ kind: 'directories' }, { kind: 'throughSlash' }], next: next + 1 }
}

/** A class never accepts a slash, even when it lists one. An unterminated class makes the pattern match no path. */
function readByteClass(glob: string, start: number): TokenRead {
  const negated = glob[start + 1] === '!' || glob[start + 1] === '^'
  const members: ClassMember[] = []
  let next = start + (negated ? 2 : 1)
  do {
    const one = readClassMember(glob, next, members.at(-1)?.last ?? '')
    if (one === undefined) return { tokens: [NEVER_MATCHES], next: glob.length }
    members.push(one)
    next = one.next
  } while (glob[next] !== ']')
  const accepts = (byte: string) => byte !== '/' && members.some(one => one.accepts(byte)) !== negated
  return { tokens: [{ kind: 'byte', accepts }], next: next + 1 }
}

function readClassMember(glob: string, at: number, last: string): ClassMember | undefined {
  const afterDash = glob[at + 1]
  if (glob[at] === '-' && last !== '' && afterDash !== undefined && afterDash !== ']') {
    const end = readPlainByte(glob, at + 1)
    return end && { accepts: byte => byte >= last && byte <= end.byte, last: '', next: end.next }
  }
  const named = readNamedClass(glob, at)
  if (named === 'broken') return undefined
  if (named !== undefined) return named
  const one = readPlainByte(glob, at)
  return one && { accepts: byte => byte === one.byte, last: one.byte, next: one.next }
}

/** A class such as `[:alpha:]`; undefined if none starts here, 'broken' if git rejects the pattern. */
function readNamedClass(glob: string, at: number): ClassMember | 'broken' | undefined {
  if (!glob.startsWith('[:', at)) return undefined
  const end = glob.indexOf(']', at + 2)
  if (end === -1) return 'broken'
  if (end === at + 2 || glob[end - 1] !== ':') return undefined
  const named = Object.hasOwn(POSIX, glob.slice(at + 2, end - 1))
    ? POSIX[glob.slice(at + 2, end - 1)]
    : undefined
  return named === undefined ? 'broken' : { accepts: byte => named.test(byte), last: '', next: end + 1 }
}

/** Reads a byte that may be escaped; undefined at the end of the pattern. */
function readPlainByte(glob: string, at: number): { byte: string; next: number } | undefined {
  const escaped = glob[at] === '\\' ? 1 : 0
  const byte = glob[at + escaped]
  return byte === undefined ? undefined : { byte, next: at + escaped + 1 }
}

function matchLiteral(byte: string): GlobToken {
  return { kind: 'byte', accepts: other => other === byte }
}

function matchTokens(tokens: readonly GlobToken[], text: string): boolean {
  let active = new Set<number>()
  enterState(tokens, 0, active)
  for (const byte of text) {
    active = advanceStates(tokens, active, byte)
    if (active.size === 0) return false
  }
  return active.has(tokens.length)
}

function enterState(tokens: readonly GlobToken[], state: number, active: Set<number>): void {
  if (active.has(state)) return
  active.add(state)
  const kind = tokens[state]?.kind
  if (kind === 'star' || kind === 'directories') enterState(tokens, state + 1, active)
  if (kind === 'directories') enterState(tokens, state + 2, active)
}

function advanceStates(tokens: readonly GlobToken[], active: Set<number>, byte: string): Set<number> {
  const next = new Set<number>()
  for (const state of active) {
    const token = tokens[state]
    if (token?.kind === 'byte' && token.accepts(byte)) enterState(tokens, state + 1, next)
    if (token?.kind === 'star' && (token.crossesSlash || byte !== '/')) enterState(tokens, state, next)
    if (token?.kind !== 'throughSlash') continue
    enterState(tokens, state, next)
    if (byte === '/') enterState(tokens, state + 1, next)
  }
  return next
}
