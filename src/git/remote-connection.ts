import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ForgeError, UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { toNullIfMissing } from './bare-repository.ts'
import { detectObjectFormat, isOid, type ObjectFormat } from './object-format.ts'
import { detectStorageFailure, GitExit, type GitRunner, type GitTask, SilentRemote } from './runner.ts'

export interface RemoteContext {
  dir: string
  remote: string
  prefix: string
  local: boolean
  format: ObjectFormat
  say: (line: string) => void
}

/** Number of attempts with a remote that hangs. */
const MAX_ATTEMPTS = 3

export const PUSH = 'push to'
export const PUSH_AS_APP = 'push with app-token to'

export interface RemoteConnection {
  context: RemoteContext
  run: <T>(action: string, task: GitTask<T>, runner?: GitRunner) => Promise<T>
  refs: (patterns?: readonly string[]) => Promise<RemoteRefs>
  checkFormat: (oid: Oid) => void
}

export function createRemoteConnection(context: RemoteContext, network: GitRunner): RemoteConnection {
  /** Never repeats a push: it may have succeeded, which only another read shows. */
  async function run<T>(action: string, task: GitTask<T>, runner = network): Promise<T> {
    const isPush = action === PUSH || action === PUSH_AS_APP
    const most = isPush ? 1 : MAX_ATTEMPTS
    for (let attempt = 1; ; attempt++) {
      try {
        return await runner.run(task)
      } catch (error) {
        if (error instanceof GitExit)
          throw explainRemoteFailure(action, context.remote, context.dir, error.output.stderr)
        if (!(error instanceof SilentRemote)) throw error
        const what = `cannot ${action} ${maskPassword(context.remote)}: ${error.message}`
        if (attempt === most) throw new SilentRemote(what, { output: error.message, isPush })
        context.say(`${what}; winnow tries again (${attempt + 1} of ${most})`)
      }
    }
  }

  function checkFormat(oid: Oid): void {
    if (!isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    if (detectObjectFormat(oid) !== context.format) throw explainFormatMismatch(context.remote, context.dir)
  }

  return {
    context,
    run,
    checkFormat,
    async refs(patterns) {
      const found = await run('read', listRemoteRefs(context.remote, patterns))
      for (const oid of found.refs.values()) checkFormat(oid)
      return found
    },
  }
}

// Failures

const READ_ONLY_TOKEN =
  'the pushing account has no write permission there; a job of GitHub Actions needs contents: write'

function maskPassword(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/gi, '$1***@')
}

export function explainRemoteFailure(action: string, remote: string, gitDir: string, stderr: string): Error {
  const words = maskPassword(stderr.trim())
  const where = maskPassword(remote)
  if (/mismatched algorithms/.test(words)) return explainFormatMismatch(remote, gitDir)
  if (isNetwork(remote)) {
    const status = /returned error: (\d{3})/.exec(words)?.[1]
    const code =
      status ?? (/Authentication failed|could not read (?:Username|Password)/.test(words) ? '401' : undefined)
    const denied = PERMISSION_DENIED.test(words) || (code === '403' && [PUSH, PUSH_AS_APP].includes(action))
    const permissionNote = denied ? `\n${READ_ONLY_TOKEN}` : ''
    return new ForgeError(`cannot ${action} ${where}: ${words}${permissionNote}`, {
      output: words,
      ...(denied ? { rule: 'contents: write' } : {}),
      ...(code === undefined ? {} : { status: Number(code) }),
    })
  }
  if (/dubious ownership/.test(words)) {
    return new UserError(`${where} belongs to another user, so git does not read it`, {
      place: { path: where },
      fix: `git config --global --add safe.directory ${where}`,
    })
  }
  if (/does not appear to be a git repository|not a git repository|does not exist|No such file/.test(words)) {
    return new UserError(`the remote ${where} is not a git repository`, {
      place: { path: where },
      fix: 'check the path of the remote; was the repository moved or deleted?',
    })
  }
  const storageFailure = detectStorageFailure(where, words)
  if (storageFailure !== null) return storageFailure
  return new ForgeError(`cannot ${action} ${where}: ${words}`, { output: words })
}

