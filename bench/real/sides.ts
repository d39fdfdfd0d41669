import { execFile } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { quoteShell } from '../../src/model/text.ts'
import type { RealCommit } from './commits.ts'

const run = promisify(execFile)

interface Language {
  name: string
  /** The program that runs a workload; null for languages that are compiled first. */
  interpreter: string | null
  /** Its instructions can be counted. */
  native: boolean
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  '.mjs': { name: 'JavaScript', interpreter: 'node', native: false },
  '.py': { name: 'Python', interpreter: 'python3', native: false },
  '.pl': { name: 'Perl', interpreter: 'perl', native: false },
  '.sh': { name: 'shell', interpreter: 'sh', native: false },
  '.c': { name: 'C', interpreter: null, native: true },
  '.rs': { name: 'Rust', interpreter: null, native: true },
  '.java': { name: 'Java', interpreter: null, native: false },
}

/** A build command leaves the compiled workload here, in the folder of the library. */
const COMPILED = './workload'

export function findLanguage(workload: string): Language {
  const language = LANGUAGES[extname(workload)]
  if (language === undefined) throw new Error(`${workload}: no language has this ending`)
  return language
}

/** A gain that is measured backwards has its commit as the base. */
export function listSides({ parent, commit, backwards }: RealCommit): { base: string; head: string } {
  return backwards === true ? { base: commit, head: parent } : { base: parent, head: commit }
}

/** Returns null if there is no clone. Fetched snapshots have a plus sign for the slash, and a folder `repo`. */
export function findClone(clones: string, repository: string): string | null {
  const flat = repository.replace('/', '+')
  const places = [repository, join(flat, 'repo'), flat, repository.split('/')[1] ?? repository]
  return places.map(place => join(clones, place)).find(path => existsSync(path)) ?? null
}

export async function hasCommits(clone: string, commits: readonly string[]): Promise<boolean> {
  const asked = commits.map(commit => run('git', ['-C', clone, 'cat-file', '-e', `${commit}^{commit}`]))
  return (await Promise.allSettled(asked)).every(({ status }) => status === 'fulfilled')
}

/** How to build and run one workload in the folder of a library. */
export interface Program {
  language: Language
  /** One shell line, run before the measuring. It ends with one execution, so that caches are filled. */
  setup: string
  command: readonly string[]
  /** The same on the core that the workloads have for themselves, if there is one. */
  pinned: readonly string[]
}

/** `build` is the command of the person who measures; null for languages that need none. */
export function describeProgram(
  workload: string,
  { build, core }: { build: string | null; core: number | null },
): Program {
  const language = findLanguage(workload)
  if (language.interpreter === null && build === null) throw new Error(`${workload} needs a build command`)
  const command = language.interpreter === null ? [COMPILED] : [language.interpreter, workload]
  const pinned = core === null ? command : ['taskset', '-c', String(core), ...command]
  const once = `${pinned.map(quoteShell).join(' ')} > /dev/null`
  const setup = language.interpreter === null ? `export WORKLOAD=${quoteShell(workload)}; ${build}` : null
  return { language, command, pinned, setup: setup === null ? once : `{ ${setup}; } && ${once}` }
}

/** Writes the files of one commit into a new folder and sets it up. The clone is only read. */
export async function prepareSide(
  clone: string,
  commit: string,
  folder: string,
  { setup }: Program,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const env = { ...process.env, GIT_INDEX_FILE: `${folder}.index` }
  const git = (...words: string[]) => run('git', ['-C', clone, `--work-tree=${folder}`, ...words], { env })
  await git('read-tree', commit)
  await git('checkout-index', '--all', '--quiet')
  await run('sh', ['-c', setup], { cwd: folder, maxBuffer: 2 ** 26 })
}
