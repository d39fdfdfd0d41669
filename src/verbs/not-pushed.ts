import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { toShortRef } from '../model/refs.ts'

export const PUSH_OR_LOCAL = 'git push, or run winnow with --remote none to use this repository alone'

const USUAL_SPEC = /^\.winnow\/[^/]+\.ya?ml$/

/** A spec that is committed in this checkout, while the remote, which winnow reads, does not have it. */
export async function findUnpushedSpec(
  { checkout, defaultBranch, local }: RepositoryContext,
  env: Readonly<Record<string, string>>,
  { wanted, pushed }: { wanted: (path: string) => boolean; pushed: readonly string[] },
): Promise<UserError | null> {
  if (local || checkout.topLevel === null || defaultBranch === null) return null
  const here = (await listCommittedPaths(checkout.topLevel, env)).filter(
    path => wanted(path) && !pushed.includes(path),
  )
  const [first] = here
  if (first === undefined) return null
  const [what, is] = here.length === 1 ? [first, 'is'] : [here.slice(0, 3).join(', '), 'are']
  return new UserError(
    `${what} ${is} committed here but not pushed: ${toShortRef(defaultBranch)} of the remote does not have ${here.length === 1 ? 'it' : 'them'}`,
    { place: { file: first }, fix: PUSH_OR_LOCAL },
  )
}

export function isUsualSpec(path: string): boolean {
  return USUAL_SPEC.test(path)
}

async function listCommittedPaths(
  topLevel: string,
  env: Readonly<Record<string, string>>,
): Promise<string[]> {
  const git = createGitRunner(buildLocalIsolation(topLevel, env))
  return git.run({
    args: ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD'],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\0').filter(path => path !== '') : []),
  })
}
