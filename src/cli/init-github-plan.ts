import { join } from 'node:path'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { readOptional } from '../git/bare-repository.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { readTreeFile } from '../git/tree.ts'
import { SETUP_BRANCH } from '../git/push.ts'
import { createGitRunner, type GitRunner } from '../git/runner.ts'
import { listUncommittedPaths } from '../git/work-tree.ts'
import type { NewFile } from '../init/harness.ts'
import { copyDigestLine, isAsWritten, isNewer, readDigest, withDigest } from '../init/workflows/files.ts'
import { hasJudges, hasProgramProposers, MODEL_ENVIRONMENT, MODEL_SECRET } from '../init/workflows/setup.ts'
import { type Point, toShortRef } from '../model/ids.ts'
import { parseSpec } from '../spec/load.ts'
import { listPlannedFeatures } from '../spec/planned-features.ts'
import type { Spec } from '../spec/schema.ts'
import {
  findGithub,
  type GithubLocation,
  readPinnedVersion,
  SERVER_REFUSES,
  SINGLE_JOB,
} from './action-pin.ts'
import { isUsualSpec, listExistingSpecs, writeFilesToTree } from './known-campaigns.ts'
import type { Call } from './verb.ts'

export interface GithubSetupPlan {
  specs: FoundSpec[]
  /** New files, and replacements of files that winnow wrote earlier. */
  files: NewFile[]
  action: string
  singleJob: boolean
  existed: boolean
}

export interface OpenedPull {
  url: string
  branch: string
  files: string[]
  /** False if the pull request was already open. */
  opened: boolean
}

export interface SetupContext {
  repositoryContext: RepositoryContext
  topLevel: string
  base: Point
}

/** Reads a file of the repository; null if it is missing. */
export type FileSource = (path: string) => Promise<string | null>

interface FoundSpec {
  path: string
  spec: Spec
}

interface HandPatch {
  /** Input for `git apply`. */
  patch: string
  /** False if the person's edits and the new lines overlap. The patch then reverts the edits. */
  keepsEdits: boolean
}

interface EditedFile {
  path: string
  current: string
  wanted: string
  /** Renders the workflow for these specs with the actions that the file uses. */
  render: (specs: readonly Spec[]) => string
}

const MAX_COMMITS = 50

// Reading files and specs

/** Ignores the default branch, so that a file deleted in the work tree is written again. */
export function createWorkTreeSource({ topLevel }: SetupContext): FileSource {
  return async path => readOptional(join(topLevel, path))
}

export function createDefaultBranchSource({ repositoryContext, base }: SetupContext): FileSource {
  return path => readTreeFile(repositoryContext.repository, base.tree, path)
}

export async function readGithubSpecs(
  { repositoryContext, base }: SetupContext,
  source: FileSource,
): Promise<FoundSpec[]> {
  const found: FoundSpec[] = []
  for (const { path } of await listExistingSpecs(repositoryContext, base)) {
    const text = await source(path)
    if (text === null) continue
    const { spec } = parseSpec(text, { file: path })
    found.push({ path, spec })
  }
  if (found.length > 0) return found
  throw new UserError('there is no spec yet, and the workflow needs one', {
    place: { file: '.winnow/<name>.yaml' },
    fix: 'winnow init writes one; then winnow init --github',
  })
}

export function requireSupportedSpecs(found: readonly FoundSpec[], where: 'github' | 'single-job'): void {
  for (const { path, spec } of found) {
    const missing = listPlannedFeatures(spec, where)
    if (missing.length === 0) continue
    const fix = 'remove or change the settings named above; then winnow init --github'
    throw new UserError(missing.join('\n'), { place: { file: path }, fix })
  }
}

/** Lists specs of the work tree that a run on GitHub would not see in this form. */
export async function listUnseenSpecs({ environment }: Call, context: SetupContext) {
  const [here, there] = [createWorkTreeSource(context), createDefaultBranchSource(context)]
  const changed = new Set(await listUncommittedPaths(context.topLevel, environment.env))
  const paths = (await listExistingSpecs(context.repositoryContext, context.base)).map(({ path }) => path)
  const unseen: { path: string; committed: boolean }[] = []
  for (const path of paths) {
    const [text, pushed] = [await here(path), await there(path)]
    if (text === null || text === pushed) continue
    if (pushed === null || changed.has(path)) unseen.push({ path, committed: !changed.has(path) })
  }
  return unseen
}

