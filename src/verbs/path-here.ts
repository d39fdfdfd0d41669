import { join, relative } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import type { Call } from './call.ts'

/** A path of the repository as it is typed where the person is: below its top, git takes paths from there. */
export function toTypedPath(
  { around }: Pick<Call, 'around'>,
  { checkout }: RepositoryContext,
  path: string,
): string {
  const { topLevel } = checkout
  return topLevel === null ? path : relative(around.directory, join(topLevel, path))
}

/** One word for a shell. */
export function quoteShellPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
