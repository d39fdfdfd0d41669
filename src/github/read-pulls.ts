import { z } from 'zod'
import type { GithubClient } from './client.ts'
import type { PullQuery } from './port.ts'
import {
  COMMENT_FIELDS,
  type CommentNode,
  commentNode,
  type KnownPull,
  PULL_FRAGMENT,
  pullNode,
  toKnownPull,
} from './pull-node.ts'
import { parseAnswer } from './requests.ts'

const PAGE_SIZE = 50
const MAX_PAGES = 100
/** Limit of one read. The oldest come first, so closing those makes room for the others. */
export const MOST_OPEN_PULLS = PAGE_SIZE * MAX_PAGES
const SINGLES_PER_QUERY = 40

const connection = z.object({ nodes: z.array(pullNode) })

const single = z.union([
  z.null(),
  pullNode,
  z
    .object({ associatedPullRequests: connection })
    .transform(found => findLastOwn(found.associatedPullRequests)),
  connection.transform(findLastOwn),
])
const singles = z.object({ repository: z.record(z.string(), single) })
const page = z.object({
  repository: z
    .object({
      open: connection.extend({
        pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
      }),
      recent: connection.default({ nodes: [] }),
    })
    .catchall(single),
  // A deleted comment is null or a node of another type.
  own: z.array(z.union([commentNode, z.unknown().transform(() => null)])).default([]),
})

// Reading

interface QueryPart {
  variables: string[]
  /** Fields of the repository. */
  fields: string[]
  /** Fields next to the repository. */
  topLevelFields?: string[]
  values: Record<string, unknown>
}

/** Reads the open pull requests into a base, and the queried ones in any state. Usually takes one request. */
export async function readOpen(
  client: GithubClient,
  base: string,
  wanted: PullQuery,
): Promise<{ known: KnownPull[]; named: CommentNode[] }> {
  const [first = EMPTY_PART, ...rest] = buildSingleFields(wanted, base)
  const found = new Map<number, KnownPull>()
  const named: CommentNode[] = []
  let cutAfter: number | null = null
  let parts = [buildOpenField(base, null), buildRecentField(base, wanted), first, buildOwnFields(wanted)]
  for (let pages = 1; ; pages++) {
    const { repository, own } = parseAnswer(page, await askForPulls(client, parts), 'pull requests')
    const { open, recent, ...others } = repository
    named.push(...own.filter(node => node !== null))
    for (const node of [...open.nodes, ...recent.nodes, ...dropMissing(others)])
      found.set(node.number, toKnownPull(node))
    if (!open.pageInfo.hasNextPage) break
    if (pages === MAX_PAGES) {
      cutAfter = open.nodes.at(-1)?.number ?? null
      break
    }
    parts = [buildOpenField(base, open.pageInfo.endCursor)]
  }
  for (const each of await askSingles(client, rest)) found.set(each.pull.number, each)
  const last = cutAfter === null ? undefined : found.get(cutAfter)
  if (last !== undefined) last.pull.newerUnread = MOST_OPEN_PULLS
  return { known: [...found.values()].toSorted((a, b) => a.pull.number - b.pull.number), named }
}

export async function readNumbers(
  client: GithubClient,
  numbers: readonly number[],
): Promise<Map<number, KnownPull>> {
  const found = await askSingles(client, buildSingleFields({ numbers }, ''))
  return new Map(found.map(each => [each.pull.number, each]))
}

export async function readBranch(
  client: GithubClient,
  { branch, base }: { branch: string; base: string },
): Promise<KnownPull | null> {
  const [found] = await askSingles(client, buildSingleFields({ branches: [branch] }, base))
  return found ?? null
}

async function askSingles(client: GithubClient, chunks: readonly QueryPart[]): Promise<KnownPull[]> {
  const found: KnownPull[] = []
  for (const chunk of chunks) {
    const { repository } = parseAnswer(singles, await askForPulls(client, [chunk]), 'pull requests')
    found.push(...dropMissing(repository).map(toKnownPull))
  }
  return found
}

function dropMissing<T>(fields: Record<string, T | null>): T[] {
  return Object.values(fields).filter(field => field !== null)
}

function findLastOwn({ nodes }: z.infer<typeof connection>): z.infer<typeof pullNode> | null {
  return nodes.findLast(({ isCrossRepository }) => !isCrossRepository) ?? null
}

function askForPulls(client: GithubClient, parts: readonly QueryPart[]): Promise<unknown> {
  const declared = ['$owner: String!', '$repo: String!', ...parts.flatMap(({ variables }) => variables)]
  const fields = parts.flatMap(part => part.fields)
  const topLevelFields = parts.flatMap(part => part.topLevelFields ?? [])
  const query = `query (${declared.join(', ')}) {
    repository(owner: $owner, name: $repo) { ${fields.join('\n')} }
    ${topLevelFields.join('\n')}
  } ${PULL_FRAGMENT}`
  return client.graphql(query, Object.assign({}, client.where, ...parts.map(({ values }) => values)))
}

// Building queries

const EMPTY_PART: QueryPart = { variables: [], fields: [], values: {} }

function buildOpenField(base: string, after: string | null): QueryPart {
  return {
    variables: ['$base: String!', '$after: String'],
    fields: [
      `open: pullRequests(baseRefName: $base, states: [OPEN], first: ${PAGE_SIZE}, after: $after, ${OLDEST_FIRST}) {
        nodes { ...Pull } pageInfo { hasNextPage endCursor } }`,
    ],
    values: { base, after },
  }
}

