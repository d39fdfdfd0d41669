import { z } from 'zod'

/** What one judge said of one side of one item, as it came: the raw material of a verdict, and never one. */
export const scoreRecordSchema = z.strictObject({
  judge: z.number().int().nonnegative(),
  item: z.string(),
  side: z.enum(['base', 'candidate', 'label']),
  /** 1: in its batch; 2: alone, since its batch gave none. */
  time: z.union([z.literal(1), z.literal(2)]),
  /** Null: none that could be read. */
  scores: z.record(z.string(), z.number().nullable()).nullable(),
})
export type ScoreRecord = z.infer<typeof scoreRecordSchema>
