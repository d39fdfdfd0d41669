import { z } from 'zod'
import { type GithubClient, parseAnswer } from './client.ts'
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

/** More than these are not looked at in one go; the oldest come first, and those that are closed make room. */
const PAGE = 50
const MOST_PAGES = 10
/** How many single pull requests one question asks for. */
const SINGLES = 40

const connection = z.object({ nodes: z.array(pullNode) })

function findLastOwn({ nodes }: z.infer<typeof connection>): z.infer<typeof pullNode> | null {
  return nodes.findLast(({ isCrossRepository }) => !isCrossRepository) ?? null
}

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
  // Null, or of another kind, is what was deleted.
  own: z.array(z.union([commentNode, z.unknown().transform(() => null)])).default([]),
})

interface QueryPart {
  variables: string[]
  /** Of the repository. */
  fields: string[]
  /** Beside it. */
  beside?: string[]
  values: Record<string, unknown>
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
    ...[...new Set(branches)].map((branch, index) => ({
      variable: `$b${index}: String!, $i${index}: String!`,
      field: `b${index}: ref(qualifiedName: $b${index}) { ${buildLastField(`$i${index}`)} { nodes { ...Pull } } }`,
      value: { [`b${index}`]: `refs/heads/${branch}`, [`i${index}`]: base },
    })),
    ...elsewhere.map(buildBranchField),
  ]
  const chunks: QueryPart[] = []
  for (let from = 0; from < all.length; from += SINGLES) {
    const chunk = all.slice(from, from + SINGLES)
    chunks.push({
      variables: chunk.map(({ variable }) => variable),
      fields: chunk.map(({ field }) => field),
      values: Object.assign({}, ...chunk.map(({ value }) => value)),
    })
  }
  return chunks
}

const OLDEST_FIRST = 'orderBy: { field: CREATED_AT, direction: ASC }'

/** A person may offer an experiment's branch to another base as well: that one is theirs. */
function buildLastField(base: string): string {
  return `associatedPullRequests(baseRefName: ${base}, last: 3, ${OLDEST_FIRST})`
}

/** By the branch's name: where it was deleted with the merge, its pull request is still found. */
function buildBranchField({ branch, base }: NonNullable<PullQuery['elsewhere']>[number], index: number) {
  const [head, into] = [`e${index}Head`, `e${index}Into`]
  const asked = `headRefName: $${head}, baseRefName: $${into}, last: 3, ${OLDEST_FIRST}`
  return {
    variable: `$${head}: String!, $${into}: String!`,
    field: `e${index}: pullRequests(${asked}) { nodes { ...Pull } }`,
    value: { [head]: branch, [into]: base },
  }
}

/** What GraphQL takes for an Int. */
function isNumber(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number < 2 ** 31
}

function buildPullQuery(together: readonly QueryPart[]): string {
  const declared = ['$owner: String!', '$repo: String!', ...together.flatMap(({ variables }) => variables)]
  const fields = together.flatMap(asked => asked.fields)
  const beside = together.flatMap(asked => asked.beside ?? [])
  return `query (${declared.join(', ')}) {
    repository(owner: $owner, name: $repo) { ${fields.join('\n')} }
    ${beside.join('\n')}
  } ${PULL_FRAGMENT}`
}

const NOTHING: QueryPart = { variables: [], fields: [], values: {} }

function buildOpenField(base: string, after: string | null): QueryPart {
  return {
    variables: ['$base: String!', '$after: String'],
    fields: [
      `open: pullRequests(baseRefName: $base, states: [OPEN], first: ${PAGE}, after: $after, ${OLDEST_FIRST}) {
        nodes { ...Pull } pageInfo { hasNextPage endCursor } }`,
    ],
    values: { base, after },
  }
}

/** A comment is something that happens: whatever it is written on is among them. */
function buildRecentField(base: string, { recent = 0 }: PullQuery): QueryPart {
  if (recent === 0) return NOTHING
  const asked = 'baseRefName: $recentInto, states: [CLOSED, MERGED], first: $recent'
  return {
    variables: ['$recentInto: String!', '$recent: Int!'],
    fields: [
      `recent: pullRequests(${asked}, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { ...Pull } }`,
    ],
    values: { recentInto: base, recent },
  }
}