/** A comment counts as an update, so the recently updated pull requests include all with new comments. */
function buildRecentField(base: string, { recent = 0 }: PullQuery): QueryPart {
  if (recent === 0) return EMPTY_PART
  const args = 'baseRefName: $recentInto, states: [CLOSED, MERGED], first: $recent'
  return {
    variables: ['$recentInto: String!', '$recent: Int!'],
    fields: [
      `recent: pullRequests(${args}, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { ...Pull } }`,
    ],
    values: { recentInto: base, recent },
  }
}

const MAX_IDS = 100

/** Reads our own comments, which newer comments may have displaced, in the same query. */
function buildOwnFields({ read = new Map() }: PullQuery): QueryPart {
  const own = [...read.values()].flatMap(each => each.own).slice(-MAX_IDS)
  if (own.length === 0) return EMPTY_PART
  const topLevelFields = [`own: nodes(ids: $own) { ... on IssueComment { ${COMMENT_FIELDS} } }`]
  return { variables: ['$own: [ID!]!'], fields: [], topLevelFields, values: { own } }
}

function buildSingleFields(
  { numbers = [], branches = [], elsewhere = [] }: PullQuery,
  base: string,
): QueryPart[] {
  const all = [
    ...[...new Set(numbers)].filter(isNumber).map((number, index) => ({
      variable: `$p${index}: Int!`,
      field: `p${index}: pullRequest(number: $p${index}) { ...Pull }`,
      value: { [`p${index}`]: number },
    })),
    ...[...new Set(branches)].map((branch, index) => buildBranchField(branch, base, index)),
    ...elsewhere.map(buildElsewhereField),
  ]
  const chunks: QueryPart[] = []
  for (let from = 0; from < all.length; from += SINGLES_PER_QUERY) {
    const chunk = all.slice(from, from + SINGLES_PER_QUERY)
    chunks.push({
      variables: chunk.map(({ variable }) => variable),
      fields: chunk.map(({ field }) => field),
      values: Object.assign({}, ...chunk.map(({ value }) => value)),
    })
  }
  return chunks
}

const OLDEST_FIRST = 'orderBy: { field: CREATED_AT, direction: ASC }'

/** A person may open a pull request from an experiment's branch into another base. That one is not ours. */
function buildBranchField(branch: string, base: string, index: number) {
  const last = `associatedPullRequests(baseRefName: $i${index}, last: 3, ${OLDEST_FIRST})`
  return {
    variable: `$b${index}: String!, $i${index}: String!`,
    field: `b${index}: ref(qualifiedName: $b${index}) { ${last} { nodes { ...Pull } } }`,
    value: { [`b${index}`]: `refs/heads/${branch}`, [`i${index}`]: base },
  }
}

/** Searches by branch name, which also finds the pull request of a deleted branch. */
function buildElsewhereField({ branch, base }: NonNullable<PullQuery['elsewhere']>[number], index: number) {
  const [head, into] = [`e${index}Head`, `e${index}Into`]
  const args = `headRefName: $${head}, baseRefName: $${into}, last: 3, ${OLDEST_FIRST}`
  return {
    variable: `$${head}: String!, $${into}: String!`,
    field: `e${index}: pullRequests(${args}) { nodes { ...Pull } }`,
    value: { [head]: branch, [into]: base },
  }
}

/** The range of a GraphQL Int. */
function isNumber(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number < 2 ** 31
}

// Caching

interface PullCacheEntry {
  moment: string
  wanted: PullQuery
  whole: KnownPull[]
}

/** Caches pull requests as long as no ref that winnow reads has moved. */
export class PullCache {
  #entry: PullCacheEntry | null = null
  #pulls = new Map<number, KnownPull>()

  /** Returns the pull requests if an earlier read of the same moment holds all that the query needs. */
  find(moment: string | undefined, wanted: PullQuery): KnownPull[] | null {
    const entry = this.#entry
    if (entry === null || entry.moment !== moment) return null
    return hasAll(entry, wanted) ? entry.whole : null
  }

  keep(
    entry: { moment: string | undefined; wanted: PullQuery; whole: KnownPull[] },
    read: readonly KnownPull[],
  ) {
    const { moment } = entry
    this.#entry = moment === undefined ? null : { ...entry, moment }
    this.#pulls = new Map(moment === undefined ? [] : read.map(each => [each.pull.number, each]))
  }

  /** Removes and returns entries that are about to change. */
  take(numbers: Iterable<number>): Map<number, KnownPull> {
    this.#entry = null
    const taken = new Map<number, KnownPull>()
    for (const number of numbers) {
      const known = this.#pulls.get(number)
      if (known) taken.set(number, known)
      this.#pulls.delete(number)
    }
    return taken
  }

  forget(): void {
    this.#entry = null
    this.#pulls.clear()
  }
}

/** An earlier read may have covered more than this query. It always covered all open pull requests. */
function hasAll({ wanted: before, whole }: PullCacheEntry, wanted: PullQuery): boolean {
  const numbers = new Set([...(before.numbers ?? []), ...whole.map(({ pull }) => pull.number)])
  const branches = new Set(before.branches)
  const elsewhere = new Set((before.elsewhere ?? []).map(each => JSON.stringify(each)))
  return (
    (wanted.numbers ?? []).every(number => numbers.has(number)) &&
    (wanted.branches ?? []).every(branch => branches.has(branch)) &&
    (wanted.elsewhere ?? []).every(each => elsewhere.has(JSON.stringify(each))) &&
    (wanted.recent ?? 0) <= (before.recent ?? 0) &&
    JSON.stringify([...(wanted.read ?? [])]) === JSON.stringify([...(before.read ?? [])])
  )
}
