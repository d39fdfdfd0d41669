import { z } from 'zod'
import { ForgeError } from '../errors.ts'
import type { TreeChange } from '../git/edit-tree.ts'
import type { Repository } from '../git/repository.ts'
import { buildNumberedPath } from '../ledger/layout.ts'
import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import { type PullTable, isSameJson } from './apply-change.ts'
import { type Pull, pull } from './pull.ts'

/** Local pull requests as files of an orphan branch: one a pull request, and the numbers of the open ones. */
const INDEX = 'open.json'
const index = z.strictObject({
  next: z.number().int().positive(),
  open: z.array(z.number().int().positive()),
})

/** The open pull requests at a commit; those that ended cost nothing. */
export async function readOpenPulls(repo: Repository, commit: Oid | null): Promise<PullTable> {
  if (commit === null) return { next: 1, pulls: new Map() }
  const { tree } = await repo.commit(commit)
  const { next, open } = await readStoredFile(repo, tree, INDEX, index)
  const pulls = await Promise.all(open.map(number => readStoredPull(repo, tree, number)))
  return { next, pulls: new Map(pulls.map(each => [each.number, each])) }
}

/** The table with the asked-for pull requests in it, whatever became of them. */
export async function addRequestedPulls(
  repo: Repository,
  commit: Oid | null,
  table: PullTable,
  asked: { numbers: readonly number[]; branches: readonly string[] },
): Promise<PullTable> {
  if (commit === null) return table
  const { tree } = await repo.commit(commit)
  const named = await readLastNumbers(repo, tree, table, asked.branches)
  const absent = new Set(
    [...asked.numbers, ...named].filter(number => !table.pulls.has(number) && isGiven(number, table)),
  )
  if (absent.size === 0) return table
  const found = await Promise.all([...absent].map(number => readStoredPull(repo, tree, number)))
  return { ...table, pulls: new Map([...table.pulls, ...found.map(each => [each.number, each] as const)]) }
}

/** The last pull request of branches that have no open one. */
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

/** Branches by the first byte of their name's hash: a look-up reads one small file, whatever has ended. */
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

/** Which pull requests differ in more than where their branch stands: that alone is no reason to write. */
export function listChangedPulls(before: PullTable, after: PullTable): Pull[] {
  return [...after.pulls.values()].filter(each => {
    const old = before.pulls.get(each.number)
    return old === undefined || !isSameJson({ ...old, head: each.head }, each)
  })
}

/** One commit for everything that changed, made without a git process; it is not pushed here. */
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
