import { z } from 'zod'
import type { Wanted } from '../port.ts'
import { type GithubClient, understood } from './client.ts'
import {
  COMMENT,
  type CommentNode,
  commentNode,
  type KnownPull,
  knownPull,
  PULL,
  pullNode,
} from './pull-node.ts'

/** More than these are not looked at in one go; the oldest come first, and those that are closed make room. */
const PAGE = 50
const MOST_PAGES = 10
/** How many single pull requests one question asks for. */
const SINGLES = 40

const connection = z.object({ nodes: z.array(pullNode) })

function lastOwn({ nodes }: z.infer<typeof connection>): z.infer<typeof pullNode> | null {
  return nodes.findLast(({ isCrossRepository }) => !isCrossRepository) ?? null
}

const single = z.union([
  z.null(),
  pullNode,
  z.object({ associatedPullRequests: connection }).transform(found => lastOwn(found.associatedPullRequests)),
  connection.transform(lastOwn),
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

interface Asked {
  variables: string[]
  /** Of the repository. */
  fields: string[]
  /** Beside it. */
  beside?: string[]
  values: Record<string, unknown>
}

function singleFields({ numbers = [], branches = [], elsewhere = [] }: Wanted, base: string): Asked[] {
  const all = [
    ...[...new Set(numbers)].filter(isNumber).map((number, index) => ({
      variable: `$p${index}: Int!`,
      field: `p${index}: pullRequest(number: $p${index}) { ...Pull }`,
      value: { [`p${index}`]: number },
    })),
    ...[...new Set(branches)].map((branch, index) => ({
      variable: `$b${index}: String!, $i${index}: String!`,
      field: `b${index}: ref(qualifiedName: $b${index}) { ${lastInto(`$i${index}`)} { nodes { ...Pull } } }`,
      value: { [`b${index}`]: `refs/heads/${branch}`, [`i${index}`]: base },
    })),
    ...elsewhere.map(fieldInto),
  ]
  const chunks: Asked[] = []
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
function lastInto(base: string): string {
  return `associatedPullRequests(baseRefName: ${base}, last: 3, ${OLDEST_FIRST})`
}

/** By the branch's name: where it was deleted with the merge, its pull request is still found. */
function fieldInto({ branch, base }: NonNullable<Wanted['elsewhere']>[number], index: number) {
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

function question(together: readonly Asked[]): string {
  const declared = ['$owner: String!', '$repo: String!', ...together.flatMap(({ variables }) => variables)]
  const fields = together.flatMap(asked => asked.fields)
  const beside = together.flatMap(asked => asked.beside ?? [])
  return `query (${declared.join(', ')}) {
    repository(owner: $owner, name: $repo) { ${fields.join('\n')} }
    ${beside.join('\n')}
  } ${PULL}`
}

const NOTHING: Asked = { variables: [], fields: [], values: {} }

function openInto(base: string, after: string | null): Asked {
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
function recentInto(base: string, { recent = 0 }: Wanted): Asked {
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
function ownFields({ read = new Map() }: Wanted): Asked {
  const own = [...read.values()].flatMap(each => each.own).slice(-MOST_NAMED)
  if (own.length === 0) return NOTHING
  const beside = [`own: nodes(ids: $own) { ... on IssueComment { ${COMMENT} } }`]
  return { variables: ['$own: [ID!]!'], fields: [], beside, values: { own } }
}

/** The open pull requests into a base and the wanted ones whatever became of them: mostly in one request. */
export async function readOpen(
  client: GithubClient,
  base: string,
  wanted: Wanted,
): Promise<{ known: KnownPull[]; named: CommentNode[] }> {
  const [first = NOTHING, ...rest] = singleFields(wanted, base)
  const found = new Map<number, KnownPull>()
  const named: CommentNode[] = []
  let asked = [openInto(base, null), recentInto(base, wanted), first, ownFields(wanted)]
  for (let pages = 1; ; pages++) {
    const { repository, own } = understood(page, await ask(client, asked), 'pull requests')
    const { open, recent, ...others } = repository
    named.push(...own.filter(node => node !== null))
    for (const node of [...open.nodes, ...recent.nodes, ...present(others)])
      found.set(node.number, knownPull(node))
    if (!open.pageInfo.hasNextPage || pages === MOST_PAGES) break
    asked = [openInto(base, open.pageInfo.endCursor)]
  }
  for (const each of await askSingles(client, rest)) found.set(each.pull.number, each)
  return { known: [...found.values()].toSorted((a, b) => a.pull.number - b.pull.number), named }
}

/** Single pull requests, in whatever state and into whatever base they are. */
export async function readNumbers(
  client: GithubClient,
  numbers: readonly number[],
): Promise<Map<number, KnownPull>> {
  const found = await askSingles(client, singleFields({ numbers }, ''))
  return new Map(found.map(each => [each.pull.number, each]))
}

/** The last pull request of a branch into a base. */
export async function readBranch(
  client: GithubClient,
  { branch, base }: { branch: string; base: string },
): Promise<KnownPull | null> {
  const [found] = await askSingles(client, singleFields({ branches: [branch] }, base))
  return found ?? null
}

async function askSingles(client: GithubClient, chunks: readonly Asked[]): Promise<KnownPull[]> {
  const found: KnownPull[] = []
  for (const chunk of chunks) {
    const { repository } = understood(singles, await ask(client, [chunk]), 'pull requests')
    found.push(...present(repository).map(knownPull))
  }
  return found
}

function present<T>(fields: Record<string, T | null>): T[] {
  return Object.values(fields).filter(field => field !== null)
}

/** In one request. */
async function ask(client: GithubClient, together: readonly Asked[]): Promise<unknown> {
  const values = Object.fromEntries(together.flatMap(asked => Object.entries(asked.values)))
  return client.graphql(question(together), { ...client.where, ...values })
}
