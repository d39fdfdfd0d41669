import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { listUncommittedPaths } from '../git/work-tree.ts'
import { toShortRef } from '../model/ids.ts'
import type { Scope } from '../spec/scope.ts'
import { findCommittedEntry } from './default-branch.ts'

type UnusedWorkEnv = Readonly<Record<string, string>>

/**
 * Describes local changes that winnow does not use, because it reads only the default branch. Never modifies the
 * checkout.
 */
export async function describeUnusedWork(
  repositoryContext: RepositoryContext,
  specPath: string | null,
  env: UnusedWorkEnv,
  scope: Scope | null = null,
): Promise<string[]> {
  const { topLevel } = repositoryContext.checkout
  if (topLevel === null || repositoryContext.defaultBranch === null) return []
  const branch = repositoryContext.local
    ? toShortRef(repositoryContext.defaultBranch)
    : `${toShortRef(repositoryContext.defaultBranch)} of the remote`
  const sentences = [
    await describeSpecDifference(repositoryContext, topLevel, specPath, branch),
    ...(await describeUncommittedFiles(topLevel, specPath, env, scope)),
    await describeUnpushedCommits(repositoryContext, topLevel, env, branch),
  ]
  return sentences.filter(sentence => sentence !== null)
}

async function describeSpecDifference(
  repositoryContext: RepositoryContext,
  topLevel: string,
  specPath: string | null,
  branch: string,
): Promise<string | null> {
  if (specPath === null) return null
  const here = await readFile(join(topLevel, specPath), 'utf8').catch(toNullIfMissing)
  const there = await readCommittedText(repositoryContext, specPath)
  if (here === null || there === null || normalizeNewlines(here) === normalizeNewlines(there)) return null
  return `${specPath} in the work tree is not what ${branch} has: the committed one is used`
}

function normalizeNewlines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

export async function readCommittedText(
  repositoryContext: RepositoryContext,
  path: string,
): Promise<string | null> {
  const entry = await findCommittedEntry(repositoryContext, path)
  return entry?.type === 'blob' ? (await repositoryContext.repository.blob(entry.oid)).toString('utf8') : null
}

/** Lists changes inside the scope separately, because the person probably expects them to be measured. */
async function describeUncommittedFiles(
  topLevel: string,
  specPath: string | null,
  env: UnusedWorkEnv,
  scope: Scope | null,
): Promise<string[]> {
  const paths = (await listUncommittedPaths(topLevel, env)).filter(path => path !== specPath)
  const inside = paths.filter(path => scope?.isMutable(path) === true)
  const others = paths.filter(path => !inside.includes(path))
  return [
    ...(inside.length === 0
      ? []
      : [
          `${formatCount(inside.length, 'change')} inside scope.mutable not committed, so not measured: ${formatFewPaths(inside)}`,
        ]),
    ...(others.length === 0
      ? []
      : [
          `${formatCount(others.length, 'change')} in the work tree not committed and not used: ${formatFewPaths(others)}`,
        ]),
  ]
}

function formatFewPaths(paths: readonly string[]): string {
  return paths.slice(0, 3).join(', ') + (paths.length > 3 ? ', …' : '')
}

/** Ignores a remote tip that was never fetched. The count then covers all unfetched commits. */
async function describeUnpushedCommits(
  { repository, defaultBranch, local }: RepositoryContext,
  topLevel: string,
  env: UnusedWorkEnv,
  branch: string,
): Promise<string | null> {
  if (local || defaultBranch === null) return null
  const tip = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (tip === undefined) return null
  const git = createGitRunner(buildLocalIsolation(topLevel, env))
  const count = await git.run({
    args: ['rev-list', '--count', '--ignore-missing', 'HEAD', `^${tip}`],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? Number(stdout.trim()) : 0),
  })
  return count === 0
    ? null
    : `${formatCount(count, 'local commit')} not on ${branch}: not used until pushed there`
}