export function getDefaultBranchName({ repositoryContext }: SetupContext): string {
  return toShortRef(repositoryContext.defaultBranch ?? '')
}

// Output

export function renderWrittenFiles(
  call: Call,
  context: SetupContext,
  plan: GithubSetupPlan,
  uncommitted: readonly string[],
): string[] {
  const { files, existed, action } = plan
  if (files.length === 0) {
    const update = 'To have the action of the winnow that runs here: winnow init --github --update'
    return [
      `Nothing to do: the files are there and up to date, with ${formatAction(action)}.`,
      ...(call.given.flag('update') ? [] : [update]),
    ]
  }
  const paths = [...files.map(({ path }) => path), ...uncommitted]
  const branch = existed ? 'winnow-update' : SETUP_BRANCH
  return [
    ...files.map(({ path }) => `${existed && path.includes('/workflows/') ? 'Updated' : 'Wrote'} ${path}`),
    `It runs ${formatAction(action)} for ${plan.specs.map(({ spec }) => spec.name).join(', ')}.`,
    ...describeNewerAction(call, action),
    '',
    `Next, as one pull request. ${describeUntilMerged(plan)}`,
    `  git switch -c ${branch}`,
    `  git add ${paths.join(' ')}`,
    `  git commit -m "${getSetupPullTitle(plan)}" && git push -u origin ${branch}`,
    `  gh pr create --fill${buildCompareLink(call, context, branch)}`,
    ...renderAdminSteps(call, context, plan),
  ]
}

/** A workflow and an action of different versions may be incompatible. */
function describeNewerAction({ environment }: Call, action: string): string[] {
  const [runs, here] = [readPinnedVersion(action), `v${environment.version}`]
  if (!isNewer(runs, here)) return []
  return [`It runs winnow ${runs}, which is newer than the ${here} that wrote it: update winnow, and repeat.`]
}

/** For people without gh. */
function buildCompareLink(
  { environment }: Call,
  { repositoryContext }: SetupContext,
  branch: string,
): string {
  const github = findGithub(repositoryContext, environment.env)
  if (github === null) return ''
  return `   # or open ${github.webUrl}/${github.repository}/compare/${branch}?expand=1`
}

export function describeUntilMerged({ existed }: Pick<GithubSetupPlan, 'existed'>): string {
  return existed
    ? 'The workflow stays as it is until that is merged.'
    : 'Nothing runs before it is merged; closing it undoes everything.'
}

export function getSetupPullTitle({ existed }: Pick<GithubSetupPlan, 'existed'>): string {
  return existed ? 'ci: bring the winnow workflow up to date' : 'ci: run winnow campaigns'
}

