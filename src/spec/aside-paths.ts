import { compilePathspec } from './pathspec.ts'
import type { Spec } from './schema.ts'
import { compileScope } from './scope.ts'

const TEXT_TYPES = ['md', 'markdown', 'mdx', 'rst', 'adoc', 'asciidoc']
const PICTURE_TYPES = ['png', 'jpg', 'jpeg', 'gif', 'svg', 'webp', 'pdf', 'txt']
const DOCUMENT = new RegExp(`^[^/]+\\.(?:${TEXT_TYPES.join('|')})$`, 'i')
const IN_DOCS = new RegExp(`^docs?/.+\\.(?:${[...TEXT_TYPES, ...PICTURE_TYPES].join('|')})$`, 'i')
/** Files that people know by their names alone. */
const NAMED =
  /^(?:readme|changelog|changes|history|news|licen[cs]e|copying|notice|authors|contributors|maintainers)(?:[-.](?:txt|mit|apache|bsd))?$/i
const OF_THE_FORGE =
  /^\.github\/(?:[^/]+\.md|issue_template\/.+|pull_request_template\/.+|funding\.yml|codeowners|dependabot\.yml)$/i
const OF_WINNOW = /^\.winnow\/(?:[^/]+\.ya?ml|results\/.+|.+\.(?:patch|diff|mbox|eml|md))$/
const PATCH = /\.(?:patch|diff|mbox|eml)$/i

/**
 * Files that neither harness, gates nor set-up read, as far as the spec alone tells: documentation by type, specs and
 * patches. A path that is mutable, matches scope.immutable or is named by a command is read. So is everything where a
 * command looks at the whole tree. Data of a harness may have any type, so documentation counts only at the root, in
 * docs/ and in .github/.
 */
export function compileAside(spec: Spec): (path: string) => boolean {
  const { isMutable } = compileScope(spec)
  const immutable = spec.scope.immutable.map(compilePathspec)
  const commands = commandsOf(spec)
  if (commands.some(readsWholeTree)) return () => false
  const named = namedPaths(spec)
  const patchFolders = spec.propose.flatMap(each => (each.use === 'patch' ? [folder(each.dir)] : []))
  return path => {
    const isPatch = PATCH.test(path) && patchFolders.some(dir => path.startsWith(dir))
    if (![DOCUMENT, IN_DOCS, NAMED, OF_THE_FORGE, OF_WINNOW].some(type => type.test(path)) && !isPatch)
      return false
    if (isMutable(path) || immutable.some(matches => matches(path))) return false
    return (
      !named.some(place => path === place || path.startsWith(folder(place))) &&
      !commands.some(text => names(text, path))
    )
  }
}

/** Every command line of a spec that runs where code is measured. */
export function commandsOf({ measurement, gates }: Spec): string[] {
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
function namedPaths({ measurement, metric, parallel, artifacts }: Spec): string[] {
  const directory = measurement.working_directory
  return [
    ...(directory === '.' || directory === '' ? [] : [directory]),
    ...(measurement.env_file === null ? [] : [measurement.env_file.path]),
    ...(metric.judge?.calibration ? [metric.judge.calibration.labels] : []),
    ...parallel.shared_files,
    ...artifacts.map(({ path }) => path),
  ].map(path => path.replace(/^(?:\.\/)+/, ''))
}

function folder(path: string): string {
  return `${path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')}/`
}

/** Whether a text names the file, its folder, or files of its type. */
export function names(text: string, path: string): boolean {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  const [, type] = /\.([a-z]+)$/i.exec(file) ?? []
  if (text.includes(file) || (type !== undefined && text.includes(`.${type}`))) return true
  return parts.length > 1 && new RegExp(`(?:^|[^\\w.-])${escaped(parts[0] ?? '')}(?:$|[^\\w.-])`).test(text)
}

export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

const ON_EVERYTHING =
  /(?:^|[\s;&|('"/])(?:fd|cloc|tokei|scc|rg|ag|prettier|dprint|mkdocs|sphinx-build|jekyll|markdownlint(?:-cli2?)?|remark|vale|cspell|codespell|typos|pre-commit|lint-staged|twine)(?:$|[\s;&|)'"])/
const DISK_USAGE = /(?:^|[\s;&|(])du(?:\s+-\S+)*\s*(?:$|[;&|)])/
const PACKING = /\b(?:pack|publish|sdist|archive|ls-files|ls-tree|docker\s+build|grep\s+-\w*r)\b/
const WHOLE = /(?:^|[\s'"=])(?:\.\/?|\*{1,2}|\$PWD)(?:$|[\s'";&|)])/
/** To these `.` is a package, and the documentation in it is not run. */
const INSTALLERS = /\b(?:pip3?|uv|go|cargo|poetry|npm|pnpm|yarn|bun|gem|bundle)\s[^;&|\n]*/g

/** Whether a command line or a shell script looks at files without naming them. */
export function readsWholeTree(text: string): boolean {
  if ([ON_EVERYTHING, DISK_USAGE, PACKING].some(each => each.test(text))) return true
  return WHOLE.test(text.replaceAll(INSTALLERS, ''))
}

const WALKING =
  /recursive["']?\s*[:=]\s*true|\bos\.walk\(|\brglob\(|\bfilepath\.Walk|\bWalkDir\b|readdir(?:Sync)?\(\s*['"`]\.|listdir\(\s*['"]?\.|npm pack/i

/** The same of a program in any other language. */
export function walksTree(code: string): boolean {
  return WALKING.test(code)
}
