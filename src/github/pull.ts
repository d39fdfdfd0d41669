import { z } from 'zod'
import { oidSchema } from '../model/ids.ts'

const text = z.string()
const time = z.iso.datetime()

const yes = z.literal(true)

const comment = z.strictObject({
  id: text,
  author: text,
  at: time,
  body: text,
  /** Edited after it was posted, possibly by another person. */
  edited: yes.optional(),
  /** Posted by winnow. */
  own: yes.optional(),
  /** Names the kind and subject of winnow's own comment (`computeMarkerKey`). */
  key: text.optional(),
  /** winnow has answered it (`getAnswerMarker`). */
  answered: yes.optional(),
  /** winnow added the reaction for "done". */
  done: yes.optional(),
  /** winnow added the reaction for "not done". */
  declined: yes.optional(),
  /** The forge associates the author with the project: a hint, not a right. */
  near: yes.optional(),
  /** Node id of our own comment that answers no other comment. */
  node: text.optional(),
})

const review = z.strictObject({
  author: text,
  at: time,
  /** The reviewed head. The review does not cover later heads. */
  commit: oidSchema,
  state: z.enum(['approved', 'changes-requested', 'commented', 'dismissed']),
  body: text,
  /** The forge says that the author has write access. */
  writer: yes.optional(),
})

export const COMMENTS_AT_ONCE = 50

export const pull = z.strictObject({
  number: z.number().int().positive(),
  title: text,
  body: text,
  /** Short name of the head branch. */
  branch: text,
  /** Tip of the branch, or the last known tip after it was deleted. */
  head: oidSchema,
  base: text,
  author: text,
  state: z.enum(['open', 'merged', 'closed']),
  draft: z.boolean(),
  labels: z.array(text),
  comments: z.array(comment),
  /** The pull request has earlier comments that winnow has not read. */
  unread: yes.optional(),
  reviews: z.array(review),
  merged_commit: oidSchema.nullable(),
  opened_at: time,
  closed_at: time.nullable(),
  reopened: yes.optional(),
})

export type Pull = z.infer<typeof pull>

/** GitHub serves a fork's branch (`owner:name`) under the pull request's number. */
export function getHeadRef({ branch, number }: Pick<Pull, 'branch' | 'number'>): string {
  return branch.includes(':') ? `refs/pull/${number}/head` : `refs/heads/${branch}`
}
export type Comment = z.infer<typeof comment>
export type Review = z.infer<typeof review>

export function getAnswerMarker({ id }: Pick<Comment, 'id'>): string {
  return `answer ${id}`
}