/** Formats as `owner/name v1.2.3 (ab12ab12ab)`. */
export function formatAction(action: string): string {
  const [, name = action, commit = '', version] = /^(\S+?)@([0-9a-f]{40})(?: # (\S+))?$/.exec(action) ?? []
  if (commit === '') return name
  const short = commit.slice(0, 10)
  return version === undefined ? `${name} at ${short}` : `${name} ${version} (${short})`
}

/** Only an administrator of the repository can do these steps. */
export function renderAdminSteps(
  { environment }: Call,
  context: SetupContext,
  plan: GithubSetupPlan,
): string[] {
  const github = findGithub(context.repositoryContext, environment.env)
  const settings = github === null ? 'Settings' : `${github.webUrl}/${github.repository}/settings`
  const host = github?.server ?? null
  const server =
    host === null || plan.singleJob ? [] : [`${host}: ${SERVER_REFUSES}. Use ${SINGLE_JOB} there.`]
  if (plan.existed) return server
  const setup = { specs: plan.specs.map(({ spec }) => spec) }
  const prefixes = [...new Set(plan.specs.map(({ spec }) => `${spec.branches.prefix}/*`))].join(' and ')
  return [
    '',
    'Once, in the settings of the repository:',
    `  ${settings}/actions`,
    '    Workflow permissions: tick "Allow GitHub Actions to create and approve pull requests"',
    ...(hasProgramProposers(setup) || hasJudges(setup)
      ? [
          `  ${settings}/environments`,
          `    New environment "${MODEL_ENVIRONMENT}", for the branches ${getDefaultBranchName(context)} and ${prefixes}, with the key of your model as its secret ${MODEL_SECRET}`,
        ]
      : []),
    'winnow doctor says whether anything is missing. After the merge, gh workflow run winnow.yml starts the first run.',
    ...server,
  ]
}

export function renderMissingToken({ webUrl, server }: GithubLocation): string[] {
  const { host } = new URL(webUrl)
  const variable = server === null ? 'GH_TOKEN' : 'GH_ENTERPRISE_TOKEN'
  return [
    `No pull request was opened: there is no token for ${host} (gh auth login, or set ${variable}).`,
    'The files are in the work tree instead.',
    '',
  ]
}

export function renderSetupPull({ url, branch, files, opened }: OpenedPull, plan: GithubSetupPlan): string[] {
  return [
    ...files.map(path => `On ${branch}: ${path}`),
    opened ? `Opened ${url}` : `It is open already: ${url}`,
    describeUntilMerged(plan),
  ]
}

// Patching an edited workflow

/**
 * Returns winnow's changes as a patch of the edited file. Merges them with the person's edits, which are the
 * difference between the file and winnow's own version of it.
 */
export async function patchEditedFile(
  call: Call,
  { repositoryContext: { repository, checkout }, base }: Pick<SetupContext, 'repositoryContext' | 'base'>,
  edited: EditedFile,
): Promise<HandPatch> {
  const { path, current, wanted } = edited
  const date = Math.floor(call.environment.clock.now() / 1000)
  const commit = async (text: string, parents: string[]) => {
    const tree = await writeFilesToTree(repository, base.tree, [{ path, text }])
    return { tree, commit: await repository.writeCommit({ tree, parents, message: path, date }) }
  }
  const { env } = call.environment
  const here = checkout.topLevel
  const places = [
    ...(here === null ? [] : [{ git: createGitRunner(buildLocalIsolation(here, env)), from: 'HEAD' }]),
    { git: createGitRunner(buildLocalIsolation(repository.dir, env)), from: base.commit },
  ]
  const earlier = await findOwnVersion(places, edited)
  if (earlier !== null) {
    const origin = await commit(copyDigestLine(earlier, current), [])
    const theirs = await commit(current, [origin.commit])
    const ours = await commit(wanted, [origin.commit])
    const merged = await repository.mergeTree(theirs.commit, ours.commit)
    if (merged.clean)
      return { patch: await repository.patchBetween(theirs.tree, merged.tree), keepsEdits: true }
  }
  const [from, to] = [await commit(current, []), await commit(wanted, [])]
  return { patch: await repository.patchBetween(from.tree, to.tree), keepsEdits: false }
}

/**
 * Finds the version that the file's digest was taken from. It is either in the history, or can be rendered from
 * the specs of a commit. Otherwise returns the newest unedited version in the history.
 */
async function findOwnVersion(
  places: readonly { git: GitRunner; from: string }[],
  { path, current, render }: EditedFile,
): Promise<string | null> {
  const digest = readDigest(current)
  let newest: string | null = null
  for (const { git, from } of places) {
    const commits = await listFileCommits(git, from, path)
    for (const commit of commits) {
      const text = await readFileVersion(git, commit, path)
      if (text === null || !isAsWritten(text)) continue
      if (readDigest(text) === digest) return text
      newest ??= text
    }
    for (const commit of commits) {
      const specs = await readSpecVersions(git, commit)
      const text = specs.length === 0 ? null : withDigest(render(specs))
      if (text !== null && readDigest(text) === digest) return text
    }
  }
  return newest
}

async function listFileCommits(git: GitRunner, from: string, path: string): Promise<string[]> {
  return git.run({
    args: ['log', '--format=%H', `--max-count=${MAX_COMMITS}`, from, '--', path],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\n').filter(Boolean) : []),
  })
}

async function readFileVersion(git: GitRunner, commit: string, path: string): Promise<string | null> {
  return git.run({
    args: ['show', `${commit}:${path}`],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout : null),
  })
}

async function readSpecVersions(git: GitRunner, commit: string): Promise<Spec[]> {
  const paths = await git.run({
    args: ['ls-tree', '-z', '--name-only', '--full-tree', commit, '.winnow/'],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\0').filter(isUsualSpec) : []),
  })
  const specs: Spec[] = []
  for (const file of paths.toSorted()) {
    try {
      specs.push(parseSpec((await readFileVersion(git, commit, file)) ?? '', { file }).spec)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
    }
  }
  return specs
}
