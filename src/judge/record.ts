import type { ScoreRecord } from '../model/score-record.ts'

export type ScoredItemKey = Pick<ScoreRecord, 'judge' | 'item' | 'side'>

export function getJudgedKey({ judge, item, side }: ScoredItemKey): string {
  return JSON.stringify([judge, side, item])
}

/** The newest of each; the first that has a score counts, so that none is ever rolled a second time. */
export function selectCountedRecords(records: readonly ScoreRecord[]): Map<string, ScoreRecord> {
  const standing = new Map<string, ScoreRecord>()
  for (const record of records) {
    const before = standing.get(getJudgedKey(record))
    if (before === undefined || (before.scores === null && before.time < record.time))
      standing.set(getJudgedKey(record), record)
  }
  return standing
}
