import { z } from 'zod'
import { oid } from '../model/ids.ts'

const text = z.string()
const time = z.iso.datetime()

const comment = z.strictObject({ id: text, author: text, at: time, body: text })

const review = z.strictObject({
  author: text,
  at: time,
  /** The head that was looked at: a later head is not covered. */
  commit: oid,
  state: z.enum(['approved', 'changes-requested', 'commented']),
  body: text,
})

/** A pull request, wherever it is kept. */
export const pull = z.strictObject({
  number: z.number().int().positive(),
  title: text,
  body: text,
  /** Short name of the head branch. */
  branch: text,
  /** Its tip, or the last known one after it is gone. */
  head: oid,
  base: text,
  author: text,
  state: z.enum(['open', 'merged', 'closed']),
  draft: z.boolean(),
  labels: z.array(text),
  comments: z.array(comment),
  reviews: z.array(review),
  merged_commit: oid.nullable(),
  opened_at: time,
  closed_at: time.nullable(),
})

export type Pull = z.infer<typeof pull>
export type Review = z.infer<typeof review>
