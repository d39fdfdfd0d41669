import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ForgeError, LedgerError, UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import {
  getScratchDir,
  isDirectory,
  readRepositoryFormat,
  withBorrowedObjects,
  writePackedRefs,
} from './bare-repository.ts'
import { buildFetchTask } from './fetch.ts'
import { buildLocalIsolation } from './isolation.ts'
import { createGitRunner, type GitTask } from './runner.ts'

/** Reads two small files and two directories, so that every open can call it. */
export function findDamage(dir: string): string | null {
  if (!isDirectory(dir)) return null
  const config = readTextOrNull(join(dir, 'config'))
  if (config === null || !isConfig(config)) return 'its config cannot be read'
  const head = readTextOrNull(join(dir, 'HEAD'))
  if (head === null || !/^(?:ref: refs\/\S+|[0-9a-f]{40,64})\n?$/.test(head)) return 'its HEAD cannot be read'
  for (const name of ['objects', 'refs']) if (!isDirectory(join(dir, name))) return `its ${name} are gone`
  return null
}

/** Reads every ref and object. Takes as long as `git fsck`, so it runs only after a failure. */
export async function findDeepDamage(
  dir: string,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  if (!isDirectory(dir)) return null
  const shallow = findDamage(dir) ?? findBrokenRef(dir)
  if (shallow !== null) return shallow
  const line = await createGitRunner(buildLocalIsolation(dir, env), { GIT_DIR: dir }).run(fsckTask)
  return line === null ? null : `git fsck says: ${line.slice(0, 200)}`
}

/** Returns true if the error can come from a damaged repository: by git's message, or by a missing object. */
export function isPossibleDamage(error: unknown): boolean {
  if (error instanceof LedgerError) return true
  if (!(error instanceof Error)) return false
  return error instanceof ForgeError || error instanceof UserError
    ? DAMAGE_MESSAGE.test(error.message)
    : DAMAGE_MESSAGE.test(error.message) ||
        /is not in .*; it was not fetched|cat-file stopped/.test(error.message)
}

interface CommitRecovery {
  /** The damaged repository. Only its objects are read. */
  from: string
  to: string
  env: Readonly<Record<string, string>>
  commits: readonly Oid[]
}

/** Copies commits with their history, as far as git can read them. Returns how many. */
export async function recoverCommits({ from, to, env, commits }: CommitRecovery): Promise<number> {
  const format = await readRepositoryFormat(to)
  if (format === null || commits.length === 0) return 0
  const git = createGitRunner(buildLocalIsolation(to, env), { GIT_DIR: to })
  return withBorrowedObjects({ near: getScratchDir(to), from, format, env }, async repository => {
    let saved = 0
    for (const oid of commits) {
      const tip = { ref: 'refs/heads/salvaged', oid }
      await writePackedRefs(repository, [tip])
      const { exitCode } = await git.run(buildFetchTask({ dir: to, remote: repository }, [tip], 'ref'))
      if (exitCode === 0) saved += 1
    }
    return saved
  })
}

/** Renames the damaged directory without deleting anything. Returns the new path. */
export function moveDamagedAside(path: string): string {
  const target = `${path}.damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`
  renameSync(path, target)
  return target
}

const DAMAGE_MESSAGE =
  /corrupt|inflate|bad object|bad ref|broken (?:link|ref|symref|object)|packfile|pack has bad|loose object|missing (?:blob|tree|commit)|invalid sha1|hash mismatch|unable to (?:read|parse|unpack|find)|could not (?:read (?!Username|Password)|parse)|does not match index|index file .* is|bad config|not a git repository|not a valid object|did not send all necessary objects|unresolved deltas|revision walk setup/i

/** The exit code is a bit mask of findings. Content rules that the user's own commits break are not damage. */
const fsckTask: GitTask<string | null> = {
  args: ['fsck', '--full', '--no-dangling', '--no-progress', '--no-reflogs'],
  answers: Array.from({ length: 128 }, (_, code) => code + 1),
  parse({ stdout, stderr }) {
    const lines = `${stderr}\n${stdout}`.split('\n').map(line => line.trim())
    return lines.find(line => DAMAGE_MESSAGE.test(line) && !HARMLESS_FINDING.test(line)) ?? null
  },
}
/** Content rules, and the empty tree (sha1, sha256), which git reads without storing it. */
const HARMLESS_FINDING =
  /^(?:error|warning) in (?:blob|tree|commit|tag) [0-9a-f]+: |^(?:missing|broken link to) tree (?:4b825dc642cb6eb9a060e54bf8d69288fbee4904|6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321)$/

function findBrokenRef(dir: string): string | null {
  const root = join(dir, 'refs')
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const file = join(entry.parentPath, entry.name)
    if (!/^(?:ref: \S+|[0-9a-f]{40,64})\n?$/.test(readTextOrNull(file) ?? '')) return `${file} is not a ref`
  }
  return null
}

/** Expects sections and keys, as git writes them. After a power cut, a file may be empty or full of zeros. */
function isConfig(text: string): boolean {
  const lines = text.split('\n').map(line => line.trim())
  const isPlain = lines.every(line => line === '' || /^\[[^\]]+\]$|^[a-z][\w-]*\s*=.*$/i.test(line))
  return isPlain && lines.some(line => /^bare\s*=\s*true$/i.test(line))
}

/** Returns null if the file cannot be read for any reason. */
function readTextOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null
    throw error
  }
}
