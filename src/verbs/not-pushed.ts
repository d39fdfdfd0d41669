import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { localIsolation } from '../git/isolation.ts'
import { gitRunner } from '../git/runner.ts'
import { shortRef } from '../model/refs.ts'

export const PUSH_OR_LOCAL = 'git push, or run winnow with --remote none to use this repository alone'

const SPEC = /^\.winnow\/[^/]+\.ya?ml$/

/** A spec that is committed in this checkout, while the remote, which winnow reads, does not have it. */
export async function notPushed(
  { checkout, defaultBranch, local }: Workshop,
  env: Readonly<Record<string, string>>,
  { wanted, pushed }: { wanted: (path: string) => boolean; pushed: readonly string[] },
): Promise<UserError | null> {
  if (local || checkout.topLevel === null || defaultBranch === null) return null
  const here = (await committedPaths(checkout.topLevel, env)).filter(
    path => wanted(path) && !pushed.includes(path),
  )
  const [first] = here
  if (first === undefined) return null
  const [what, is] = here.length === 1 ? [first, 'is'] : [here.slice(0, 3).join(', '), 'are']
  return new UserError(
    `${what} ${is} committed here but not pushed: ${shortRef(defaultBranch)} of the remote does not have ${here.length === 1 ? 'it' : 'them'}`,
    { place: { file: first }, fix: PUSH_OR_LOCAL },
  )
}

export function isUsualSpec(path: string): boolean {
  return SPEC.test(path)
}

async function committedPaths(topLevel: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const git = gitRunner(localIsolation(topLevel, env))
  return git.run({
    args: ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD'],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\0').filter(path => path !== '') : []),
  })
}