/** GitHub's answer to a push with a read-only token. */
const PERMISSION_DENIED = /Write access to repository not granted|Permission to \S+ denied to /

function explainFormatMismatch(remote: string, gitDir: string): UserError {
  return new UserError(`${maskPassword(remote)} now has another object format than winnow's copy ${gitDir}`, {
    place: { file: gitDir },
    fix: `delete ${gitDir}; it is a cache, and winnow fetches it again`,
  })
}

// Address and format

/** True for scheme://… and host:path. file:// and plain paths are on this machine. */
export function isNetwork(remote: string): boolean {
  if (remote.startsWith('file://')) return false
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(remote) || /^[^/]+:/.test(remote)
}

export function isPath(remote: string): boolean {
  return !isNetwork(remote) && !remote.startsWith('file://')
}

/** Returns null for a remote on another machine. */
export function toLocalPath(remote: string): string | null {
  if (isNetwork(remote)) return null
  return remote.startsWith('file://') ? fileURLToPath(remote) : remote
}

export async function detectRemoteFormat(remote: string, runner: GitRunner): Promise<ObjectFormat> {
  const path = toLocalPath(remote)
  try {
    if (path !== null) return await readLocalFormat(path, runner)
    const { refs } = await runner.run(listRemoteRefs(remote))
    const [oid] = refs.values()
    return oid === undefined ? 'sha1' : detectObjectFormat(oid)
  } catch (error) {
    if (error instanceof GitExit) throw explainRemoteFailure('read', remote, remote, error.output.stderr)
    throw error
  }
}

async function readLocalFormat(path: string, runner: GitRunner): Promise<ObjectFormat> {
  if ((await stat(path).catch(toNullIfMissing)) === null) {
    throw new UserError(`the remote ${path} does not exist`, {
      place: { path },
      fix: 'check the path of the remote; was the repository moved or deleted?',
    })
  }
  return runner.run({
    args: ['-C', path, 'rev-parse', '--show-object-format'],
    parse: ({ stdout }) => (stdout.trim() === 'sha256' ? 'sha256' : 'sha1'),
  })
}

// Refs

export interface RemoteRefs {
  /** Target of the remote's HEAD; null when it is detached or the remote is empty. */
  head: string | null
  refs: Map<string, Oid>
}

/** Without patterns it lists all refs, and with none of them only HEAD. */
function listRemoteRefs(remote: string, patterns?: readonly string[]): GitTask<RemoteRefs> {
  const named = patterns === undefined ? [] : ['HEAD', ...patterns]
  return {
    args: ['ls-remote', '--symref', '--', remote, ...named],
    parse({ stdout }) {
      const { head, refs } = parseRemoteRefs(stdout)
      return { head, refs: new Map([...refs].filter(([name]) => !name.endsWith('^{}'))) }
    },
  }
}

function parseRemoteRefs(stdout: string): RemoteRefs {
  const found: RemoteRefs = { head: null, refs: new Map() }
  for (const line of stdout.split('\n')) {
    const [value = '', name = ''] = line.split('\t')
    if (value.startsWith('ref: ') && name === 'HEAD') found.head = value.slice('ref: '.length)
    if (!value.startsWith('ref: ') && name.startsWith('refs/')) found.refs.set(name, value)
  }
  return found
}

/** Lists branches and tags. An annotated tag maps to the commit that it points to. */
export function listRemoteCommits(remote: string): GitTask<RemoteRefs> {
  return {
    args: ['ls-remote', '--symref', '--', remote],
    parse({ stdout }) {
      const { head, refs } = parseRemoteRefs(stdout)
      // The commit of a tag (`^{}`) follows the tag itself, so it replaces the tag.
      return { head, refs: new Map([...refs].map(([name, oid]) => [name.replace(/\^\{\}$/, ''), oid])) }
    },
  }
}
