import { isJson, type Json } from '../contract/describe.ts'
import { shownAccount, shownComment, shownPull, shownReview, shownRun } from './shown.ts'
import { type Happening, startRuns } from './workflows.ts'
import {
  type Account,
  accountOf,
  type CommentRecord,
  defaultBranch,
  type PullRecord,
  type ReviewRecord,
  type RunRecord,
  type World,
} from './world.ts'

export type PullAction = 'opened' | 'synchronize' | 'reopened' | 'closed'

export async function notePush(world: World, branch: string, head: string, by: Account): Promise<void> {
  const ref = `refs/heads/${branch}`
  await startRuns(world, {
    event: 'push',
    files: head,
    commit: head,
    ref,
    branch,
    head,
    filtered: branch,
    by,
    title: (await world.git.shown('%s', head)) || null,
    payload: { ref, after: head, ...(await payloadBy(world, by)) },
  })
}

/** What happened to a pull request: its own branch's workflows hear of it merged, the default branch's as they are. */
export async function notePull(
  world: World,
  pull: PullRecord,
  action: PullAction,
  by: Account,
): Promise<void> {
  const payload = { action, number: pull.number, ...(await payloadOf(world, pull, by)) }
  await startAtMerge(world, pull, { event: 'pull_request', action, by, payload })
  const { title, base, branch, head } = pull
  const listed = { title, filtered: base, branch, head }
  await startAtDefault(world, { event: 'pull_request_target', action, by, payload, ...listed })
}

export async function noteReview(
  world: World,
  pull: PullRecord,
  review: ReviewRecord,
  action: 'submitted' | 'dismissed',
  by: Account,
): Promise<void> {
  const { pull_request: whole, ...rest } = await payloadOf(world, pull, by)
  const { merged: _, ...shown } = isJson(whole) ? whole : {}
  const told = { ...shownReview(review), state: review.state.toLowerCase() }
  const payload = { action, review: told, pull_request: shown, ...rest }
  await startAtMerge(world, pull, { event: 'pull_request_review', action, by, payload })
}

export async function noteComment(
  world: World,
  pull: PullRecord,
  comment: CommentRecord,
  by: Account,
): Promise<void> {
  const { number, title, state } = pull
  const url = `${world.url}/api/v3/repos/${world.owner}/${world.repo}/pulls/${number}`
  const issue = { number, title, state, user: shownAccount(pull.author), pull_request: { url } }
  const rest = await payloadBy(world, by)
  const payload = { action: 'created', issue, comment: shownComment(comment), ...rest }
  await startAtDefault(world, { event: 'issue_comment', action: 'created', by, payload, title })
}

interface Dispatch {
  file: string
  branch: string
  head: string
  payload: Json
  by: Account
}

export async function noteDispatch(
  world: World,
  { file, branch, head, payload, by }: Dispatch,
): Promise<RunRecord[]> {
  const rest = await payloadBy(world, by)
  const place = { files: head, commit: head, ref: `refs/heads/${branch}`, branch, head, file }
  const told = { event: 'workflow_dispatch', by, payload: { ...payload, ...rest } }
  return startRuns(world, { ...told, ...place, filtered: null, title: null })
}

/** The clock reached the time of a schedule. */
export async function noteSchedule(world: World, schedule: string): Promise<RunRecord[]> {
  const by = [...world.accounts.values()].find(
    ({ permission, kind }) => kind === 'person' && permission !== 'read',
  )
  if (!by) throw new Error('a schedule runs as whoever wrote it: give somebody a token')
  return startAtDefault(world, { event: 'schedule', by, payload: { schedule } })
}

/** A run that a GITHUB_TOKEN started tells no workflow of its end. */
export async function noteRunCompleted(world: World, run: RunRecord): Promise<void> {
  const by = accountOf(world, run.actor)
  if (!by || run.job?.byToken === true) return
  const rest = await payloadBy(world, by)
  const workflow = { name: run.name, path: run.path }
  const payload = { action: 'completed', workflow_run: shownRun(world, run), workflow, ...rest }
  const ended = { filtered: run.branch, workflow: run.name }
  await startAtDefault(world, { event: 'workflow_run', action: 'completed', by, payload, ...ended })
}

type Told = Pick<Happening, 'event' | 'by' | 'payload'> &
  Partial<Pick<Happening, 'action' | 'title' | 'filtered' | 'workflow' | 'branch' | 'head'>>

async function startAtDefault(world: World, told: Told): Promise<RunRecord[]> {
  if (told.by.kind === 'actions') return []
  const branch = await defaultBranch(world)
  const commit = world.tips.get(branch)
  if (commit === undefined) return []
  const place = { files: commit, commit, ref: `refs/heads/${branch}`, branch, head: commit }
  return startRuns(world, { title: null, filtered: null, ...place, ...told })
}

async function startAtMerge(world: World, pull: PullRecord, told: Told): Promise<void> {
  const base = world.tips.get(pull.base)
  if (base === undefined || (told.by.kind === 'actions' && told.event !== 'pull_request')) return
  const tree = await world.git.mergedTree(base, pull.head)
  // GitHub starts nothing for a pull request that conflicts.
  if (tree === null || (await world.git.paths(tree, '.github/workflows/')).length === 0) return
  const commit = await world.git.commit(
    tree,
    [base, pull.head],
    `Merge ${pull.head} into ${base}`,
    world.commitDate,
  )
  const ref = `refs/pull/${pull.number}/merge`
  await world.git.moveRef(ref, commit)
  const fromFork = pull.fork !== null
  const isOutsider = fromFork && ['read', 'none'].includes(pull.author.permission)
  await startRuns(world, {
    ...told,
    files: commit,
    commit,
    ref,
    branch: pull.branch,
    head: pull.head,
    filtered: pull.base,
    fromFork,
    title: pull.title,
    needsApproval: isOutsider && told.event === 'pull_request',
  })
}

async function payloadOf(world: World, pull: PullRecord, by: Account): Promise<Json> {
  const repository = await shownRepository(world)
  const fork =
    pull.fork === null ? repository : { ...repository, ...namedRepository(world, pull.fork), fork: true }
  const shown = shownPull(world, pull)
  const [head, base] = [shown['head'], shown['base']].map(each => (isJson(each) ? each : {}))
  const merged = pull.merge !== null
  return {
    pull_request: { ...shown, merged, head: { ...head, repo: fork }, base: { ...base, repo: repository } },
    repository,
    sender: shownAccount(by),
  }
}

async function payloadBy(world: World, by: Account): Promise<Json> {
  return { repository: await shownRepository(world), sender: shownAccount(by) }
}

async function shownRepository(world: World): Promise<Json> {
  const named = namedRepository(world, world.owner)
  return {
    ...named,
    id: 1,
    fork: false,
    private: world.settings.private,
    default_branch: await defaultBranch(world),
  }
}

function namedRepository({ repo, url }: World, owner: string): Json {
  return {
    name: repo,
    full_name: `${owner}/${repo}`,
    owner: { login: owner },
    html_url: `${url}/${owner}/${repo}`,
  }
}
