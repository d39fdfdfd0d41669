import { z } from 'zod'

/** What one judge said of one side of one item, as it came: the raw material of a verdict, and never one. */
export const scoreRecord = z.strictObject({
  judge: z.number().int().nonnegative(),
  item: z.string(),
  side: z.enum(['base', 'candidate', 'label']),
  /** 1: in its batch; 2: alone, since its batch gave none. */
  time: z.union([z.literal(1), z.literal(2)]),
  /** Null: none that could be read. */
  scores: z.record(z.string(), z.number().nullable()).nullable(),
})
export type ScoreRecord = z.infer<typeof scoreRecord>

export type Judged = Pick<ScoreRecord, 'judge' | 'item' | 'side'>

export function judgedKey({ judge, item, side }: Judged): string {
  return JSON.stringify([judge, side, item])
}

/** The newest of each; the first that has a score counts, so that none is ever rolled a second time. */
export function standingRecords(records: readonly ScoreRecord[]): Map<string, ScoreRecord> {
  const standing = new Map<string, ScoreRecord>()
  for (const record of records) {
    const before = standing.get(judgedKey(record))
    if (before === undefined || (before.scores === null && before.time < record.time))
      standing.set(judgedKey(record), record)
  }
  return standing
}
