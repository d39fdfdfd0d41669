import { buildNetworkIsolation } from './isolation.ts'
import { createGitRunner } from './runner.ts'

/** Paths of a work tree that are not as they are committed: changed, removed, or new and not ignored. */
export function listUncommittedPaths(
  topLevel: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  return createGitRunner(buildNetworkIsolation(topLevel, env)).run({
    args: [
      'status',
      '--porcelain',
      '-z',
      '--no-renames',
      '--untracked-files=all',
      '--ignore-submodules=dirty',
    ],
    parse: ({ stdout }) => stdout.split('\0').flatMap(line => (line === '' ? [] : [line.slice(3)])),
  })
}
