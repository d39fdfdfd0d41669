import { z } from 'zod'
import { ForgeError, isRefusal } from '../errors.ts'
import { oidSchema } from '../model/ids.ts'
import type { GithubClient } from './client.ts'
import { findOwnComment, truncateBody } from './comments.ts'
import type {
  ForgeAnswer,
  ForgeChange,
  ForgeRefusalCode,
  MergeAnswer,
  NewComment,
  NewPull,
  PullEdit,
  PullMerge,
} from './port.ts'
import { computeMarkerKey, type KnownPull, withKey } from './pull-node.ts'
import { readBranch, readNumbers } from './read-pulls.ts'
import { parseAnswer } from './requests.ts'

// Editing

export type PullEditing = Exclude<ForgeChange, { kind: 'open' }>

/** Writes only the differences between the pull request and the requested changes. */
export async function editPull(
  client: GithubClient,
  known: KnownPull,
  changes: readonly PullEditing[],
): Promise<ForgeAnswer[]> {
  const { number, state } = known.pull
  const refused = await runWrites(listWrites(client, known, changes))
  if (refused !== null) return changes.map(() => toRefusedAnswer(refused, number))
  const message = `#${number} is merged: it cannot be closed`
  return changes.map(({ kind }) =>
    kind === 'close' && state === 'merged'
      ? { ok: false, code: 'merged', number, message }
      : { ok: true, number },
  )
}

export function toRefusedAnswer(error: ForgeError, number: number | null): ForgeAnswer {
  return { ok: false, code: 'refused', number, message: error.message, error }
}

/** Title, body and state go into one request. Of comments with the same marker, the last one is written. */
function listWrites(
  client: GithubClient,
  known: KnownPull,
  changes: readonly PullEditing[],
): (() => Promise<void>)[] {
  const comments = new Map<string, NewComment>()
  let edit: PullEdit = {}
  for (const change of changes) {
    if (change.kind === 'comment') comments.set(change.marker, change)
    if (change.kind === 'update') edit = { ...edit, ...change }
  }
  const isClosing = changes.some(({ kind }) => kind === 'close')
  return [
    ...[...comments.values()].map(comment => () => writeComment(client, known, comment)),
    ...(edit.draft === false && known.pull.draft ? [() => markReady(client, known)] : []),
    () => writeFields(client, known, edit, isClosing),
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

async function writeComment(client: GithubClient, known: KnownPull, comment: NewComment): Promise<void> {
  const key = computeMarkerKey(comment.marker)
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

async function markReady(client: GithubClient, { nodeId }: KnownPull): Promise<void> {
  const document =
    'mutation ($id: ID!) { markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }'
  await client.graphql(document, { id: nodeId })
}

async function writeFields(
  client: GithubClient,
  { pull }: KnownPull,
  { title = pull.title, body }: PullEdit,
  isClosing: boolean,
): Promise<void> {
  const text = body === undefined ? pull.body : truncateBody(body)
  const changed = {
    ...(title === pull.title ? {} : { title }),
    ...(text === pull.body ? {} : { body: text }),
    ...(isClosing && pull.state === 'open' ? { state: 'closed' as const } : {}),
  }
  if (Object.keys(changed).length === 0) return
  await client.rest.pulls.update({ ...client.where, pull_number: pull.number, ...changed })
}

// Opening

/** Opens a pull request, or returns the open one with the same branch, title and body (invariant 7). */
export async function openPull(client: GithubClient, wanted: NewPull): Promise<ForgeAnswer> {
  try {
    return { ok: true, number: await createPull(client, wanted) }
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
  if (mine && pull.title === title && pull.body === truncateBody(body))
    return { ok: true, number: pull.number }
  return refuseOpen('duplicate', `#${pull.number} is already open for ${branch}`, pull.number)
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
