import { z } from 'zod'
import { ForgeError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeChange } from '../git/tree.ts'
import { buildNumberedPath } from '../ledger/event-file.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import type {
  ForgeAnswer,
  ForgeChange,
  ForgeRefusalCode,
  LabelEdit,
  NewComment,
  NewPull,
  NewReview,
} from './port.ts'
import { type Pull, pull } from './pull.ts'

// Stored files

/**
 * Stores local pull requests on an orphan branch: one file per pull request, and an index with the numbers of
 * the open ones.
 */
const INDEX = 'open.json'
const index = z.strictObject({
  next: z.number().int().positive(),
  open: z.array(z.number().int().positive()),
})

/** Reads the open pull requests at a commit. Closed ones cost no read. */
export async function readOpenPulls(repo: Repository, commit: Oid | null): Promise<PullTable> {
  if (commit === null) return { next: 1, pulls: new Map() }
  const { tree } = await repo.commit(commit)
  const { next, open } = await readStoredFile(repo, tree, INDEX, index)
  const pulls = await Promise.all(open.map(number => readStoredPull(repo, tree, number)))
  return { next, pulls: new Map(pulls.map(each => [each.number, each])) }
}

export async function addRequestedPulls(
  repo: Repository,
  commit: Oid | null,
  table: PullTable,
  requested: { numbers: readonly number[]; branches: readonly string[] },
): Promise<PullTable> {
  if (commit === null) return table
  const { tree } = await repo.commit(commit)
  const named = await readLastNumbers(repo, tree, table, requested.branches)
  const absent = new Set(
    [...requested.numbers, ...named].filter(number => !table.pulls.has(number) && isGiven(number, table)),
  )
  if (absent.size === 0) return table
  const found = await Promise.all([...absent].map(number => readStoredPull(repo, tree, number)))
  return { ...table, pulls: new Map([...table.pulls, ...found.map(each => [each.number, each] as const)]) }
}

async function readLastNumbers(
  repo: Repository,
  tree: Oid,
  table: PullTable,
  branches: readonly string[],
): Promise<number[]> {
  const open = new Set([...table.pulls.values()].map(({ branch }) => branch))
  const numbers: number[] = []
  for (const branch of branches) {
    if (open.has(branch)) continue
    const number = (await readHeads(repo, tree, branch)).get(branch)
    if (number !== undefined) numbers.push(number)
  }
  return numbers
}

/** Shards branches by the first byte of the hash of their name, so that a lookup reads one small file. */
const heads = z.record(z.string(), z.number().int().positive())

function getHeadsPath(branch: string): string {
  return `heads/${hashSha256(branch).slice(0, 2)}.json`
}

async function readHeads(repo: Repository, tree: Oid, branch: string): Promise<Map<string, number>> {
  const path = getHeadsPath(branch)
  if ((await repo.findEntry(tree, path)) === null) return new Map()
  return new Map(Object.entries(await readStoredFile(repo, tree, path, heads)))
}

async function buildHeadChanges(repo: Repository, tree: Oid, opened: readonly Pull[]): Promise<TreeChange[]> {
  const files = new Map<string, Map<string, number>>()
  for (const { branch, number } of opened) {
    const path = getHeadsPath(branch)
    const file = files.get(path) ?? (await readHeads(repo, tree, branch))
    if ((file.get(branch) ?? 0) < number) files.set(path, file.set(branch, number))
  }
  return Promise.all([...files].map(([path, file]) => buildFileChange(repo, path, Object.fromEntries(file))))
}

function isGiven(number: number, { next }: PullTable): boolean {
  return Number.isSafeInteger(number) && number >= 1 && number < next
}

async function readStoredPull(repo: Repository, tree: Oid, number: number): Promise<Pull> {
  const { path } = buildNumberedPath('pulls', number)
  const found = await readStoredFile(repo, tree, path, pull)
  if (found.number !== number) throw new ForgeError(`${path} says it is pull request #${found.number}`)
  return found
}

async function readStoredFile<T>(
  repo: Repository,
  tree: Oid,
  path: string,
  schema: z.ZodType<T>,
): Promise<T> {
  const entry = await repo.findEntry(tree, path)
  if (entry?.type !== 'blob') throw new ForgeError(`${path} is missing among the local pull requests`)
  const text = (await repo.blob(entry.oid)).toString('utf8')
  const parsed = schema.safeParse(parseStoredJson(text, path))
  if (parsed.success) return parsed.data
  throw new ForgeError(`${path} is not what winnow wrote: ${z.prettifyError(parsed.error)}`)
}

function parseStoredJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ForgeError(`${path} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Ignores pull requests that differ only in their head, because the branch itself already stores that. */
export function listChangedPulls(before: PullTable, after: PullTable): Pull[] {
  return [...after.pulls.values()].filter(each => {
    const old = before.pulls.get(each.number)
    return old === undefined || !isSameJson({ ...old, head: each.head }, each)
  })
}

/** Creates one commit with all changes, without a git process. Does not push it. */
export async function writePulls(
  repo: Repository,
  parent: Oid | null,
  table: PullTable,
  write: { changed: readonly Pull[]; at: string; message: string },
): Promise<Oid> {
  const numbers = [...table.pulls.values()].filter(each => each.state === 'open').map(each => each.number)
  const open = numbers.toSorted((a, b) => a - b)
  const changes = [await buildFileChange(repo, INDEX, { next: table.next, open })]
  for (const each of write.changed) {
    changes.push(await buildFileChange(repo, buildNumberedPath('pulls', each.number).path, each))
  }
  const base = parent === null ? repo.emptyTree : (await repo.commit(parent)).tree
  changes.push(...(await buildHeadChanges(repo, base, write.changed)))
  const tree = await repo.replaceEntries(base, changes)
  const date = Math.floor(Date.parse(write.at) / 1000)
  return repo.writeCommit({ tree, parents: parent === null ? [] : [parent], message: write.message, date })
}

async function buildFileChange(repo: Repository, path: string, value: unknown): Promise<TreeChange> {
  return { path, entry: { mode: '100644', oid: await repo.writeBlob(`${toCanonicalJson(value)}\n`) } }
}

// Changes

/** All open pull requests, and the closed ones that a change or a query needs. */
export interface PullTable {
  next: number
  pulls: ReadonlyMap<number, Pull>
}

export interface ChangeContext {
  at: string
  author: string
  /** By short name. */
  tips: ReadonlyMap<string, Oid>
  /** Ranges whose head the base already contains. */
  contained: ReadonlySet<string>
}

interface AppliedChange {
  table: PullTable
  answer: ForgeAnswer
}

/** Applies one change and returns a new table. A repeated change returns the same table. */
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
  const existing = [...table.pulls.values()].find(pull => pull.state === 'open' && pull.branch === branch)
  if (existing !== undefined) return resolveRepeatedOpen(table, existing, change, context)
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
  existing: Pull,
  change: NewPull,
  { author }: ChangeContext,
): AppliedChange {
  const { number } = existing
  const same = existing.author === author && existing.base === change.base && existing.title === change.title
  if (same && existing.body === change.body) return { table, answer: { ok: true, number } }
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

function isSameJson(one: unknown, other: unknown): boolean {
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
