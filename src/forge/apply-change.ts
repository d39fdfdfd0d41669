import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import type {
  ForgeAnswer,
  ForgeChange,
  LabelEdit,
  NewComment,
  NewPull,
  NewReview,
  ForgeRefusalCode,
} from './port.ts'
import type { Pull } from './pull.ts'

/** The pull requests at hand: all open ones, and closed ones that a change or a reader asked for. */
export interface PullTable {
  next: number
  pulls: ReadonlyMap<number, Pull>
}

export interface ChangeContext {
  at: string
  author: string
  /** Tips of branches by short name. */
  tips: ReadonlyMap<string, Oid>
  /** The ranges of which the base contains the head already: there is nothing to pull. */
  contained: ReadonlySet<string>
}

export interface AppliedChange {
  table: PullTable
  answer: ForgeAnswer
}

/** One change, values in and values out. A repeat gives back the table it was given. */
export function applyChange(table: PullTable, change: ForgeChange, context: ChangeContext): AppliedChange {
  if (change.kind === 'open') return openLocalPull(table, change, context)
  const pull = table.pulls.get(change.number)
  if (pull === undefined)
    return refuseChange(table, 'unknown-pull', null, `there is no pull request #${change.number}`)
  if (change.kind === 'close' && pull.state === 'merged') {
    return refuseChange(table, 'merged', pull.number, `#${pull.number} is merged: it cannot be closed`)
  }
  const edited = editLocalPull(pull, change, context)
  return { table: withPull(table, edited), answer: { ok: true, number: pull.number } }
}

function openLocalPull(table: PullTable, change: NewPull, context: ChangeContext): AppliedChange {
  const { branch, base } = change
  const twin = [...table.pulls.values()].find(pull => pull.state === 'open' && pull.branch === branch)
  if (twin !== undefined) return resolveRepeatedOpen(table, twin, change, context)
  const head = context.tips.get(branch)
  if (head === undefined) return refuseChange(table, 'no-branch', null, `there is no branch ${branch}`)
  if (!context.tips.has(base))
    return refuseChange(table, 'no-base', null, `there is no branch ${base} to pull into`)
  if (context.contained.has(formatRange(change))) {
    return refuseChange(table, 'nothing-new', null, `${branch} has no commit that ${base} lacks`)
  }
  const number = table.next
  const pull = buildPull(number, change, head, context)
  const pulls = new Map(table.pulls).set(number, pull)
  return { table: { next: number + 1, pulls }, answer: { ok: true, number } }
}

export function formatRange({ base, branch }: Pick<NewPull, 'base' | 'branch'>): string {
  return `${base}..${branch}`
}

function resolveRepeatedOpen(
  table: PullTable,
  twin: Pull,
  change: NewPull,
  { author }: ChangeContext,
): AppliedChange {
  const { number } = twin
  const same = twin.author === author && twin.base === change.base && twin.title === change.title
  if (same && twin.body === change.body) return { table, answer: { ok: true, number } }
  return refuseChange(table, 'duplicate', number, `#${number} is already open for ${change.branch}`)
}

function buildPull(number: number, change: NewPull, head: Oid, { at, author }: ChangeContext): Pull {
  const { branch, base, title, body, draft = false, labels = [] } = change
  return {
    number,
    title,
    body,
    branch,
    head,
    base,
    author,
    state: 'open',
    draft,
    labels: sortLabels(labels),
    comments: [],
    reviews: [],
    merged_commit: null,
    opened_at: at,
    closed_at: null,
  }
}

function editLocalPull(
  pull: Pull,
  change: Exclude<ForgeChange, { kind: 'open' }>,
  context: ChangeContext,
): Pull {
  switch (change.kind) {
    case 'update': {
      const { title = pull.title, body = pull.body, draft = pull.draft } = change
      return { ...pull, title, body, draft }
    }
    case 'comment':
      return addComment(pull, change, context)
    case 'review':
      return addReview(pull, change, context)
    case 'label':
      return { ...pull, labels: editLabels(pull.labels, change) }
    case 'close':
      return closeLocalPull(pull, change.reason, context)
    default:
      return change satisfies never
  }
}

function addComment(pull: Pull, comment: NewComment, { at, author }: ChangeContext): Pull {
  const { body, marker, nonce } = comment
  const id = hashSha256(toCanonicalJson(marker === undefined ? { author, body, nonce } : { author, marker }))
  const there = pull.comments.find(each => each.id === id)
  if (there?.body === body) return pull
  const written = { id, author, at, body }
  const comments = there
    ? pull.comments.map(each => (each === there ? written : each))
    : [...pull.comments, written]
  return { ...pull, comments }
}

function addReview(pull: Pull, review: NewReview, { at, author }: ChangeContext): Pull {
  const { commit, state, body } = review
  const written = { author, at, commit, state, body }
  const last = pull.reviews.findLast(each => each.author === author)
  if (last !== undefined && isSameJson({ ...last, at }, written)) return pull
  return { ...pull, reviews: [...pull.reviews, written] }
}

function editLabels(labels: readonly string[], { add = [], remove = [] }: LabelEdit): string[] {
  return sortLabels([...labels, ...add].filter(label => !remove.includes(label)))
}

function sortLabels(labels: readonly string[]): string[] {
  return [...new Set(labels)].toSorted()
}

function closeLocalPull(pull: Pull, reason: string, context: ChangeContext): Pull {
  if (pull.state !== 'open') return pull
  const explained = reason === '' ? pull : addComment(pull, { body: reason }, context)
  return { ...explained, state: 'closed', closed_at: context.at }
}

function withPull(table: PullTable, pull: Pull): PullTable {
  if (isSameJson(table.pulls.get(pull.number), pull)) return table
  return { ...table, pulls: new Map(table.pulls).set(pull.number, pull) }
}

export function isSameJson(one: unknown, other: unknown): boolean {
  return (
    one === other ||
    (one !== undefined && other !== undefined && toCanonicalJson(one) === toCanonicalJson(other))
  )
}

function refuseChange(
  table: PullTable,
  code: ForgeRefusalCode,
  number: number | null,
  message: string,
): AppliedChange {
  return { table, answer: { ok: false, code, number, message } }
}
