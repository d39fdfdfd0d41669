import { z } from 'zod'
import { ForgeError } from '../errors.ts'
import { oidSchema } from '../model/ids.ts'
import type { GithubClient } from './client.ts'
import { findOwnComment, truncateBody } from './comments.ts'
import { isRefusal } from './errors.ts'
import type {
  ForgeAnswer,
  ForgeChange,
  ForgeRefusalCode,
  MergeAnswer,
  NewComment,
  NewPull,
  NewReview,
  PullMerge,
} from './port.ts'
import { computeCommentKey, type KnownPull, withKey } from './pull-node.ts'
import { readBranch, readNumbers } from './read-pulls.ts'
import { parseAnswer } from './requests.ts'

// Editing

export type PullEditing = Exclude<ForgeChange, { kind: 'open' }>

/** All changes that a batch makes to one pull request: title, body and state go into one request. */
interface PullEditBatch {
  title?: string
  body?: string
  state?: 'closed'
  draft?: boolean
  labels: Set<string>
  comments: NewComment[]
  reviews: NewReview[]
}

/** Writes only the differences between the pull request and the requested changes. */
export async function editPull(
  client: GithubClient,
  known: KnownPull,
  changes: readonly PullEditing[],
): Promise<ForgeAnswer[]> {
  const { pull } = known
  const possible = changes.filter(change => change.kind !== 'close' || pull.state === 'open')
  const edit = possible.reduce(mergeEdit, { labels: new Set(pull.labels), comments: [], reviews: [] })
  const refused = await runWrites(listWrites(client, known, edit))
  if (refused !== null) return changes.map(() => toRefusedAnswer(refused, pull.number))
  return changes.map(change => toEditAnswer(change, known))
}

export function toRefusedAnswer(error: ForgeError, number: number | null): ForgeAnswer {
  return { ok: false, code: 'refused', number, message: error.message, error }
}

function listWrites(client: GithubClient, known: KnownPull, edit: PullEditBatch): (() => Promise<void>)[] {
  const comments = new Map(edit.comments.map(comment => [computeCommentKey(comment), comment]))
  const { draft } = edit
  return [
    ...[...comments].map(
      ([key, comment]) =>
        () =>
          writeComment(client, known, key, comment),
    ),
    ...edit.reviews.map(review => () => writeReview(client, known, review)),
    () => writeLabels(client, known, edit.labels),
    ...(draft === undefined || draft === known.pull.draft ? [] : [() => writeDraft(client, known, draft)]),
    () => writeRest(client, known, edit),
  ]
}

/** A rejected comment does not stop winnow from closing the pull request. */
async function runWrites(writes: readonly (() => Promise<void>)[]): Promise<ForgeError | null> {
  let refused: ForgeError | null = null
  for (const write of writes) {
    try {
      await write()
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused ??= error
    }
  }
  return refused
}

function toEditAnswer({ kind }: PullEditing, { pull: { number, state } }: KnownPull): ForgeAnswer {
  if (kind !== 'close' || state !== 'merged') return { ok: true, number }
  return { ok: false, code: 'merged', number, message: `#${number} is merged: it cannot be closed` }
}

function mergeEdit(edit: PullEditBatch, change: PullEditing): PullEditBatch {
  switch (change.kind) {
    case 'update': {
      const { title, body, draft } = change
      return {
        ...edit,
        ...(title === undefined ? {} : { title }),
        ...(body === undefined ? {} : { body: truncateBody(body) }),
        ...(draft === undefined ? {} : { draft }),
      }
    }
    case 'comment':
      return { ...edit, comments: [...edit.comments, change] }
    case 'review':
      return { ...edit, reviews: [...edit.reviews, change] }
    case 'label': {
      const { add = [], remove = [] } = change
      const labels = [...edit.labels, ...add].filter(label => !remove.includes(label))
      return { ...edit, labels: new Set(labels) }
    }
    case 'close': {
      const { reason } = change
      const comments = reason === '' ? edit.comments : [...edit.comments, { body: reason }]
      return { ...edit, state: 'closed', comments }
    }
    default:
      return change satisfies never
  }
}

