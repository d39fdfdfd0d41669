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
const page = z.object({
  repository: z.object({
    open: connection.extend({
      pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
    }),
    recent: connection.optional(),
  }),
})
const single = z.union([
  z.null(),
  pullNode,
  z.object({ associatedPullRequests: connection }).transform(found => lastOwn(found.associatedPullRequests)),
  connection.transform(lastOwn),
])

function lastOwn({ nodes }: z.infer<typeof connection>): z.infer<typeof pullNode> | null {
  return nodes.findLast(({ isCrossRepository }) => !isCrossRepository) ?? null
}

const singles = z.object({ repository: z.record(z.string(), z.unknown()) })

interface Asked {
  variables: string[]
  /** Of the repository. */
  fields: string[]
  /** Beside it. */
  beside?: string[]
  values: Record<string, unknown>
}

function singleFields(
  { numbers = [], branches = [], campaignPull, elsewhere = [] }: Wanted,
  base: string,
): Asked[] {
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
    ...(campaignPull === undefined ? [] : [{ ...campaignPull, name: 'campaignPull' }]).map(fieldInto),
    ...elsewhere.map((each, index) => fieldInto({ ...each, name: `e${index}` })),
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

/** A person may offer an experiment's branch to another base as well: that one is theirs. */
function lastInto(base: string): string {
  const order = 'orderBy: { field: CREATED_AT, direction: ASC }'
  return `associatedPullRequests(baseRefName: ${base}, last: 3, ${order})`
}

/** By the branch's name: where it was deleted with the merge, its pull request is still found. */
function fieldInto({ branch, base, name }: { branch: string; base: string; name: string }) {
  const order = 'orderBy: { field: CREATED_AT, direction: ASC }'
  const [head, into] = [`${name}Head`, `${name}Into`]
  const asked = `headRefName: $${head}, baseRefName: $${into}, last: 3, ${order}`
  return {
    variable: `$${head}: String!, $${into}: String!`,
    field: `${name}: pullRequests(${asked}) { nodes { ...Pull } }`,
    value: { [head]: branch, [into]: base },
  }
}

/** What GraphQL takes for an Int. */
function isNumber(number: number): boolean {
  return Number.isInteger(number) && number > 0 && number < 2 ** 31
}

function question({ variables, fields, beside = [] }: Asked): string {
  const declared = ['$owner: String!', '$repo: String!', ...variables].join(', ')
  return `query (${declared}) { repository(owner: $owner, name: $repo) { ${fields.join('\n')} } ${beside.join('\n')} } ${PULL}`
}

const OPEN: Asked = {
  variables: ['$base: String!', '$after: String'],
  fields: [
    `open: pullRequests(baseRefName: $base, states: [OPEN], first: ${PAGE}, after: $after,
      orderBy: { field: CREATED_AT, direction: ASC }) { nodes { ...Pull } pageInfo { hasNextPage endCursor } }`,
  ],
  values: { after: null },
}

const EMPTY: Asked = { variables: [], fields: [], values: {} }

/** A comment is something that happens: whatever it is written on is among them. */
function recentInto({ recent = 0 }: Wanted): Asked {
  if (recent === 0) return EMPTY
  const asked = 'baseRefName: $base, states: [CLOSED, MERGED], first: $recent'
  return {
    variables: ['$recent: Int!'],
    fields: [
      `recent: pullRequests(${asked}, orderBy: { field: UPDATED_AT, direction: DESC }) { nodes { ...Pull } }`,
    ],
    values: { recent },
  }
}

/** The open pull requests into a base and the wanted ones whatever became of them: mostly in one request. */
export async function readOpen(
  client: GithubClient,
  base: string,
  wanted: Wanted,
): Promise<{ known: KnownPull[]; named: CommentNode[] }> {
  const [first = EMPTY, ...rest] = singleFields(wanted, base)
  const found = new Map<number, KnownPull>()
  const named: CommentNode[] = []
  const together = joined(joined(OPEN, recentInto(wanted), {}), first, { base })
  let asked = joined(together, namedFields(wanted), {})
  for (let pages = 1; ; pages++) {
    const answer = await ask(client, asked)
    const { open, recent } = understood(page, answer, 'pull requests').repository
    const { open: _, recent: __, ...others } = understood(singles, answer, 'pull requests').repository
    named.push(...understood(ours, answer, 'comments of winnow').own)
    for (const each of [...[...open.nodes, ...(recent?.nodes ?? [])].map(knownPull), ...readSingles(others)])
      found.set(each.pull.number, each)
    if (!open.pageInfo.hasNextPage || pages === MOST_PAGES) break
    asked = joined(OPEN, EMPTY, { base, after: open.pageInfo.endCursor })
  }
  for (const each of await askSingles(client, rest)) found.set(each.pull.number, each)
  return { known: [...found.values()].toSorted((a, b) => a.pull.number - b.pull.number), named }
}

/** What one question may name. */
const MOST_NAMED = 100

/** Null, or of another kind, is what was deleted. */
const ours = z.object({
  own: z
    .array(z.union([commentNode, z.unknown().transform(() => null)]))
    .default([])
    .transform(nodes => nodes.filter(node => node !== null)),
})

/** Our own comments that others may have drowned, in the same question. */
function namedFields({ read = new Map() }: Wanted): Asked {
  const own = [...read.values()].flatMap(each => each.own).slice(-MOST_NAMED)
  if (own.length === 0) return EMPTY
  const beside = [`own: nodes(ids: $own) { ... on IssueComment { ${COMMENT} } }`]
  return { variables: ['$own: [ID!]!'], fields: [], beside, values: { own } }
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
    const { repository } = understood(singles, await ask(client, chunk), 'pull requests')
    found.push(...readSingles(repository))
  }
  return found
}

function joined(one: Asked, other: Asked, values: Record<string, unknown>): Asked {
  return {
    variables: [...one.variables, ...other.variables],
    fields: [...one.fields, ...other.fields],
    beside: [...(one.beside ?? []), ...(other.beside ?? [])],
    values: { ...one.values, ...other.values, ...values },
  }
}

async function ask(client: GithubClient, asked: Asked): Promise<unknown> {
  return client.graphql(question(asked), { ...client.where, ...asked.values })
}

function readSingles(fields: Record<string, unknown>): KnownPull[] {
  return Object.values(fields).flatMap(field => {
    const node = understood(single, field, 'a pull request')
    return node === null ? [] : [knownPull(node)]
  })
}
