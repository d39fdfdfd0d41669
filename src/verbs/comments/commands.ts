import type { Observation } from '../../engine/observe.ts'
import { type Comment, COMMENTS_AT_ONCE, type Pull } from '../../forge/pull.ts'
import type { Campaign } from '../../model/campaign.ts'
import { COMMENT_CAUSE } from '../../model/fold.ts'
import { parseCommentCommand } from './comment-line.ts'

interface SeenPulls extends Pick<Observation, 'pulls'> {
  world: Pick<Observation['world'], 'campaign' | 'now'>
}

/** A command that somebody wrote, and nothing was made of yet. */
export interface CommentCommand {
  pull: Pull
  comment: Comment
  words: readonly string[]
}

/**
 * Every comment that is still to be dealt with, the oldest first: written since the campaign began, as it was written,
 * by people. One that was answered, marked as done or declined where it stands, or read before as the ledger says, or is long past, is over.
 * One that the ledger has heard and nobody has answered is not: it is owed its answer.
 */
export function listCommentCommands(
  { pulls, world }: SeenPulls,
  over: ReadonlySet<string>,
): CommentCommand[] {
  const { campaign } = world
  const since = Date.parse(campaign.started_at ?? '')
  const found = pulls.flatMap(pull =>
    pull.comments.flatMap(comment => {
      const { id, edited, own, author, at, answered, done, declined, body } = comment
      const counts = !edited && !own && !author.endsWith('[bot]') && Date.parse(at) >= since
      if (!counts || answered || done || declined || over.has(id) || isRead(campaign, pull, comment))
        return []
      if (isPast(world, pull, comment)) return []
      const words = parseCommentCommand(body)
      return words === null ? [] : [{ pull, comment, words }]
    }),
  )
  return found.toSorted((one, other) => Date.parse(one.comment.at) - Date.parse(other.comment.at))
}

/** Whoever closes with a comment, between two wake-ups, is heard at the next one. */
const HEARD_AFTER_CLOSING_MS = 24 * 3_600_000

/**
 * What was said before its pull request was closed, and that long ago, was meant for then: whoever saw it at that time did
 * with it what was to be done, and a winnow that did not hear comments yet did nothing. An answer that is owed is owed.
 */
function isPast({ campaign, now }: SeenPulls['world'], pull: Pull, { id, at }: Comment): boolean {
  const { number, closed_at: closed } = pull
  if (closed === null || campaign.comments_read[number] !== undefined) return false
  if (campaign.heeded[`${COMMENT_CAUSE}${id}`] !== undefined || Date.parse(at) > Date.parse(closed))
    return false
  return Date.parse(now) - Date.parse(closed) > HEARD_AFTER_CLOSING_MS
}

function isRead({ comments_read }: Campaign, { number }: Pull, { id }: Comment): boolean {
  const upTo = comments_read[number]
  return upTo !== undefined && Number(id) <= Number(upTo.comment)
}

/** Lists lag: what is only just there may not be all. */
const LATEST = 10

/**
 * What the ledger is told so that the next look need not read it again: pull requests on which others have written more
 * than comes by itself, up to shortly before now, where nobody of those who may steer waits for anything.
 */
export function buildReadEvents(
  { pulls, world: { campaign } }: { pulls: SeenPulls['pulls']; world: Pick<SeenPulls['world'], 'campaign'> },
  left: readonly CommentCommand[],
) {
  return pulls.flatMap(pull => {
    const { number, comments, unread } = pull
    const news = comments.filter(comment => !isRead(campaign, pull, comment))
    const read = comments.slice(0, -LATEST)
    const last = read.at(-1)
    if (unread || news.length <= COMMENTS_AT_ONCE || last === undefined) return []
    const waits = left.some(
      asked => asked.pull.number === number && Number(asked.comment.id) <= Number(last.id),
    )
    if (waits) return []
    const own = read.flatMap(({ node }) => node ?? []).slice(-MOST_OWN)
    return [{ kind: 'comments-read' as const, pull: number, comment: last.id, own }]
  })
}

/** The last of our own say how things stand. */
const MOST_OWN = 50
