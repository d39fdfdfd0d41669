import { ForgeError } from '../../errors.ts'
import type { ForgeAnswer, ForgeChange, NewComment, NewReview } from '../port.ts'
import { isRefusal } from '../refused.ts'
import type { GithubClient } from './client.ts'
import { computeCommentKey, withKey } from './comment-key.ts'
import { findOwnComment } from './earlier-comments.ts'
import { truncateBody } from './fitting.ts'
import { addLabels } from './open-pull.ts'
import type { KnownPull } from './pull-node.ts'

export type PullEditing = Exclude<ForgeChange, { kind: 'open' }>

/** Everything a batch asks of one pull request: its title, body and state change in one request. */
interface PullEditBatch {
  title?: string
  body?: string
  state?: 'closed'
  draft?: boolean
  labels: Set<string>
  comments: NewComment[]
  reviews: NewReview[]
}

/** Brings a pull request to where the changes want it; what is so already is not written again. */
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

/** A comment that nobody may write there any more keeps no pull request from being closed. */
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
    await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', values)
  } else if (before.body !== body) {
    const values = { ...client.where, comment_id: before.id, body: text }
    await client.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', values)
  }
}

const EVENTS = { approved: 'APPROVE', 'changes-requested': 'REQUEST_CHANGES', commented: 'COMMENT' } as const

async function writeReview(client: GithubClient, { pull }: KnownPull, review: NewReview): Promise<void> {
  const { commit, state, body } = review
  const same = pull.reviews.some(each => each.commit === commit && each.state === state && each.body === body)
  if (same) return
  const values = { ...client.where, pull_number: pull.number, commit_id: commit, body, event: EVENTS[state] }
  await client.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', values)
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
    await ignoreNotFound(
      client.request('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', values),
    )
  }
}

/** Somebody else took it away first. */
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
  await client.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', values)
}
