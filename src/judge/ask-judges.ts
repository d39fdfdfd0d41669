import type { ModelAnswer, Models } from '../ports.ts'
import { readScores } from './answer.ts'
import { aloneIn, type Batch, type Entry } from './batch.ts'
import { questionFor, sameWithoutItems } from './prompt.ts'
import { judgedKey, standingRecords } from './record.ts'
import { type ScoreRecord } from '../model/score-record.ts'
import type { Rubric } from './rubric.ts'

export interface JudgesAsked {
  rubric: Rubric
  batches: readonly Batch[]
  /** What an earlier start was told: none of it is asked again. */
  known: readonly ScoreRecord[]
  models: Models
  /** As its maker calls it. */
  model: string
  /** What one request told, before the next is made. */
  record: (scores: readonly ScoreRecord[]) => void | Promise<void>
  signal: AbortSignal
}

/** Why not everything was scored: nothing more was asked. */
export type Cut = Extract<ModelAnswer, { is: 'over-budget' | 'refused' | 'unreachable' }>

export interface JudgesAnswer {
  records: ScoreRecord[]
  cut: Cut | null
}

/**
 * Batch after batch in the order that was drawn. What an answer has no score of is asked once more, each item alone:
 * one that spoils the answer it is in spoils its own only. What has a score is never asked again, whoever starts anew.
 */
export async function askJudges(asked: JudgesAsked): Promise<JudgesAnswer> {
  const records = [...asked.known]
  for (const batch of asked.batches) {
    for (let next = nextIn(batch, records); next !== null; next = nextIn(batch, records)) {
      const told = await askOnce(asked, next)
      if ('cut' in told) return { records, cut: told.cut }
      await asked.record(told.records)
      records.push(...told.records)
    }
  }
  return { records, cut: null }
}

/** Nothing is left to ask: each has a score, or gave none twice. */
export function isScored(batches: readonly Batch[], records: readonly ScoreRecord[]): boolean {
  return batches.every(batch => nextIn(batch, records) === null)
}

interface Question {
  batch: Batch
  time: ScoreRecord['time']
}

function nextIn(batch: Batch, records: readonly ScoreRecord[]): Question | null {
  const standing = standingRecords(records)
  const of = (entry: Entry) => standing.get(judgedKey({ judge: batch.judge, ...entry }))
  const unasked = batch.entries.filter(entry => of(entry) === undefined)
  if (unasked.length > 0) return { batch: { ...batch, entries: unasked }, time: 1 }
  const unread = batch.entries.find(entry => {
    const record = of(entry)
    return record?.scores === null && record.time === 1
  })
  return unread === undefined ? null : { batch: aloneIn(batch, unread), time: 2 }
}

async function askOnce(
  { rubric, models, model, signal }: JudgesAsked,
  { batch, time }: Question,
): Promise<{ records: ScoreRecord[] } | { cut: Cut }> {
  const answer = await models.ask({ model, ...questionFor(rubric, batch) }, signal)
  const cut = await cutBy(answer, () => models.ask({ model, ...sameWithoutItems(rubric, batch) }, signal))
  if (cut !== null) return { cut }
  const read = answer.is === 'answered' && answer.complete ? readScores(answer.text, batch, rubric) : null
  const { judge } = batch
  return {
    records: batch.entries.map(({ key, item, side }) => {
      return { judge, item, side, time, scores: read?.get(key) ?? null }
    }),
  }
}

/**
 * What is printed must not be able to stop whoever asks: where a model takes the same question without the items, those
 * are what it does not take, and have no score. Where it takes neither, the key, the account or the model is no good, and
 * nothing is said of items.
 */
async function cutBy(answer: ModelAnswer, askWithout: () => Promise<ModelAnswer>): Promise<Cut | null> {
  if (answer.is === 'answered') return null
  if (answer.is !== 'not-taken') return answer
  const without = await askWithout()
  if (without.is === 'answered') return null
  return without.is === 'not-taken' ? { is: 'refused', reason: answer.reason } : without
}
