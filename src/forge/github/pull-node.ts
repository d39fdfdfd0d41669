import { z } from 'zod'
import { oid } from '../../model/ids.ts'
import { answerMarker, type Comment, pull, type Pull, type Review } from '../pull.ts'
import { understood } from './client.ts'
import { keyOf, readKey } from './comment-key.ts'

const text = z.string()
const actor = z.object({ __typename: text, login: text }).nullable()

const comment = z.object({
  databaseId: z.number(),
  author: actor,
  createdAt: text,
  body: text,
  lastEditedAt: text.nullable(),
  viewerDidAuthor: z.boolean(),
})

const review = z.object({
  author: actor,
  submittedAt: text.nullable(),
  commit: z.object({ oid }).nullable(),
  state: text,
  body: text,
})

export const pullNode = z.object({
  id: text,
  number: z.number(),
  title: text,
  body: text,
  headRefName: text,
  headRefOid: oid,
  baseRefName: text,
  author: actor,
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  isCrossRepository: z.boolean(),
  headRepositoryOwner: z.object({ login: text }).nullable(),
  viewerDidAuthor: z.boolean(),
  labels: z.object({ nodes: z.array(z.object({ name: text })) }).nullable(),
  comments: z.object({
    nodes: z.array(comment),
    pageInfo: z.object({ hasPreviousPage: z.boolean(), startCursor: text.nullable() }),
  }),
  reviews: z.object({ nodes: z.array(review) }).nullable(),
  mergeCommit: z.object({ oid }).nullable(),
  createdAt: text,
  closedAt: text.nullable(),
  timelineItems: z.object({ nodes: z.array(z.object({ createdAt: text })) }),
})

type PullNode = z.infer<typeof pullNode>

export const COMMENTS = `nodes { databaseId author { __typename login } createdAt lastEditedAt body viewerDidAuthor }
  pageInfo { hasPreviousPage startCursor }`

export const PULL = `fragment Pull on PullRequest {
  id number title body headRefName headRefOid baseRefName author { __typename login } state isDraft
  isCrossRepository headRepositoryOwner { login } viewerDidAuthor createdAt closedAt mergeCommit { oid }
  timelineItems(itemTypes: [REOPENED_EVENT], last: 1) { nodes { ... on ReopenedEvent { createdAt } } }
  labels(first: 50) { nodes { name } }
  comments(last: 50) { ${COMMENTS} }
  reviews(last: 50) { nodes { author { __typename login } submittedAt commit { oid } state body } }
}`

/** A pull request as GitHub knows it, with what is needed to change it. */
export interface KnownPull {
  pull: Pull
  nodeId: string
  /** Opened by who asks. */
  mine: boolean
  own: OwnComment[]
  /** Where older comments begin; null where all are known. */
  earlier: string | null
}

/** A comment of ours with its key. */
export interface OwnComment {
  id: number
  key: string
  body: string
}

export function knownPull(node: PullNode): KnownPull {
  const { comments, id, viewerDidAuthor } = node
  const { hasPreviousPage, startCursor } = comments.pageInfo
  return {
    pull: understood(pull, readPull(node), `#${node.number}`),
    nodeId: id,
    mine: viewerDidAuthor,
    own: ownComments(comments.nodes),
    earlier: hasPreviousPage ? startCursor : null,
  }
}

export function ownComments(nodes: PullNode['comments']['nodes']): OwnComment[] {
  return nodes.flatMap(({ databaseId, body: text, viewerDidAuthor }) => {
    const { key, body } = readKey(text)
    return viewerDidAuthor && key !== null ? [{ id: databaseId, key, body }] : []
  })
}

export const commentPage = z.object({
  nodes: z.array(comment),
  pageInfo: pullNode.shape.comments.shape.pageInfo,
})

function readPull(node: PullNode): z.input<typeof pull> {
  return {
    number: node.number,
    title: node.title,
    body: node.body,
    branch: branchOf(node),
    head: node.headRefOid,
    base: node.baseRefName,
    author: loginOf(node.author),
    state: STATES[node.state],
    draft: node.isDraft,
    labels: (node.labels?.nodes ?? []).map(({ name }) => name).toSorted(),
    comments: readComments(node.comments.nodes),
    reviews: (node.reviews?.nodes ?? []).flatMap(readReview),
    merged_commit: node.mergeCommit?.oid ?? null,
    opened_at: node.createdAt,
    closed_at: node.closedAt,
    ...(node.timelineItems.nodes.length === 0 ? {} : { reopened: true }),
  }
}

/** Ours end in a key that nobody sees: by it they are told from what the same account wrote by hand. */
function readComments(nodes: PullNode['comments']['nodes']): Comment[] {
  const own = new Map(ownComments(nodes).map(({ id, key }) => [id, key]))
  const keys = new Set(own.values())
  return nodes.map(each => {
    const id = String(each.databaseId)
    return {
      id,
      author: loginOf(each.author),
      at: each.createdAt,
      body: readKey(each.body).body,
      ...(each.lastEditedAt === null ? {} : { edited: true }),
      ...(own.has(each.databaseId) ? { own: true } : {}),
      ...(keys.has(keyOf({ body: '', marker: answerMarker({ id }) })) ? { answered: true } : {}),
    }
  })
}

const STATES = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const

/** A fork's branch is no branch of ours, whatever its name: a colon is in no branch's name. */
function branchOf({ headRefName, isCrossRepository, headRepositoryOwner }: PullNode): string {
  return isCrossRepository ? `${headRepositoryOwner?.login ?? 'ghost'}:${headRefName}` : headRefName
}

/** As REST and events say it: GraphQL leaves the suffix of bots out, and people could have that name. */
function loginOf(author: PullNode['author']): string {
  if (author === null) return 'ghost'
  return author.__typename === 'Bot' ? `${author.login}[bot]` : author.login
}

const REVIEWS = new Map<string, Review['state']>([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes-requested'],
  ['COMMENTED', 'commented'],
  ['DISMISSED', 'dismissed'],
])

/** Neither a review that was not sent yet counts, nor what is not known. */
function readReview(node: NonNullable<PullNode['reviews']>['nodes'][number]): Review[] {
  const { commit, submittedAt, author, body } = node
  const state = REVIEWS.get(node.state)
  if (state === undefined || commit === null || submittedAt === null) return []
  return [{ author: loginOf(author), at: submittedAt, commit: commit.oid, state, body }]
}
