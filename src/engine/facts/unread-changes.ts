import { isManifest } from '../../decide/manifest.ts'
import type { Repository } from '../../git/repository.ts'
import { compareTrees } from '../../git/tree-walk.ts'
import type { Oid } from '../../model/ids.ts'
import {
  listMeasuredCommands,
  compileUnreadPathTest,
  escapePattern,
  isPathNamed,
  isReadingWholeTree,
  isWalkingTree,
} from '../../spec/aside-paths.ts'
import type { Spec } from '../../spec/schema.ts'

const MOST_PATHS = 200
const MOST_SCRIPT_BYTES = 256 * 1024

/**
 * Whether neither harness, gates nor set-up can read what differs between two trees. Static and conservative: every
 * path is documentation, a spec or a patch; no command, no script that a command starts and no other file of the
 * project names it. In doubt the answer is no, and the difference is measured.
 */
export async function isUnread(
  repository: Repository,
  spec: Spec,
  { from, to }: { from: Oid; to: Oid },
): Promise<boolean> {
  const differences = await compareTrees(repository, from, to)
  const isAside = compileUnreadPathTest(spec)
  if (differences.length > MOST_PATHS || !differences.every(({ path }) => isAside(path))) return false
  if (
    differences.some(each => [each.from, each.to].some(entry => entry !== null && !isPlainFile(entry.mode)))
  )
    return false
  const paths = differences.map(({ path }) => path).filter(path => !path.startsWith('.winnow/'))
  if (paths.length === 0) return true
  return (
    !(await isReadByScripts(repository, spec, { tree: to, paths })) &&
    !(await isMentioned(repository, spec, to, paths))
  )
}

/** A symbolic link leads elsewhere, and an executable is made to be run. */
function isPlainFile(mode: string): boolean {
  return mode === '100644'
}

async function isReadByScripts(
  repository: Repository,
  spec: Spec,
  { tree, paths }: { tree: Oid; paths: readonly string[] },
): Promise<boolean> {
  const directory = spec.measurement.working_directory.replace(/^(?:\.\/?)+/, '').replace(/\/+$/, '')
  const textAt = (path: string) => readScript(repository, tree, path)
  const commands = listMeasuredCommands(spec)
  const lines = [
    ...commands,
    ...(await listPackageScripts(commands, await textAt(joinDirectory(directory, 'package.json')))),
  ]
  const files = await Promise.all(
    [...new Set([...lines.flatMap(splitWords), ...(await listTaskFiles(lines))])].map(async word => ({
      path: word,
      text: (await textAt(joinDirectory(directory, word))) ?? '',
    })),
  )
  if (lines.some(line => isReadingWholeTree(line))) return true
  const texts = [...lines, ...files.map(({ text }) => text)]
  if (paths.some(path => texts.some(text => isPathNamed(text, path)))) return true
  return files.some(({ path, text }) =>
    isShell(path, text) ? isReadingWholeTree(text) : isWalkingTree(text),
  )
}

function joinDirectory(directory: string, path: string): string {
  return (directory === '' ? path : `${directory}/${path}`).replace(/(?:^|(?<=\/))\.\//g, '')
}

function splitWords(line: string): string[] {
  return line.split(/[\s;&|()'"=<>]+/).filter(word => /^[\w@.][\w@./+-]*$/.test(word) && !word.includes('..'))
}

function isShell(path: string, text: string): boolean {
  return (
    /(?:\.(?:sh|bash|zsh)|(?:^|\/)(?:makefile|justfile|taskfile\.ya?ml|tox\.ini))$/i.test(path) ||
    /^#!.*\b(?:ba|z|da)?sh\b/.test(text)
  )
}

/** Files that hold what `make test` and its like run. */
async function listTaskFiles(lines: readonly string[]): Promise<string[]> {
  const all: [RegExp, string[]][] = [
    [/\bmake\b/, ['Makefile', 'makefile', 'GNUmakefile']],
    [/\bjust\b/, ['justfile', 'Justfile', '.justfile']],
    [/\btask\b/, ['Taskfile.yml', 'Taskfile.yaml']],
    [/\btox\b/, ['tox.ini']],
    [/\bnox\b/, ['noxfile.py']],
    [/\brake\b/, ['Rakefile']],
  ]
  return all.flatMap(([word, files]) => (lines.some(line => word.test(line)) ? files : []))
}

const RUNS = /\b(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?(?:-\S+\s+)*([\w:.-]+)/g

/** The scripts of package.json that a command line runs, and those that these run. */
async function listPackageScripts(commands: readonly string[], manifest: string | null): Promise<string[]> {
  const scripts = parseScripts(manifest)
  const found = new Map<string, string>()
  const open = [...commands]
  for (let line = open.pop(); line !== undefined; line = open.pop()) {
    for (const [, word = ''] of line.matchAll(RUNS)) {
      const name = word === 't' ? 'test' : word === 'ci' || word === 'i' ? 'install' : word
      for (const each of [`pre${name}`, name, `post${name}`, ...(name === 'install' ? ['prepare'] : [])]) {
        const text = scripts[each]
        if (text === undefined || found.has(each)) continue
        found.set(each, text)
        open.push(text)
      }
    }
  }
  return [...found.values()]
}

function parseScripts(manifest: string | null): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(manifest ?? '{}')
    const scripts = typeof parsed === 'object' && parsed !== null && 'scripts' in parsed ? parsed.scripts : {}
    const entries = typeof scripts === 'object' && scripts !== null ? Object.entries(scripts) : []
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    // A manifest that is no JSON has no scripts that could be run.
    return {}
  }
}

async function readScript(repository: Repository, tree: Oid, path: string): Promise<string | null> {
  const entry = await repository.findEntry(tree, path)
  if (entry?.type !== 'blob') return null
  const bytes = await repository.blob(entry.oid)
  return bytes.length > MOST_SCRIPT_BYTES ? null : bytes.toString('utf8')
}

/** Files that name documentation without ever opening it while something is measured. */
const ONLY_LISTS =
  /^(?:\.github\/|\.vscode\/|\.winnow\/)|(?:^|\/)(?:\.[\w-]*ignore|\.editorconfig|\.gitattributes|manifest\.in|mkdocs\.ya?ml|typedoc\.json|\.markdownlint[^/]*|\.readthedocs\.ya?ml|renovate\.json|[^/]+\.gemspec)$/i

/** Whether code, data or configuration of the project has the name of a file, its folder or its type in it. */
async function isMentioned(
  repository: Repository,
  spec: Spec,
  tree: Oid,
  paths: readonly string[],
): Promise<boolean> {
  const isAside = compileUnreadPathTest(spec)
  const found = await repository.grep(tree, [...new Set(paths.flatMap(buildMentionPatterns))])
  return found.some(path => !isAside(path) && !ONLY_LISTS.test(path) && !isManifest(path))
}

const BEFORE = '(^|[^A-Za-z0-9_./-]|\\.\\.?/|[}"\'`]/)'

function buildMentionPatterns(path: string): string[] {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  const [, type] = /\.([A-Za-z]+)$/.exec(file) ?? []
  const inFolder =
    parts.length > 1
      ? [`${BEFORE}${escapePattern(parts[0] ?? '')}/`, `['"]${escapePattern(parts[0] ?? '')}['"]`]
      : []
  const byType =
    type === undefined ? [] : [`([}*"'\`]|\\\\)\\.${type}([^A-Za-z0-9]|$)`, `\\.\\{[^}]*${type}[^}]*\\}`]
  return [`${BEFORE}${escapePattern(file)}`, ...inFolder, ...byType]
}