async function writeComment(
  client: GithubClient,
  known: KnownPull,
  key: string,
  comment: NewComment,
): Promise<void> {
  const body = truncateBody(comment.body)
  const text = withKey(body, key)
  const before = await findOwnComment(client, known, { key, after: comment.after })
  if (before === null) {
    const values = { ...client.where, issue_number: known.pull.number, body: text }
    await client.rest.issues.createComment(values)
  } else if (before.body !== body) {
    const values = { ...client.where, comment_id: before.id, body: text }
    await client.rest.issues.updateComment(values)
  }
}

const REVIEW_EVENTS = {
  approved: 'APPROVE',
  'changes-requested': 'REQUEST_CHANGES',
  commented: 'COMMENT',
} as const

async function writeReview(client: GithubClient, { pull }: KnownPull, review: NewReview): Promise<void> {
  const { commit, state, body } = review
  const same = pull.reviews.some(each => each.commit === commit && each.state === state && each.body === body)
  if (same) return
  const values = {
    ...client.where,
    pull_number: pull.number,
    commit_id: commit,
    body,
    event: REVIEW_EVENTS[state],
  }
  await client.rest.pulls.createReview(values)
}

async function writeLabels(
  client: GithubClient,
  { pull }: KnownPull,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const missing = [...wanted].filter(label => !pull.labels.includes(label))
  if (missing.length > 0) await addLabels(client, pull.number, missing)
  for (const name of pull.labels) {
    if (wanted.has(name)) continue
    const values = { ...client.where, issue_number: pull.number, name }
    await ignoreNotFound(client.rest.issues.removeLabel(values))
  }
}

/** Another process or person may have deleted it first. */
async function ignoreNotFound(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof ForgeError) || error.detail.status !== 404) throw error
  }
}

async function writeDraft(client: GithubClient, { nodeId }: KnownPull, draft: boolean): Promise<void> {
  const change = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
  const document = `mutation ($id: ID!) { ${change}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
  await client.graphql(document, { id: nodeId })
}

async function writeRest(client: GithubClient, { pull }: KnownPull, edit: PullEditBatch): Promise<void> {
  const changed = {
    ...(edit.title === undefined || edit.title === pull.title ? {} : { title: edit.title }),
    ...(edit.body === undefined || edit.body === pull.body ? {} : { body: edit.body }),
    ...(edit.state === undefined || pull.state !== 'open' ? {} : { state: edit.state }),
  }
  if (Object.keys(changed).length === 0) return
  const values = { ...client.where, pull_number: pull.number, ...changed }
  await client.rest.pulls.update(values)
}

// Opening

/** Opens a pull request, or returns the open one with the same branch, title and body (invariant 7). */
export async function openPull(client: GithubClient, wanted: NewPull): Promise<ForgeAnswer> {
  try {
    const number = await createPull(client, wanted)
    if (wanted.labels?.length) await addLabels(client, number, wanted.labels)
    return { ok: true, number }
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 422)
      return resolveOpenError(client, wanted, error)
    throw error
  }
}

async function createPull(client: GithubClient, wanted: NewPull): Promise<number> {
  const { branch, base, title, body, draft = false } = wanted
  const values = { ...client.where, head: branch, base, title, body: truncateBody(body) }
  try {
    return (await client.rest.pulls.create({ ...values, draft })).data.number
  } catch (error) {
    if (draft && hasErrorText(error, /Draft pull requests are not supported/)) {
      return createPull(client, { ...wanted, draft: false })
    }
    throw error
  }
}

async function addLabels(client: GithubClient, number: number, labels: readonly string[]): Promise<void> {
  const values = { ...client.where, issue_number: number, labels: [...labels] }
  await client.rest.issues.addLabels(values)
}

async function resolveOpenError(
  client: GithubClient,
  wanted: NewPull,
  error: ForgeError,
): Promise<ForgeAnswer> {
  const { branch, base } = wanted
  if (hasErrorText(error, /pull request already exists/)) return findOpenPull(client, wanted)
  if (hasErrorText(error, /No commits between/))
    return refuseOpen('nothing-new', `${branch} has no commit that ${base} lacks`)
  if (hasErrorText(error, /"field":"head"/)) return refuseOpen('no-branch', `there is no branch ${branch}`)
  if (hasErrorText(error, /"field":"base"/))
    return refuseOpen('no-base', `there is no branch ${base} to pull into`)
  throw error
}

async function findOpenPull(client: GithubClient, wanted: NewPull): Promise<ForgeAnswer> {
  const { branch, title, body } = wanted
  const existing = await readBranch(client, wanted)
  if (existing?.pull.state !== 'open')
    return refuseOpen('duplicate', `a pull request is already open for ${branch}`)
  const { pull, mine } = existing
  const same = mine && pull.title === title && pull.body === truncateBody(body)
  if (!same) return refuseOpen('duplicate', `#${pull.number} is already open for ${branch}`, pull.number)
  const missing = (wanted.labels ?? []).filter(label => !pull.labels.includes(label))
  if (missing.length > 0) await addLabels(client, pull.number, missing)
  return { ok: true, number: pull.number }
}

