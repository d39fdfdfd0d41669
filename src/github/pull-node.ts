import { z } from 'zod'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { oidSchema } from '../model/ids.ts'
import { type Comment, COMMENTS_AT_ONCE, getAnswerMarker, type Pull, type Review } from './pull.ts'

// Query

const text = z.string()
const time = z.iso.datetime()
const actor = z.object({ __typename: text, login: text }).nullable()

export const commentNode = z.object({
  id: text,
  databaseId: z.number(),
  author: actor,
  authorAssociation: text,
  createdAt: time,
  body: text,
  lastEditedAt: text.nullable(),
  viewerDidAuthor: z.boolean(),
  reactionGroups: z.array(z.object({ content: text, viewerHasReacted: z.boolean() })).nullable(),
})

export const commentPage = z.object({
  nodes: z.array(commentNode),
  pageInfo: z.object({ hasPreviousPage: z.boolean(), startCursor: text.nullable() }),
})

const review = z.object({
  author: actor,
  submittedAt: time.nullable(),
  commit: z.object({ oid: oidSchema }).nullable(),
  state: text,
})

export const pullNode = z.object({
  id: text,
  number: z.number(),
  title: text,
  body: text,
  headRefName: text,
  headRefOid: oidSchema,
  baseRefName: text,
  author: actor,
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  isCrossRepository: z.boolean(),
  headRepositoryOwner: z.object({ login: text }).nullable(),
  viewerDidAuthor: z.boolean(),
  comments: commentPage,
  reviews: z.object({ nodes: z.array(review) }).nullable(),
  opinions: z
    .object({ nodes: z.array(review), pageInfo: z.object({ hasPreviousPage: z.boolean() }) })
    .nullable(),
  writers: z.object({ nodes: z.array(review) }).nullable(),
  mergeCommit: z.object({ oid: oidSchema }).nullable(),
  closedAt: time.nullable(),
  timelineItems: z.object({ nodes: z.array(z.object({ createdAt: text })) }),
})

type PullNode = z.infer<typeof pullNode>

export const COMMENT_FIELDS = `id databaseId author { __typename login } authorAssociation createdAt lastEditedAt body
  viewerDidAuthor reactionGroups { content viewerHasReacted }`
export const LAST_COMMENTS = `nodes { ${COMMENT_FIELDS} } pageInfo { hasPreviousPage startCursor }`

const REVIEW = 'author { __typename login } submittedAt commit { oid } state'
/** Reads the latest opinion of this many people, and of as many more with write access. */
export const REVIEWERS = 100

export const PULL_FRAGMENT = `fragment Pull on PullRequest {
  id number title body headRefName headRefOid baseRefName author { __typename login } state isDraft
  isCrossRepository headRepositoryOwner { login } viewerDidAuthor closedAt mergeCommit { oid }
  timelineItems(itemTypes: [REOPENED_EVENT], last: 1) { nodes { ... on ReopenedEvent { createdAt } } }
  comments(last: ${COMMENTS_AT_ONCE}) { ${LAST_COMMENTS} }
  reviews(last: 50) { nodes { ${REVIEW} } }
  opinions: latestOpinionatedReviews(last: ${REVIEWERS}) { nodes { ${REVIEW} } pageInfo { hasPreviousPage } }
  writers: latestOpinionatedReviews(last: ${REVIEWERS}, writersOnly: true) { nodes { ${REVIEW} } }
}`

// Reading a node

export interface KnownPull {
  pull: Pull
  nodeId: string
  /** Opened by the owner of the token. */
  mine: boolean
  own: OwnComment[]
  /** The latest ones. */
  comments: CommentNode[]
  /** Cursor to older comments; null when all are known. */
  earlier: string | null
  /** The pull request has more reviewers than the query reads. */
  moreReviewers: boolean
}

export type CommentNode = z.infer<typeof commentNode>

export interface OwnComment {
  id: number
  key: string
  body: string
}

export function toKnownPull(node: PullNode): KnownPull {
  const { comments, id, viewerDidAuthor } = node
  const { hasPreviousPage, startCursor } = comments.pageInfo
  return {
    pull: toPull(node),
    nodeId: id,
    mine: viewerDidAuthor,
    own: listOwnComments(comments.nodes),
    comments: comments.nodes,
    earlier: hasPreviousPage ? startCursor : null,
    moreReviewers: node.opinions?.pageInfo.hasPreviousPage === true,
  }
}

export function listOwnComments(nodes: readonly CommentNode[]): OwnComment[] {
  return nodes.flatMap(({ databaseId, body: text, viewerDidAuthor }) => {
    const { key, body } = readKey(text)
    return viewerDidAuthor && key !== null ? [{ id: databaseId, key, body }] : []
  })
}

