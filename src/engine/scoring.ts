import { webOf } from '../forge/web.ts'
import { askJudges, type Cut } from '../judge/ask-judges.ts'
import type { Batch } from '../judge/batch.ts'
import type { ToJudge } from '../judge/judged-report.ts'
import type { ScoreRecord } from '../model/score-record.ts'
import { openBudget } from '../models/budget.ts'
import { chatModels } from '../models/chat.ts'
import type { Clock, ModelUsage, Random } from '../ports.ts'
import type { ModelAccess } from './model-access.ts'

export interface Scoring {
  due: Pick<ToJudge, 'rubric'>
  batches: readonly Batch[]
  /** What was said before: none of it is asked again. */
  known: readonly ScoreRecord[]
  access: ModelAccess
  /** Null: as much as it takes. */
  capUsd: number | null
  /** Under the same cap, before. */
  spentUsd: number
  clock: Clock
  random: Random
  env: Readonly<Record<string, string>>
  /** What one request told, and what it has all come to, before the next is made. */
  record: (told: readonly ScoreRecord[], usage: ModelUsage) => void | Promise<void>
  signal: AbortSignal
}

/** Has models score one order, until all is scored or something comes between. */
export async function score(scoring: Scoring): Promise<{ usage: ModelUsage; cut: Cut | null }> {
  const { due, batches, known, access, clock, random, env, record, signal, capUsd, spentUsd } = scoring
  const { endpoint, key, model, price } = access
  const budget = openBudget({ model, capUsd, price, spentUsd })
  const models = chatModels({ endpoint, key, budget, clock, random, web: webOf(env) })
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