function refuseOpen(code: ForgeRefusalCode, message: string, number: number | null = null): ForgeAnswer {
  return { ok: false, code, number, message }
}

function hasErrorText(error: unknown, words: RegExp): boolean {
  return error instanceof ForgeError && words.test(error.detail.output ?? '')
}

// Merging

/** The ledger records this commit, so its id is checked. */
const merged = z.object({ sha: oidSchema, merged: z.boolean(), message: z.string() })

/** Returns the existing merge commit if GitHub made it already (invariant 7). */
export async function mergePull(
  client: GithubClient,
  number: number,
  { head, title, message }: PullMerge,
): Promise<MergeAnswer> {
  const pull = (await readNumbers(client, [number])).get(number)?.pull
  if (pull?.merged_commit != null) return { ok: true, commit: pull.merged_commit }
  if (pull?.state !== 'open') return { ok: false, why: 'moved', message: `#${number} is not open` }
  if (pull.head !== head) return { ok: false, why: 'moved', message: `#${number} has another head` }
  const words = { merge_method: 'merge', sha: head, commit_title: title, commit_message: message } as const
  const values = { ...client.where, pull_number: number, ...words }
  try {
    const { data } = await client.rest.pulls.merge(values)
    const answer = parseAnswer(merged, data, `the merge of #${number}`)
    return answer.merged ? { ok: true, commit: answer.sha } : toMergeRefusal(answer.message)
  } catch (error) {
    if (!(error instanceof ForgeError) || !MERGE_REFUSALS.has(error.detail.status ?? 0)) throw error
    const message = error.detail.output ?? error.message
    return error.detail.status === 409 || BASE_MOVED.test(message)
      ? { ok: false, why: 'moved', message }
      : toMergeRefusal(message)
  }
}

/** GitHub refuses the merge with these statuses. Any other error is a failed request. */
const MERGE_REFUSALS: ReadonlySet<number> = new Set([405, 409, 422])
const BASE_MOVED = /Base branch was modified/i

function toMergeRefusal(message: string): MergeAnswer {
  return { ok: false, why: 'refused', message: withFix(message.split(' - https://')[0] ?? message) }
}

const EXCLUDE_FIX = 'or exclude the branch from that rule'
const FIXES: readonly [reason: RegExp, fix: string][] = [
  [/merge commits are not allowed/i, 'Turn on "Allow merge commits" under Settings > General'],
  [/still a draft/i, 'Mark it as ready for review'],
  [/merge queue/i, 'Exclude the branch from that rule: a merge queue makes commits of its own'],
  [
    /linear history|must not contain merge commits/i,
    'Exclude the branch from that rule: winnow lands merges',
  ],
  [/review/i, `Approve it, ${EXCLUDE_FIX}`],
  [/status check|checks/i, `Let the check pass on its head, ${EXCLUDE_FIX}`],
  [/deployment/i, 'Exclude the branch from that rule'],
  [/sign/i, 'Exclude the branch from that rule: the commits of experiments are not signed'],
  [/rule violation|protected/i, 'Let GitHub Actions, or the App whose token this is, bypass that rule'],
  [/not mergeable|conflict/i, 'GitHub finds a conflict, or has not looked yet'],
]

function withFix(message: string): string {
  const said = message.trim().replace(/\.?$/, '.')
  const fix = FIXES.find(([reason]) => reason.test(message))?.[1]
  return fix === undefined ? said : `${said} ${fix}.`
}