function toPull(node: PullNode): Pull {
  return {
    number: node.number,
    title: node.title,
    body: node.body,
    branch: getHeadBranch(node),
    head: node.headRefOid,
    base: node.baseRefName,
    author: getAuthorLogin(node.author),
    state: STATES[node.state],
    draft: node.isDraft,
    comments: readComments(node.comments.nodes),
    reviews: readReviews(node),
    merged_commit: node.mergeCommit?.oid ?? null,
    closed_at: node.closedAt,
    ...(node.timelineItems.nodes.length === 0 ? {} : { reopened: true }),
  }
}

/**
 * A hidden key at the end of a comment marks it as ours, as opposed to a comment that the same account wrote by
 * hand. Our comments that answer no other comment show the current state and carry a node id for later lookups.
 */
export function readComments(nodes: readonly CommentNode[]): Comment[] {
  const own = new Map(listOwnComments(nodes).map(({ id, key }) => [id, key]))
  const ownKeys = new Set(own.values())
  const answers = new Map(
    nodes.map(({ databaseId: id }) => [id, computeMarkerKey(getAnswerMarker({ id: String(id) }))]),
  )
  const answering = new Set(answers.values())
  return nodes.map(each => {
    const key = own.get(each.databaseId)
    return {
      id: String(each.databaseId),
      author: getAuthorLogin(each.author),
      at: each.createdAt,
      body: readKey(each.body).body,
      ...(each.lastEditedAt === null ? {} : { edited: true }),
      ...(key === undefined ? {} : { own: true, key, ...(answering.has(key) ? {} : { node: each.id }) }),
      ...(PROJECT_ASSOCIATIONS.has(each.authorAssociation) ? { near: true } : {}),
      ...(hasReacted(each, 'THUMBS_UP') ? { done: true } : {}),
      ...(hasReacted(each, 'THUMBS_DOWN') ? { declined: true } : {}),
      ...(ownKeys.has(answers.get(each.databaseId) ?? '') ? { answered: true } : {}),
    }
  })
}

const PROJECT_ASSOCIATIONS: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR'])

function hasReacted({ reactionGroups }: CommentNode, reaction: 'THUMBS_UP' | 'THUMBS_DOWN'): boolean {
  const groups = reactionGroups ?? []
  return groups.some(({ content, viewerHasReacted }) => content === reaction && viewerHasReacted)
}

const STATES = { OPEN: 'open', CLOSED: 'closed', MERGED: 'merged' } as const

/** No branch name contains a colon, so a fork's branch never equals one of ours. */
function getHeadBranch({ headRefName, isCrossRepository, headRepositoryOwner }: PullNode): string {
  return isCrossRepository ? `${headRepositoryOwner?.login ?? 'ghost'}:${headRefName}` : headRefName
}

/** The login as REST spells it. GraphQL omits the suffix of bots, and a person could have that name. */
function getAuthorLogin(author: PullNode['author']): string {
  if (author === null) return 'ghost'
  return author.__typename === 'Bot' ? `${author.login}[bot]` : author.login
}

const REVIEWS = new Map<string, Review['state']>([
  ['APPROVED', 'approved'],
  ['CHANGES_REQUESTED', 'changes-requested'],
  ['COMMENTED', 'commented'],
  ['DISMISSED', 'dismissed'],
])

/** Returns the latest reviews, and the latest opinion of each person, however many reviews there are. */
function readReviews({ reviews, opinions, writers }: PullNode): Review[] {
  const may = new Set((writers?.nodes ?? []).map(({ author }) => getAuthorLogin(author)))
  const all = [reviews, opinions, writers].flatMap(list => list?.nodes ?? [])
  const distinct = new Map(
    all.map(node => [`${getAuthorLogin(node.author)} ${node.submittedAt} ${node.state}`, node]),
  )
  const found = [...distinct.values()].flatMap(
    ({ author, commit, submittedAt: at, state: name }): Review[] => {
      const state = REVIEWS.get(name)
      // Pending reviews have no time yet.
      if (state === undefined || commit === null || at === null) return []
      const login = getAuthorLogin(author)
      return [{ author: login, at, commit: commit.oid, state, ...(may.has(login) ? { writer: true } : {}) }]
    },
  )
  return found.toSorted((one, other) => one.at.localeCompare(other.at))
}

// Comment keys

/** The hidden key at the end of each of our comments, by which winnow rewrites it. Counts only in our own. */
export function computeMarkerKey(marker: string): string {
  return hashSha256(toCanonicalJson({ marker })).slice(0, 24)
}

export function withKey(body: string, key: string): string {
  return `${body}\n\n<!-- winnow:${key} -->`
}

const KEYED_BODY = /^([\s\S]*?)\n\n<!-- winnow:([0-9a-f]{24}) -->\s*$/

/** Editing in a browser changes the line ends of a comment. It is still the same comment. */
function readKey(text: string): { body: string; key: string | null } {
  const [, body, key] = KEYED_BODY.exec(text.replaceAll('\r\n', '\n')) ?? []
  return body === undefined || key === undefined ? { body: text, key: null } : { body, key }
}