/** What one question may name. */
const MOST_NAMED = 100

/** Our own comments that others may have drowned, in the same question. */
function buildOwnFields({ read = new Map() }: PullQuery): QueryPart {
  const own = [...read.values()].flatMap(each => each.own).slice(-MOST_NAMED)
  if (own.length === 0) return NOTHING
  const beside = [`own: nodes(ids: $own) { ... on IssueComment { ${COMMENT_FIELDS} } }`]
  return { variables: ['$own: [ID!]!'], fields: [], beside, values: { own } }
}

/** The open pull requests into a base and the wanted ones whatever became of them: mostly in one request. */
export async function readOpen(
  client: GithubClient,
  base: string,
  wanted: PullQuery,
): Promise<{ known: KnownPull[]; named: CommentNode[] }> {
  const [first = NOTHING, ...rest] = buildSingleFields(wanted, base)
  const found = new Map<number, KnownPull>()
  const named: CommentNode[] = []
  let asked = [buildOpenField(base, null), buildRecentField(base, wanted), first, buildOwnFields(wanted)]
  for (let pages = 1; ; pages++) {
    const { repository, own } = parseAnswer(page, await askForPulls(client, asked), 'pull requests')
    const { open, recent, ...others } = repository
    named.push(...own.filter(node => node !== null))
    for (const node of [...open.nodes, ...recent.nodes, ...dropMissing(others)])
      found.set(node.number, toKnownPull(node))
    if (!open.pageInfo.hasNextPage || pages === MOST_PAGES) break
    asked = [buildOpenField(base, open.pageInfo.endCursor)]
  }
  for (const each of await askSingles(client, rest)) found.set(each.pull.number, each)
  return { known: [...found.values()].toSorted((a, b) => a.pull.number - b.pull.number), named }
}

/** Single pull requests, in whatever state and into whatever base they are. */
export async function readNumbers(
  client: GithubClient,
  numbers: readonly number[],
): Promise<Map<number, KnownPull>> {
  const found = await askSingles(client, buildSingleFields({ numbers }, ''))
  return new Map(found.map(each => [each.pull.number, each]))
}

/** The last pull request of a branch into a base. */
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

/** In one request. */
async function askForPulls(client: GithubClient, together: readonly QueryPart[]): Promise<unknown> {
  const values = Object.fromEntries(together.flatMap(asked => Object.entries(asked.values)))
  return client.graphql(buildPullQuery(together), { ...client.where, ...values })
}

interface PullCacheEntry {
  moment: string
  wanted: PullQuery
  whole: KnownPull[]
}

/** Pull requests as this process has read them, for as long as nothing that is known of has moved since. */
export class PullCache {
  #look: PullCacheEntry | null = null
  #pulls = new Map<number, KnownPull>()

  /** Where an earlier look of the same moment has everything that is wanted now. */
  find(moment: string | undefined, wanted: PullQuery): KnownPull[] | null {
    const look = this.#look
    if (look === null || look.moment !== moment) return null
    return hasAll(look, wanted) ? look.whole : null
  }

  keep(
    look: { moment: string | undefined; wanted: PullQuery; whole: KnownPull[] },
    read: readonly KnownPull[],
  ) {
    const { moment } = look
    this.#look = moment === undefined ? null : { ...look, moment }
    this.#pulls = new Map(moment === undefined ? [] : read.map(each => [each.pull.number, each]))
  }

  /** What is about to be changed: it is known no more. */
  take(numbers: Iterable<number>): Map<number, KnownPull> {
    this.#look = null
    const taken = new Map<number, KnownPull>()
    for (const number of numbers) {
      const known = this.#pulls.get(number)
      if (known) taken.set(number, known)
      this.#pulls.delete(number)
    }
    return taken
  }

  forget(): void {
    this.#look = null
    this.#pulls.clear()
  }
}

/** A look may have been for more than is wanted now, and it showed all that were open. */
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
