import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type RepositoryContext, withGitAccess } from '../engine/campaign/open.ts'
import { ForgeError, UserError } from '../errors.ts'
import { findProxy } from '../git/isolation.ts'
import { MOST_SETUP_BRANCHES, type PushResult, type RefUpdate, SETUP_BRANCH } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import type { GithubClient } from '../github/client.ts'
import { openPull } from '../github/edit-pulls.ts'
import { readBranch } from '../github/read-pulls.ts'
import { detectProject } from '../init/detect.ts'
import type { NewFile } from '../init/harness.ts'
import { narrowToDirectory, type ProjectLocation } from '../init/project.ts'
import {
  isAsWritten,
  isNewer,
  OWNER_FILES,
  renderGithubFiles,
  withDigest,
  withKeptActions,
  WORKFLOW,
} from '../init/workflows/files.ts'
import { buildToolchain } from '../init/workflows/setup-actions.ts'
import { OWN_ACTION, readWrittenWorkflow } from '../init/workflows/steps.ts'
import { toShortRef } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import {
  findGithub,
  findOwnAction,
  findToken,
  formatUses,
  type GithubLocation,
  readPinnedVersion,
  resolveAction,
} from './action-pin.ts'
import { withRepository } from './context.ts'
import { readCommittedProject } from './default-branch.ts'
import {
  createDefaultBranchSource,
  createWorkTreeSource,
  describeUntilMerged,
  type FileSource,
  formatAction,
  getDefaultBranchName,
  getSetupPullTitle,
  type GithubSetupPlan,
  listUnseenSpecs,
  type OpenedPull,
  patchEditedFile,
  readGithubSpecs,
  renderAdminSteps,
  renderMissingToken,
  renderSetupPull,
  renderWrittenFiles,
  requireSupportedSpecs,
  type SetupContext,
} from './init-github-plan.ts'
import { DEFAULT_PREFIX, writeFilesToTree } from './known-campaigns.ts'
import type { Call } from './verb.ts'

const UP_TO_DATE = 'Nothing to do: the files are there and up to date.'

interface SetupSources {
  specs: FileSource
  files: FileSource
}

interface SetupPullInput {
  github: GithubLocation
  token: string
  plan: GithubSetupPlan
}

/** Writes the workflow and its files to the work tree, or with --open-pr to a pull request. */
export async function initGithub(call: Call, context: SetupContext): Promise<number> {
  const { given, terminal } = call
  if (given.flag('open-pr') && !given.flag('dry-run')) return openFilesPull(call, context)
  const [here, there] = [createWorkTreeSource(context), createDefaultBranchSource(context)]
  // A spec of the work tree may be committed together with the workflow.
  const specs: FileSource = async path => (await here(path)) ?? there(path)
  const plan = await planFiles(call, context, { specs, files: here })
  if (given.flag('dry-run')) {
    terminal.out(plan.files.length === 0 ? UP_TO_DATE : 'Nothing was written. It would write:')
    for (const { path, text } of plan.files) terminal.out(`\n--- ${path}\n${text.trimEnd()}`)
    return 0
  }
  await writeFiles(context, plan.files)
  const uncommitted = (await listUnseenSpecs(call, context)).filter(({ committed }) => !committed)
  const paths = uncommitted.map(({ path }) => path)
  for (const line of renderWrittenFiles(call, context, plan, paths)) terminal.out(line)
  return 0
}

/** Without a token, writes the files to the work tree and prints the remaining steps. */
async function openFilesPull(call: Call, context: SetupContext): Promise<number> {
  const { terminal, environment } = call
  const github = findGithub(context.repositoryContext, environment.env)
  if (github === null) {
    throw new UserError('the remote of this repository is not on GitHub, so no pull request can be opened', {
      fix: 'leave --open-pr out: the files are written into the work tree then',
    })
  }
  const [unseen] = await listUnseenSpecs(call, context)
  if (unseen !== undefined) {
    const push = unseen.committed ? 'git push' : 'commit and push it'
    const branch = getDefaultBranchName(context)
    throw new UserError(`this spec differs from ${branch} of the remote, or is missing there`, {
      place: { file: unseen.path },
      fix: `${push}, and repeat; or leave out --open-pr, and open one pull request with everything yourself`,
    })
  }
  const token = await findToken(github, environment.env)
  const committed = createDefaultBranchSource(context)
  if (token === '') {
    const files = createWorkTreeSource(context)
    const plan = await planFiles(call, context, { specs: committed, files })
    await writeFiles(context, plan.files)
    for (const line of [...renderMissingToken(github), ...renderWrittenFiles(call, context, plan, [])])
      terminal.out(line)
    return 2
  }
  const plan = await planFiles(call, context, { specs: committed, files: committed })
  if (plan.files.length === 0) {
    terminal.out(UP_TO_DATE)
    return 0
  }
  const opened = await openSetupPull(call, context, { github, token, plan })
  for (const line of [...renderSetupPull(opened, plan), ...renderAdminSteps(call, context, plan)])
    terminal.out(line)
  return 0
}

