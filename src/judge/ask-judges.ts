import type { ModelAnswer, Models } from '../ports.ts'
import { parseScores } from './answer.ts'
import { toSingleBatch, type Batch, type BatchEntry } from './batch.ts'
import { buildPrompt, buildPromptWithoutItems } from './prompt.ts'
import { getJudgedKey, selectCountedRecords } from './record.ts'
import { type ScoreRecord } from '../model/score-record.ts'
import type { Rubric } from './rubric.ts'

export interface JudgesRequest {
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
export type JudgingCut = Extract<ModelAnswer, { is: 'over-budget' | 'refused' | 'unreachable' }>

export interface JudgesAnswer {
  records: ScoreRecord[]
  cut: JudgingCut | null
}

/**
 * Batch after batch in the order that was drawn. What an answer has no score of is asked once more, each item alone:
 * one that spoils the answer it is in spoils its own only. What has a score is never asked again, whoever starts anew.
 */
export async function askJudges(asked: JudgesRequest): Promise<JudgesAnswer> {
  const records = [...asked.known]
  for (const batch of asked.batches) {
    for (
      let next = findNextQuestion(batch, records);
      next !== null;
      next = findNextQuestion(batch, records)
    ) {
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
  return batches.every(batch => findNextQuestion(batch, records) === null)
}

interface JudgeQuestion {
  batch: Batch
  time: ScoreRecord['time']
}

function findNextQuestion(batch: Batch, records: readonly ScoreRecord[]): JudgeQuestion | null {
  const standing = selectCountedRecords(records)
  const of = (entry: BatchEntry) => standing.get(getJudgedKey({ judge: batch.judge, ...entry }))
  const unasked = batch.entries.filter(entry => of(entry) === undefined)
  if (unasked.length > 0) return { batch: { ...batch, entries: unasked }, time: 1 }
  const unread = batch.entries.find(entry => {
    const record = of(entry)
    return record?.scores === null && record.time === 1
  })
  return unread === undefined ? null : { batch: toSingleBatch(batch, unread), time: 2 }
}

async function askOnce(
  { rubric, models, model, signal }: JudgesRequest,
  { batch, time }: JudgeQuestion,
): Promise<{ records: ScoreRecord[] } | { cut: JudgingCut }> {
  const answer = await models.ask({ model, ...buildPrompt(rubric, batch) }, signal)
  const cut = await findJudgingCut(answer, () =>
    models.ask({ model, ...buildPromptWithoutItems(rubric, batch) }, signal),
  )
  if (cut !== null) return { cut }
  const read = answer.is === 'answered' && answer.complete ? parseScores(answer.text, batch, rubric) : null
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
async function findJudgingCut(
  answer: ModelAnswer,
  askWithout: () => Promise<ModelAnswer>,
): Promise<JudgingCut | null> {
  if (answer.is === 'answered') return null
  if (answer.is !== 'not-taken') return answer
  const without = await askWithout()
  if (without.is === 'answered') return null
  return without.is === 'not-taken' ? { is: 'refused', reason: answer.reason } : without
}
