import { ForgeError, UserError } from '../errors.ts'
import { detectStorageFailure } from './storage-failure.ts'

export const PUSH = 'push to'
export const PUSH_AS_APP = 'push with app-token to'
const MAY_NOT_WRITE =
  'the account that pushes may not write there; a job of GitHub Actions needs contents: write'

/** A URL in an error must not carry the password that was in it. */
function maskPassword(text: string): string {
  return text.replace(/(\b[a-z][a-z0-9+.-]*:\/\/)[^/@\s]*@/gi, '$1***@')
}

export function describeSilence(doing: string, remote: string, why: string): string {
  return `cannot ${doing} ${maskPassword(remote)}: ${why}`
}

/** Turns git's words about a remote it could not use into the error of the person who can fix it. */
export function explainRemoteFailure(doing: string, remote: string, gitDir: string, stderr: string): Error {
  const words = maskPassword(stderr.trim())
  const where = maskPassword(remote)
  if (/mismatched algorithms/.test(words)) return explainFormatMismatch(remote, gitDir)
  if (isNetwork(remote)) {
    const status = /returned error: (\d{3})/.exec(words)?.[1]
    const code =
      status ?? (/Authentication failed|could not read (?:Username|Password)/.test(words) ? '401' : undefined)
    const denied = DENIED.test(words) || (code === '403' && [PUSH, PUSH_AS_APP].includes(doing))
    const lacks = denied ? `\n${MAY_NOT_WRITE}` : ''
    return new ForgeError(`cannot ${doing} ${where}: ${words}${lacks}`, {
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
  const unwritable = detectStorageFailure(where, words)
  if (unwritable !== null) return unwritable
  return new ForgeError(`cannot ${doing} ${where}: ${words}`, { output: words })
}

/** How GitHub answers a push with a token that only reads. */
const DENIED = /Write access to repository not granted|Permission to \S+ denied to /

export function explainFormatMismatch(remote: string, gitDir: string): UserError {
  return new UserError(
    `${maskPassword(remote)} now has another object format than ${gitDir}, which was made from it`,
    {
      place: { file: gitDir },
      fix: `delete ${gitDir}; it is a cache and is made again`,
    },
  )
}

/** scheme://… or host:path; file:// and paths are on this machine. */
export function isNetwork(remote: string): boolean {
  if (remote.startsWith('file://')) return false
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(remote) || /^[^/]+:/.test(remote)
}

export function isPath(remote: string): boolean {
  return !isNetwork(remote) && !remote.startsWith('file://')
}