// The files

async function planFiles(call: Call, context: SetupContext, sources: SetupSources): Promise<GithubSetupPlan> {
  const found = await readGithubSpecs(context, sources.specs)
  const specs = found.map(({ spec }) => spec)
  const current = await sources.files(WORKFLOW)
  const written = current === null ? null : readWrittenWorkflow(current)
  if (current !== null && written === null) {
    throw new UserError('this file was not written by winnow init --github, and is not overwritten', {
      place: { file: WORKFLOW },
      fix: `rename or remove it (git mv ${WORKFLOW} .github/workflows/<other>.yml), and repeat`,
    })
  }
  if (written?.action === OWN_ACTION) {
    throw new UserError('this file runs the action of its own repository', {
      place: { file: WORKFLOW },
      fix: 'npm run docs writes it again',
    })
  }
  const singleJob = call.given.flag('single-job') || written?.singleJob === true
  const attest = call.given.flag('attest') || written?.attests === true
  if (singleJob && attest) {
    throw new UserError('a workflow with a single job cannot attest what it writes', {
      fix: `use one of --single-job and --attest; to change the mode of the file, remove ${WORKFLOW} first`,
    })
  }
  requireSupportedSpecs(found, singleJob ? 'single-job' : 'github')
  const action = await selectAction(call, context, written?.action ?? null)
  const project = await locateProject(context, specs)
  const toolchain = buildToolchain(detectProject(project, call.given.text('language')), project)
  const render = (campaigns: readonly Spec[]) =>
    renderGithubFiles({ action, specs: campaigns, attest }, toolchain, { singleJob })
  const files: NewFile[] = []
  for (const file of render(specs)) {
    const { path, text } = file
    const there = await sources.files(path)
    if (path === WORKFLOW) {
      const renderEarlier = (each: readonly Spec[]) => render(each).find(one => one.path === path)?.text ?? ''
      const signed =
        there === null ? withDigest(text) : await rewriteWorkflow(call, context, there, text, renderEarlier)
      if (signed !== there) files.push({ path, text: signed })
    } else if (there === null) files.push(file)
    else if (!OWNER_FILES.has(path)) throw new Error(`${path} is neither the workflow nor the owner's`)
  }
  return { specs: found, files, action, singleJob, existed: current !== null }
}

/** Returns the new text, or the current one if nothing changes. Prints a patch and fails if it was edited. */
async function rewriteWorkflow(
  call: Call,
  context: SetupContext,
  current: string,
  text: string,
  render: (specs: readonly Spec[]) => string,
): Promise<string> {
  const own = readWrittenWorkflow(text)?.action.replace(/@.*/, '') ?? ''
  const onServer = (findGithub(context.repositoryContext, call.environment.env)?.server ?? null) !== null
  const wanted = withDigest(withKeptActions(text, { file: current, own, onServer }))
  if (isAsWritten(current) || wanted === current) return wanted
  const earlier = (each: readonly Spec[]) =>
    withKeptActions(render(each), { file: current, own: '', onServer: true })
  const edited = { path: WORKFLOW, current, wanted, render: earlier }
  const { patch, keepsEdits } = await patchEditedFile(call, context, edited)
  if (patch === '') return current
  call.terminal.out(patch.trimEnd())
  const options = call.given.flag('update') ? ' --update' : ''
  const what = 'this file was changed by hand, so init does not overwrite it; the lines to change are above'
  throw new UserError(what, {
    place: { file: WORKFLOW },
    fix: keepsEdits
      ? `winnow init --github${options} | git apply`
      : 'apply the new parts by hand: the whole patch would undo your own changes',
  })
}

