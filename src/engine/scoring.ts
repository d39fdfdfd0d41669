import { createWebFetch } from '../forge/web.ts'
import { askJudges, type JudgingCut } from '../judge/ask-judges.ts'
import type { Batch } from '../judge/batch.ts'
import type { JudgingTask } from '../judge/judged-report.ts'
import type { ScoreRecord } from '../model/score-record.ts'
import { openBudget } from '../models/budget.ts'
import { createChatModels } from '../models/chat.ts'
import type { Clock, ModelUsage, RandomSource } from '../ports.ts'
import type { ModelAccess } from './model-access.ts'

export interface ScoringRequest {
  due: Pick<JudgingTask, 'rubric'>
  batches: readonly Batch[]
  /** What was said before: none of it is asked again. */
  known: readonly ScoreRecord[]
  access: ModelAccess
  /** Null: as much as it takes. */
  capUsd: number | null
  /** Under the same cap, before. */
  spentUsd: number
  clock: Clock
  random: RandomSource
  env: Readonly<Record<string, string>>
  /** What one request told, and what it has all come to, before the next is made. */
  record: (told: readonly ScoreRecord[], usage: ModelUsage) => void | Promise<void>
  signal: AbortSignal
}

/** Has models score one order, until all is scored or something comes between. */
export async function scoreBatches(
  scoring: ScoringRequest,
): Promise<{ usage: ModelUsage; cut: JudgingCut | null }> {
  const { due, batches, known, access, clock, random, env, record, signal, capUsd, spentUsd } = scoring
  const { endpoint, key, model, price } = access
  const budget = openBudget({ model, capUsd, price, spentUsd })
  const models = createChatModels({ endpoint, key, budget, clock, random, web: createWebFetch(env) })
  try {
    const { cut } = await askJudges({
      rubric: due.rubric,
      batches,
      known,
      models,
      model,
      record: told => record(told, models.usage()),
      signal,
    })
    return { usage: models.usage(), cut }
  } finally {
    // A request that was cut off has cost something, whoever ends it.
    await record([], models.usage())
  }
}
