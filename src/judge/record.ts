import type { ScoreRecord } from '../model/score-record.ts'

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