/** Prefers --action, then (without --update) the workflow's action, then that of the running winnow. */
async function selectAction(call: Call, context: SetupContext, written: string | null): Promise<string> {
  const near = findGithub(context.repositoryContext, call.environment.env) ?? { webUrl: 'https://github.com' }
  const given = call.given.text('action')
  if (given !== undefined) return formatUses(await resolveAction(call, given, near))
  if (written !== null && !call.given.flag('update')) return written
  const own = formatUses(await findOwnAction(call, near))
  const [runs, here] = [readPinnedVersion(written ?? ''), readPinnedVersion(own)]
  if (!isNewer(runs, here)) return own
  throw new UserError(`the workflow runs winnow ${runs}, and this is ${here}`, {
    place: { file: WORKFLOW },
    fix: 'update the command line first (npm install --global git-winnow@latest), then winnow init --github --update',
  })
}

async function locateProject(
  { repositoryContext, base }: SetupContext,
  [spec]: readonly Spec[],
): Promise<ProjectLocation> {
  const repository = await readCommittedProject(repositoryContext, base)
  const directory = (spec?.measurement.working_directory ?? '.').replace(/^\.(?:\/|$)|\/+$/g, '')
  return { files: narrowToDirectory(repository, directory), repository, directory }
}

async function writeFiles({ topLevel }: SetupContext, files: readonly NewFile[]): Promise<void> {
  for (const { path, text } of files) {
    const file = join(topLevel, path)
    try {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text, { flag: existsSync(file) ? 'w' : 'wx' })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw new UserError(`${path} could not be written: ${error.message}`, {
        place: { file: path },
        fix: 'give write permission or free space there, and repeat',
        cause: error,
      })
    }
  }
}

// The pull request

/** Leaves the work tree alone: pushes one commit on top of the default branch. */
async function openSetupPull(call: Call, context: SetupContext, input: SetupPullInput): Promise<OpenedPull> {
  const { github, plan } = input
  const { repository } = context.repositoryContext
  const title = getSetupPullTitle(plan)
  const tree = await writeFilesToTree(repository, context.base.tree, plan.files)
  const { branch, pushed } = await findFreeBranch(repository, tree)
  if (!pushed) {
    const date = Math.floor(call.environment.clock.now() / 1000)
    const parents = [context.base.commit]
    const commit = await repository.writeCommit({ tree, parents, message: `${title}\n`, date })
    await pushSetupBranch(call, context, input, { ref: `refs/heads/${branch}`, from: null, to: commit })
  }
  const { number, opened } = await openOrFindPull(call, input, {
    branch,
    base: getDefaultBranchName(context),
    title,
    body: renderSetupPullBody(plan),
  })
  const url = `${github.webUrl}/${github.repository}/pull/${number}`
  return { url, branch, files: plan.files.map(({ path }) => path), opened }
}

/** Returns the first free branch name, or the first branch that already has this tree. */
async function findFreeBranch(
  repository: Repository,
  tree: string,
): Promise<{ branch: string; pushed: boolean }> {
  const { refs } = await repository.remoteRefs([`refs/heads/${SETUP_BRANCH}*`])
  for (let number = 1; number <= MOST_SETUP_BRANCHES; number++) {
    const branch = number === 1 ? SETUP_BRANCH : `${SETUP_BRANCH}-${number}`
    const oid = refs.get(`refs/heads/${branch}`)
    if (oid === undefined) return { branch, pushed: false }
    await repository.fetch([{ ref: `refs/heads/${branch}`, oid }])
    if ((await repository.commit(oid)).tree === tree) return { branch, pushed: true }
  }
  const last = `${SETUP_BRANCH}-${MOST_SETUP_BRANCHES}`
  throw new UserError(`the branches ${SETUP_BRANCH} to ${last} are all taken`, {
    fix: `delete those that are not needed: git push origin --delete ${SETUP_BRANCH}`,
  })
}

