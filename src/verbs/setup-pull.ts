import { ForgeError, UserError } from '../errors.ts'
import { withGitAccess } from '../engine/git-access.ts'
import { githubClient } from '../forge/github/client.ts'
import { openPull } from '../forge/github/open-pull.ts'
import { MOST_SETUP_BRANCHES, SETUP_BRANCH } from '../git/allowed-ref.ts'
import type { RefUpdate } from '../git/push.ts'
import type { PushResult } from '../git/push-result.ts'
import { proxyFor } from '../git/proxy.ts'
import type { Repository } from '../git/repository.ts'
import { atRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import type { GithubPlace } from './github-of.ts'
import type { OpenedPull, Plan } from './github-plan.ts'
import { type Ground, nameOfDefault } from './github-sources.ts'
import { shortAction, titleOf, untilMerged } from './github-texts.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'

interface Wanted {
  place: GithubPlace
  token: string
  plan: Plan
}

/** Pushes one new branch with one commit on the default branch, and opens its pull request. The work tree stays as it is. */
export async function openSetupPull(call: Call, ground: Ground, wanted: Wanted): Promise<OpenedPull> {
  const { place, plan } = wanted
  const { repository } = ground.workshop
  const title = titleOf(plan)
  const changes = []
  for (const { path, text } of plan.files) {
    changes.push({ path, entry: { mode: '100644' as const, oid: await repository.writeBlob(text) } })
  }
  const tree = await repository.replaceAt(ground.base.tree, changes)
  const { branch, pushed } = await freeBranch(repository, tree)
  if (!pushed) {
    const date = Math.floor(call.around.clock.now() / 1000)
    const commit = await repository.writeCommit({
      tree,
      parents: [ground.base.commit],
      message: `${title}\n`,
      date,
    })
    await push(call, ground, wanted, { ref: `refs/heads/${branch}`, from: null, to: commit })
  }
  const { number, opened } = await open(call, wanted, {
    branch,
    base: nameOfDefault(ground),
    title,
    body: bodyOf(plan),
  })
  const url = `${place.webUrl}/${place.repository}/pull/${number}`
  return { url, branch, files: plan.files.map(({ path }) => path), opened }
}

/** The first name that is free, or whose branch has exactly these files. */
async function freeBranch(
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
async function push(
  call: Call,
  { workshop }: Ground,
  { place, token }: Wanted,
  update: RefUpdate,
): Promise<void> {
  const first = await attempt(() => workshop.repository.push([update]))
  if (first === null) return
  const remote = workshop.checkout.remotes.find(({ name }) => name === workshop.remote)
  if (remote !== undefined && /^https?:/.test(remote.url)) {
    const workflowsEnv = withGitAccess(call.around.env, { serverUrl: place.webUrl, token })
    const again = { ...call, around: { ...call.around, workflowsEnv } }
    const second = await atRepository(again, DEFAULT_PREFIX, ({ repository }) =>
      attempt(() => repository.push([update], { bringsWorkflows: true })),
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
async function attempt(pushing: () => Promise<PushResult>): Promise<string | null> {
  try {
    const result = await pushing()
    if (result.ok) return null
    return 'message' in result ? result.message : 'the branch was made by another process meanwhile'
  } catch (error) {
    if (error instanceof ForgeError) return error.message
    throw error
  }
}

interface Pull {
  branch: string
  base: string
  title: string
  body: string
}

async function open(
  { around }: Call,
  { place, token }: Wanted,
  pull: Pull,
): Promise<{ number: number; opened: boolean }> {
  const { version, web } = around
  proxyFor(place.apiUrl, around.env)
  const client = githubClient({
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

function bodyOf(plan: Plan): string {
  const { files, specs, action } = plan
  return [
    `This workflow runs ${specs.length === 1 ? 'the campaign' : 'the campaigns'} ${specs.map(({ path }) => `\`${path}\``).join(', ')} in GitHub Actions with ${shortAction(action)}.`,
    '',
    ...files.map(({ path }) => `- \`${path}\``),
    '',
    `${untilMerged(plan)} \`winnow doctor\` says what is missing in the settings of the repository.`,
  ].join('\n')
}
