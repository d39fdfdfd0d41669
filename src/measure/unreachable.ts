import { isForbidden } from './forbidden.ts'

/**
 * What the kernel, or Node, answers about a path that untrusted code closed, led astray, made too long, or put something
 * too large at. It says nothing about the machine.
 */
const UNREACHABLE = new Set(['ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOTCONN', 'ERR_FS_FILE_TOO_LARGE'])

export function isUnreachable(error: unknown): boolean {
  if (isForbidden(error)) return true
  return error instanceof Error && 'code' in error && UNREACHABLE.has(String(error.code))
}
