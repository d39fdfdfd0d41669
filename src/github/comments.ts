import { z } from 'zod'
import { cutText } from '../model/text.ts'
import type { GithubClient } from './client.ts'
import type { PullQuery, ReadPosition } from './port.ts'
import {
  type CommentNode,
  commentPage,
  type KnownPull,
  LAST_COMMENTS,
  listOwnComments,
  type OwnComment,
  readComments,
} from './pull-node.ts'
import { parseAnswer, type RateBudget } from './requests.ts'

/** Per tick: twice the pages of the 2,500 comments that GitHub allows on a pull request. */
export const MOST_PAGES = 50

interface EarlierCommentsRequest {
  read: PullQuery['read'] | undefined
  /** Our own comments, requested by id. */
  named: readonly CommentNode[]
  pages: RateBudget
  say: (line: string) => void
}

const EARLIER_QUERY = `query ($owner: String!, $repo: String!, $number: Int!, $before: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) { comments(last: 100, before: $before) { ${LAST_COMMENTS} } }
  }
}`
const earlierSchema = z.object({ repository: z.object({ pullRequest: z.object({ comments: commentPage }) }) })

interface CommentPage {
  nodes: CommentNode[]
  before: string | null
}

/**
 * Adds comments that did not fit into the first answer: all since the last one known to be read, and our own
 * earlier ones, which other people's comments must not hide. Usually the first answer is complete.
 */
export async function addEarlierComments(
  client: GithubClient,
  known: readonly KnownPull[],
  { read, named, pages, say }: EarlierCommentsRequest,
): Promise<KnownPull[]> {
  const complete: KnownPull[] = []
  for (const each of known) {
    const found = await readBackwards(client, each, read?.get(each.pull.number), pages)
    if (found.before !== null) {
      const { number } = each.pull
      say(`#${number}: too many comments for one run; the next scheduled run reads the older ones`)
    }
    const own = read?.get(each.pull.number)?.own ?? []
    const ours = named.filter(({ id }) => own.includes(id))
    complete.push(withComments(each, [...ours, ...found.nodes], found.before))
  }
  return complete
}

async function readBackwards(
  client: GithubClient,
  { pull: { number }, comments, earlier: start }: KnownPull,
  read: ReadPosition | undefined,
  pages: RateBudget,
): Promise<CommentPage> {
  let nodes = comments
  let before = start
  while (before !== null && !hasReachedComment(nodes, read?.comment) && pages.take()) {
    const page = await readEarlierPage(client, number, before)
    nodes = [...page.nodes, ...nodes]
    before = page.before
  }
  return { nodes, before: hasReachedComment(nodes, read?.comment) ? null : before }
}

async function readEarlierPage(client: GithubClient, number: number, before: string): Promise<CommentPage> {
  const values = { ...client.where, number, before }
  const answer = parseAnswer(earlierSchema, await client.graphql(EARLIER_QUERY, values), 'comments')
  const { nodes, pageInfo } = answer.repository.pullRequest.comments
  return { nodes, before: pageInfo.hasPreviousPage ? pageInfo.startCursor : null }
}

/** Ids grow, so this also works when that comment was deleted. */
function hasReachedComment(nodes: readonly CommentNode[], comment: string | undefined): boolean {
  const oldest = nodes[0]
  return comment !== undefined && oldest !== undefined && oldest.databaseId <= Number(comment)
}

function withComments(known: KnownPull, nodes: readonly CommentNode[], before: string | null): KnownPull {
  const comments = [...new Map(nodes.map(node => [node.databaseId, node])).values()]
  if (comments.length === known.comments.length && before === null) return known
  const pull = { ...known.pull, comments: readComments(comments) }
  return {
    ...known,
    comments,
    own: listOwnComments(comments),
    pull: before === null ? pull : { ...pull, unread: true },
  }
}

/** Our comment may be behind many newer ones, but is not older than the comment it answers. */
export async function findOwnComment(
  client: GithubClient,
  known: KnownPull,
  { key, after }: { key: string; after: string | undefined },
): Promise<OwnComment | null> {
  let page: CommentPage = { nodes: known.comments, before: known.earlier }
  for (let pages = 0; ; pages++) {
    const found = listOwnComments(page.nodes).find(each => each.key === key)
    if (found || page.before === null || hasReachedComment(page.nodes, after) || pages === MOST_PAGES)
      return found ?? null
    page = await readEarlierPage(client, known.pull.number, page.before)
  }
}

/** GitHub rejects more than 65,536 characters. The renderers shorten their texts earlier and better. */
const MAX_LENGTH = 60_000
const CUT_NOTE = '\n\n… (cut here: this is too long for GitHub)'

export function truncateBody(text: string): string {
  if (text.length <= MAX_LENGTH) return text
  return `${cutText(text, MAX_LENGTH - CUT_NOTE.length)}${CUT_NOTE}`
}
