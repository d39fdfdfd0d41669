import { ForgeError, UserError } from '../errors.ts'
import { withGitAccess } from '../engine/git-access.ts'
import { createGithubClient } from '../forge/github/client.ts'
import { openPull } from '../forge/github/open-pull.ts'
import { MOST_SETUP_BRANCHES, SETUP_BRANCH } from '../git/allowed-ref.ts'
import type { RefUpdate } from '../git/push.ts'
import type { PushResult } from '../git/push-result.ts'
import { findProxy } from '../git/proxy.ts'
import type { Repository } from '../git/repository.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import type { GithubLocation } from './github-of.ts'
import type { OpenedPull, GithubSetupPlan } from './github-plan.ts'
import { type SetupContext, getDefaultBranchName } from './github-sources.ts'
import { formatAction, getSetupPullTitle, describeUntilMerged } from './github-texts.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'

interface SetupPullInput {
  place: GithubLocation
  token: string
  plan: GithubSetupPlan
}

/** Pushes one new branch with one commit on the default branch, and opens its pull request. The work tree stays as it is. */
export async function openSetupPull(
  call: Call,
  ground: SetupContext,
  wanted: SetupPullInput,
): Promise<OpenedPull> {
  const { place, plan } = wanted
  const { repository } = ground.workshop
  const title = getSetupPullTitle(plan)
  const changes = []
  for (const { path, text } of plan.files) {
    changes.push({ path, entry: { mode: '100644' as const, oid: await repository.writeBlob(text) } })
  }
  const tree = await repository.replaceEntries(ground.base.tree, changes)
  const { branch, pushed } = await findFreeBranch(repository, tree)
  if (!pushed) {
    const date = Math.floor(call.around.clock.now() / 1000)
    const commit = await repository.writeCommit({
      tree,
      parents: [ground.base.commit],
      message: `${title}\n`,
      date,
    })
    await pushSetupBranch(call, ground, wanted, { ref: `refs/heads/${branch}`, from: null, to: commit })
  }
  const { number, opened } = await openOrFindPull(call, wanted, {
    branch,
    base: getDefaultBranchName(ground),
    title,
    body: renderSetupPullBody(plan),
  })
  const url = `${place.webUrl}/${place.repository}/pull/${number}`
  return { url, branch, files: plan.files.map(({ path }) => path), opened }
}

/** The first name that is free, or whose branch has exactly these files. */
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
  throw new UserError(
    `the branches ${SETUP_BRANCH} to ${SETUP_BRANCH}-${MOST_SETUP_BRANCHES} are all taken`,
    {
      fix: `delete those that are not needed: git push origin --delete ${SETUP_BRANCH}`,
    },
  )
}

/** First as the person's git pushes; where that is refused, with the token, which may have more rights. */
async function pushSetupBranch(
  call: Call,
  { workshop }: SetupContext,
  { place, token }: SetupPullInput,
  update: RefUpdate,
): Promise<void> {
  const first = await tryPush(() => workshop.repository.push([update]))
  if (first === null) return
  const remote = workshop.checkout.remotes.find(({ name }) => name === workshop.remote)
  if (remote !== undefined && /^https?:/.test(remote.url)) {
    const workflowsEnv = withGitAccess(call.around.env, { serverUrl: place.webUrl, token })
    const again = { ...call, around: { ...call.around, workflowsEnv } }
    const second = await withRepository(again, DEFAULT_PREFIX, ({ repository }) =>
      tryPush(() => repository.push([update], { bringsWorkflows: true })),
    )
    if (second === null) return
  }
  const workflows = /workflow/.test(first)
  throw new ForgeError(
    `${place.repository} refused the branch ${update.ref.slice('refs/heads/'.length)}: ${first}\n${
      workflows
        ? 'A push of workflow files needs the scope "workflow": gh auth refresh --scopes workflow, and repeat'
        : 'Leave --open-pr out to have the files in the work tree, and push them yourself'
    }`,
    { output: first },
  )
}

/** Null where it went through; else why not. */
async function tryPush(pushing: () => Promise<PushResult>): Promise<string | null> {
  try {
    const result = await pushing()
    if (result.ok) return null
    return 'message' in result ? result.message : 'the branch was made by another process meanwhile'
  } catch (error) {
    if (error instanceof ForgeError) return error.message
    throw error
  }
}

interface PullToOpen {
  branch: string
  base: string
  title: string
  body: string
}

async function openOrFindPull(
  { around }: Call,
  { place, token }: SetupPullInput,
  pull: PullToOpen,
): Promise<{ number: number; opened: boolean }> {
  const { version, web } = around
  findProxy(place.apiUrl, around.env)
  const client = createGithubClient({
    apiUrl: place.apiUrl,
    repository: place.repository,
    token,
    version,
    say: line => around.progress.say(line),
    ...(web === undefined ? {} : { web }),
  })
  const answer = await openPull(client, pull)
  if (answer.ok) return { number: answer.number, opened: true }
  if (answer.code === 'duplicate' && answer.number !== null) return { number: answer.number, opened: false }
  throw new ForgeError(
    `the branch ${pull.branch} is pushed, and its pull request was refused: ${answer.message}`,
    {
      output: answer.message,
    },
  )
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
