import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { toLocalPath } from '../git/remote-connection.ts'
import { createGitRunner } from '../git/runner.ts'
import { fetchRef } from '../git/fetch.ts'
import { isAncestor } from '../git/history.ts'
import { listTreeFiles } from '../git/tree.ts'
import { listUncommittedPaths } from '../git/work-tree.ts'
import { detectProject } from '../init/detect.ts'
import { createProjectFiles, type ProjectFiles, selectPathsToRead } from '../init/project.ts'
import { type Point, toShortRef } from '../model/ids.ts'
import type { Scope } from '../spec/scope.ts'
import type { Call } from './verb.ts'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const LARGEST_BYTES = 512 * 1024
const DIRECTORY = '.github/workflows'
const WORKFLOW = /\.ya?ml$/

export interface WorkflowFile {
  path: string
  text: string
}

export async function readDefaultTip(
  repositoryContext: RepositoryContext,
  environment: Call['environment'],
): Promise<Point> {
  const { repository, defaultBranch, local } = repositoryContext
  if (defaultBranch === null) throw await createNoDefaultBranchError(repositoryContext, environment)
  const commit = await fetchRef(repository, defaultBranch)
  if (commit !== null) return { commit, tree: (await repository.commit(commit)).tree }
  throw new UserError(`${toShortRef(defaultBranch)} has no commits yet`, {
    fix: `commit ${local ? '' : 'and push '}the project first; winnow measures commits`,
  })
}

/** The HEAD of a remote can name a missing branch. git ignores this silently. */
async function createNoDefaultBranchError(
  repositoryContext: RepositoryContext,
  environment: Call['environment'],
): Promise<UserError> {
  if (repositoryContext.local) {
    return new UserError('no branch is checked out, so the default branch is not known', {
      fix: 'check out the branch to be optimised, or give the repository a remote',
    })
  }
  const { refs } = await repositoryContext.repository.remoteRefs(['refs/heads/*'])
  const branches = [...refs.keys()].map(toShortRef).toSorted()
  if (branches.length === 0) {
    return new UserError('the remote names no default branch: it has no commits', {
      fix: 'push the branch to be optimised: git push -u <remote> <branch>; or run winnow with --remote none to use this repository alone',
    })
  }
  const path = findRemotePath(repositoryContext, environment)
  const named = path === null ? null : await readHeadBranch(path, environment.env)
  const instead = `it has ${branches.slice(0, 5).join(', ')}`
  if (path === null || named === null) {
    return new UserError(`the HEAD of the remote names no branch that is there: ${instead}`, {
      fix: 'choose its default branch in the settings of the remote',
    })
  }
  return new UserError(`the HEAD of the remote names ${toShortRef(named)}, which is not there: ${instead}`, {
    fix: `push ${toShortRef(named)}, or git -C ${path} symbolic-ref HEAD refs/heads/${branches[0]}`,
  })
}

/** Returns null if the remote is not a directory on this machine. */
function findRemotePath(
  { checkout: { remotes } }: RepositoryContext,
  { remote, directory }: Call['environment'],
): string | null {
  const chosen = remotes.find(({ name }) => name === (remote ?? 'origin')) ?? remotes[0]
  const path = chosen === undefined ? null : toLocalPath(chosen.url)
  return path === null ? null : resolve(directory, path)
}

async function readHeadBranch(path: string, env: Call['environment']['env']): Promise<string | null> {
  const name = await createGitRunner(buildLocalIsolation(path, env)).run({
    args: ['symbolic-ref', '-q', 'HEAD'],
    answers: [1],
    parse: ({ stdout }) => stdout.trim(),
  })
  return name === '' ? null : name
}

/** Reads committed files only, because experiments start from commits. */
export async function readCommittedProject(
  { repository }: RepositoryContext,
  base: Point,
): Promise<ProjectFiles> {
  const files = (await listTreeFiles(repository, base.tree)).filter(({ mode }) => mode.startsWith('100'))
  const oids = new Map(files.map(({ path, oid }) => [path, oid]))
  const paths = [...oids.keys()]
  const texts = new Map<string, string>()
  for (const path of selectPathsToRead(paths)) {
    const content = await repository.blob(oids.get(path) ?? '')
    if (content.length <= LARGEST_BYTES) texts.set(path, content.toString('utf8'))
  }
  return createProjectFiles(paths, texts)
}

/** Only workflows of the default branch start by themselves. */
export async function readCommittedWorkflows(repositoryContext: RepositoryContext): Promise<WorkflowFile[]> {
  const { repository } = repositoryContext
  const directory = await findCommittedEntry(repositoryContext, DIRECTORY)
  if (directory?.type !== 'tree') return []
  const files: WorkflowFile[] = []
  for (const { type, name, oid: blob } of await repository.tree(directory.oid)) {
    if (type !== 'blob' || !WORKFLOW.test(name)) continue
    files.push({ path: `${DIRECTORY}/${name}`, text: (await repository.blob(blob)).toString('utf8') })
  }
  return files
}

export async function findCommittedEntry({ repository, defaultBranch }: RepositoryContext, path: string) {
  const oid = defaultBranch === null ? null : await fetchRef(repository, defaultBranch)
  return oid === null ? null : repository.findEntry((await repository.commit(oid)).tree, path)
}

/** Returns the setup command that `init` would write; null if it finds none. */
export async function findUsualSetup(
  repositoryContext: RepositoryContext,
  base: Point,
): Promise<string | null> {
  const files = await readCommittedProject(repositoryContext, base)
  try {
    const { findings } = detectProject({ files, repository: files, directory: '' }, undefined)
    return findings.setup?.command ?? null
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}

type UnusedWorkEnv = Readonly<Record<string, string>>

/** Lists local changes that winnow does not use. Never modifies the checkout. */
export async function describeUnusedWork(
  repositoryContext: RepositoryContext,
  specPath: string | null,
  env: UnusedWorkEnv,
  scope: Scope | null = null,
): Promise<string[]> {
  const { topLevel } = repositoryContext.checkout
  if (topLevel === null || repositoryContext.defaultBranch === null) return []
  const name = toShortRef(repositoryContext.defaultBranch)
  const branch = repositoryContext.local ? name : `${name} of the remote`
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
  if (here === null || there === null) return null
  const same = here.replaceAll('\r\n', '\n') === there.replaceAll('\r\n', '\n')
  return same ? null : `${specPath} in the work tree differs from ${branch}: winnow uses the committed spec`
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
  const describe = (changed: readonly string[], what: string) =>
    changed.length === 0 ? [] : [`${formatCount(changed.length, 'change')} ${what}: ${formatFew(changed)}`]
  return [
    ...describe(inside, 'inside scope.mutable not committed, so not measured'),
    ...describe(others, 'in the work tree not committed and not used'),
  ]
}

export function formatFew(paths: readonly string[], most = 3): string {
  return paths.slice(0, most).join(', ') + (paths.length > most ? ', …' : '')
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
  // rev-list goes by dates, and lists too much where a clock was ahead.
  return count === 0 || (await git.run({ ...isAncestor('HEAD', tip), answers: [1, 128] }))
    ? null
    : `${formatCount(count, 'local commit')} not on ${branch}: not used until pushed there`
}
