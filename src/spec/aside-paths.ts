import { compilePathspec } from './pathspec.ts'
import type { Spec } from './schema.ts'
import { compileScope } from './scope.ts'

const TEXT_TYPES = ['md', 'markdown', 'mdx', 'rst', 'adoc', 'asciidoc']
const PICTURE_TYPES = ['png', 'jpg', 'jpeg', 'gif', 'svg', 'webp', 'pdf', 'txt']
const DOCUMENT = new RegExp(`^[^/]+\\.(?:${TEXT_TYPES.join('|')})$`, 'i')
const FILE_IN_DOCS = new RegExp(`^docs?/.+\\.(?:${[...TEXT_TYPES, ...PICTURE_TYPES].join('|')})$`, 'i')
/** Files that people know by their names alone. */
const KNOWN_DOCUMENT =
  /^(?:readme|changelog|changes|history|news|licen[cs]e|copying|notice|authors|contributors|maintainers)(?:[-.](?:txt|mit|apache|bsd))?$/i
const GITHUB_DOCUMENT =
  /^\.github\/(?:[^/]+\.md|issue_template\/.+|pull_request_template\/.+|funding\.yml|codeowners|dependabot\.yml)$/i
const WINNOW_FILE = /^\.winnow\/(?:[^/]+\.ya?ml|results\/.+|.+\.(?:patch|diff|mbox|eml|md))$/
const PATCH = /\.(?:patch|diff|mbox|eml)$/i

/**
 * Files that neither harness, gates nor set-up read, as far as the spec alone tells: documentation by type, specs and
 * patches. A path that is mutable, matches scope.immutable or is named by a command is read. So is everything where a
 * command looks at the whole tree. Data of a harness may have any type, so documentation counts only at the root, in
 * docs/ and in .github/.
 */
export function compileUnreadPathTest(spec: Spec): (path: string) => boolean {
  const { isMutable } = compileScope(spec)
  const immutable = spec.scope.immutable.map(compilePathspec)
  const commands = listMeasuredCommands(spec)
  if (commands.some(isReadingWholeTree)) return () => false
  const named = listNamedPaths(spec)
  const patchFolders = spec.propose.flatMap(each => (each.use === 'patch' ? [getFolder(each.dir)] : []))
  return path => {
    const isPatch = PATCH.test(path) && patchFolders.some(dir => path.startsWith(dir))
    if (
      ![DOCUMENT, FILE_IN_DOCS, KNOWN_DOCUMENT, GITHUB_DOCUMENT, WINNOW_FILE].some(type => type.test(path)) &&
      !isPatch
    )
      return false
    if (isMutable(path) || immutable.some(matches => matches(path))) return false
    return (
      !named.some(place => path === place || path.startsWith(getFolder(place))) &&
      !commands.some(text => isPathNamed(text, path))
    )
  }
}

/** Every command line of a spec that runs where code is measured. */
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

/** Paths that the spec hands to what is measured. */
function listNamedPaths({ measurement, metric, parallel, artifacts }: Spec): string[] {
  const directory = measurement.working_directory
  return [
    ...(directory === '.' || directory === '' ? [] : [directory]),
    ...(measurement.env_file === null ? [] : [measurement.env_file.path]),
    ...(metric.judge?.calibration ? [metric.judge.calibration.labels] : []),
    ...parallel.shared_files,
    ...artifacts.map(({ path }) => path),
  ].map(path => path.replace(/^(?:\.\/)+/, ''))
}

function getFolder(path: string): string {
  return `${path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')}/`
}

/** Whether a text names the file, its folder, or files of its type. */
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
/** To these `.` is a package, and the documentation in it is not run. */
const INSTALLERS = /\b(?:pip3?|uv|go|cargo|poetry|npm|pnpm|yarn|bun|gem|bundle)\s[^;&|\n]*/g

/** Whether a command line or a shell script looks at files without naming them. */
export function isReadingWholeTree(text: string): boolean {
  if ([WHOLE_TREE_TOOL, DISK_USAGE, PACKING].some(each => each.test(text))) return true
  return WHOLE_TREE.test(text.replaceAll(INSTALLERS, ''))
}

const TREE_WALK =
  /recursive["']?\s*[:=]\s*true|\bos\.walk\(|\brglob\(|\bfilepath\.Walk|\bWalkDir\b|readdir(?:Sync)?\(\s*['"`]\.|listdir\(\s*['"]?\.|npm pack/i

/** The same of a program in any other language. */
export function isWalkingTree(code: string): boolean {
  return TREE_WALK.test(code)
}