/** Tries the person's git credentials first, then the token, which may have more rights. */
async function pushSetupBranch(
  call: Call,
  { repositoryContext }: SetupContext,
  { github, token }: SetupPullInput,
  update: RefUpdate,
): Promise<void> {
  const first = await tryPush(() => repositoryContext.repository.push([update]))
  if (first === null) return
  const remote = repositoryContext.checkout.remotes.find(({ name }) => name === repositoryContext.remote)
  if (remote !== undefined && /^https?:/.test(remote.url)) {
    const workflowsEnv = withGitAccess(call.environment.env, { serverUrl: github.webUrl, token })
    const again = { ...call, environment: { ...call.environment, workflowsEnv } }
    const second = await withRepository(again, DEFAULT_PREFIX, ({ repository }) =>
      tryPush(() => repository.push([update], { bringsWorkflows: true })),
    )
    if (second === null) return
  }
  const what = `${github.repository} refused the branch ${toShortRef(update.ref)}: ${first}`
  const fix = /workflow/.test(first)
    ? 'A push of workflow files needs the scope "workflow": gh auth refresh --scopes workflow, and repeat'
    : 'Leave --open-pr out to have the files in the work tree, and push them yourself'
  throw new ForgeError(`${what}\n${fix}`, { output: first })
}

/** Returns null on success, otherwise the reason. */
async function tryPush(pushing: () => Promise<PushResult>): Promise<string | null> {
  try {
    const result = await pushing()
    if (result.ok) return null
    return 'message' in result ? result.message : 'another process created the branch in the meantime'
  } catch (error) {
    if (error instanceof ForgeError) return error.message
    throw error
  }
}

async function openOrFindPull(
  call: Call,
  { github, token }: SetupPullInput,
  pull: Parameters<typeof openPull>[1],
): Promise<{ number: number; opened: boolean }> {
  const answer = await openPull(await createSetupClient(call, github, token), pull)
  if (answer.ok) return { number: answer.number, opened: true }
  if (answer.code === 'duplicate' && answer.number !== null) return { number: answer.number, opened: false }
  const what = `the branch ${pull.branch} is pushed, and its pull request was refused: ${answer.message}`
  throw new ForgeError(what, { output: answer.message })
}

function renderSetupPullBody(plan: GithubSetupPlan): string {
  const { files, specs, action } = plan
  return [
    `This workflow runs ${specs.length === 1 ? 'the campaign' : 'the campaigns'} ${specs.map(({ path }) => `\`${path}\``).join(', ')} in GitHub Actions with ${formatAction(action)}.`,
    '',
    ...files.map(({ path }) => `- \`${path}\``),
    '',
    `${describeUntilMerged(plan)} \`winnow doctor\` says what is missing in the settings of the repository.`,
  ].join('\n')
}

/** Also finds a pull request that a person opened from the branch that `init --github` suggests. */
export async function findSetupPull(
  call: Call,
  repositoryContext: RepositoryContext,
): Promise<{ number: number; url: string } | null> {
  const { repository, defaultBranch } = repositoryContext
  const github = findGithub(repositoryContext, call.environment.env)
  if (github === null || defaultBranch === null) return null
  const { refs } = await repository.remoteRefs([`refs/heads/${SETUP_BRANCH}*`])
  const token = refs.size === 0 ? '' : await findToken(github, call.environment.env)
  if (token === '') return null
  const client = await createSetupClient(call, github, token)
  try {
    for (const ref of refs.keys()) {
      const found = await readBranch(client, { branch: toShortRef(ref), base: toShortRef(defaultBranch) })
      if (found?.pull.state !== 'open') continue
      const { number } = found.pull
      return { number, url: `${github.webUrl}/${github.repository}/pull/${number}` }
    }
  } catch (error) {
    // The doctor reports connection problems as a separate finding.
    if (!(error instanceof ForgeError)) throw error
  }
  return null
}

async function createSetupClient(
  { environment }: Call,
  github: GithubLocation,
  token: string,
): Promise<GithubClient> {
  const { version, web } = environment
  findProxy(github.apiUrl, environment.env)
  // Loads Octokit only where it is needed: other commands start faster without it.
  const { createGithubClient } = await import('../github/client.ts')
  return createGithubClient({
    apiUrl: github.apiUrl,
    repository: github.repository,
    token,
    version,
    say: line => environment.progress.say(line),
    ...(web === undefined ? {} : { web }),
  })
}
