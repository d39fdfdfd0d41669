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
  /** Changed after it was written: what it says now may be somebody else's words. */
  edited: yes.optional(),
  /** Written by winnow. */
  own: yes.optional(),
  /** winnow has answered it (`getAnswerMarker`). */
  answered: yes.optional(),
  /** winnow has shown by a reaction that it is done. */
  done: yes.optional(),
  /** winnow has shown that it is not done. */
  declined: yes.optional(),
  /** The forge counts its author among the project's people: no right, and only a hint whom to ask about first. */
  near: yes.optional(),
  /** Of our own that answer nobody: what the forge finds it by. */
  node: text.optional(),
})

const review = z.strictObject({
  author: text,
  at: time,
  /** The head that was looked at: a later head is not covered. */
  commit: oidSchema,
  state: z.enum(['approved', 'changes-requested', 'commented', 'dismissed']),
  body: text,
  /** By somebody who may write, as the forge says. */
  writer: yes.optional(),
})

/** So many of its last comments a pull request comes with by itself. */
export const COMMENTS_AT_ONCE = 50

/** A pull request, wherever it is kept. */
export const pull = z.strictObject({
  number: z.number().int().positive(),
  title: text,
  body: text,
  /** Short name of the head branch. */
  branch: text,
  /** Its tip, or the last known one after it is gone. */
  head: oidSchema,
  base: text,
  author: text,
  state: z.enum(['open', 'merged', 'closed']),
  draft: z.boolean(),
  labels: z.array(text),
  comments: z.array(comment),
  /** There are earlier comments that nobody has read. */
  unread: yes.optional(),
  reviews: z.array(review),
  merged_commit: oidSchema.nullable(),
  opened_at: time,
  closed_at: time.nullable(),
  /** Somebody opened it again after it was closed. */
  reopened: yes.optional(),
})

export type Pull = z.infer<typeof pull>

/** Where its head can be fetched: a fork's branch (`owner:name`) is held here by the pull request's number. */
export function getHeadRef({ branch, number }: Pick<Pull, 'branch' | 'number'>): string {
  return branch.includes(':') ? `refs/pull/${number}/head` : `refs/heads/${branch}`
}
export type Comment = z.infer<typeof comment>
export type Review = z.infer<typeof review>

/** The sticky comment that answers another one. */
export function getAnswerMarker({ id }: Pick<Comment, 'id'>): string {
  return `answer ${id}`
}
