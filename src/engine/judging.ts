import { UserError } from '../errors.ts'
import type { JudgingCut } from '../judge/ask-judges.ts'
import { buildBatches } from '../judge/batch.ts'
import { buildJudgedReport, type PrintedOrder, prepareJudging } from '../judge/judged-report.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import type { Report } from '../model/report.ts'
import type { ModelUsage } from '../ports.ts'
import type { Spec } from '../spec/schema.ts'
import { readModelAccess } from './model-access.ts'
import type { OrderFiles, StoredScores } from './order-files.ts'
import type { CampaignContext } from './place.ts'
import { scoreBatches } from './scoring.ts'

/** Has models score what was printed, one order after the other: money is counted before more of it is spent. */
export interface Judges {
  /** The campaign as the ledger has it, for what was spent. */
  see(campaign: Campaign): void
  report(asked: { order: Order; spec: Spec }, printed: PrintedOrder, signal: AbortSignal): Promise<Report>
}

type JudgingBudgetUse = Pick<Campaign, 'started' | 'orders'> & { usd: number }

export function createLocalJudges(place: CampaignContext, files: OrderFiles): Judges {
  let seen: JudgingBudgetUse | null = null
  let last: Promise<unknown> = Promise.resolve()

  return {
    see({ started, orders, spent: { usd } }) {
      seen = { started, orders, usd }
    },
    report(asked, printed, signal) {
      const mine = last.then(() => {
        if (seen === null) throw new Error('an order is judged before anybody looked at its campaign')
        return judgeOrder({ place, files, seen }, asked, printed, signal)
      })
      // Whoever asked hears of it: who comes next only waits.
      last = mine.catch(() => {})
      return mine
    },
  }
}

interface JudgingContext {
  place: CampaignContext
  files: OrderFiles
  seen: JudgingBudgetUse
}

async function judgeOrder(
  scene: JudgingContext,
  asked: { order: Order; spec: Spec },
  printed: PrintedOrder,
  signal: AbortSignal,
): Promise<Report> {
  const { place, files, seen } = scene
  const due = prepareJudging(asked, printed)
  if ('executions' in due) return due
  const { id } = asked.order
  const access = readModelAccess(place.env, due.judge.model)
  const told = files.scores(id) ?? buildEmptyScores(seen)
  place.progress.say(`${access.model} scores ${due.pairs.length} items of both sides`)
  let scored = told
  const { cut } = await scoreBatches({
    due,
    batches: buildBatches(due.pairs, due.judging),
    known: told.records,
    access,
    capUsd: due.judge.max_total_cost_usd,
    spentUsd: computeJudgingSpend(scene),
    clock: place.clock,
    random: place.random,
    env: place.env,
    async record(more, usage) {
      scored = addUsage(told, [...scored.records, ...more], usage)
      await files.score(id, scored)
      if (more.length > 0) place.faults.reach('judge:recorded')
    },
    signal,
  })
  const { requests, tokens, usd } = scored
  const cost = { model: access.model, requests, tokens, usd }
  if (cut !== null) return endJudging(cut, printed.report, cost)
  return buildJudgedReport(asked.order, printed, { ...due, records: scored.records, cost })
}

function buildEmptyScores({ started }: JudgingBudgetUse): StoredScores {
  return { started, records: [], requests: 0, tokens: 0, usd: 0 }
}

/** What the ledger has and the files of this machine have not yet told it; or more, where orders were given up. */
function computeJudgingSpend({
  files,
  seen: { started, orders, usd },
}: Pick<JudgingContext, 'files' | 'seen'>): number {
  const open = Object.values(orders).filter(({ report }) => report === null)
  const untold = open.reduce((sum, { order }) => sum + (files.scores(order.id)?.usd ?? 0), 0)
  return Math.max(usd + untold, files.judgingUsd(started))
}

function addUsage(
  { started, requests, tokens, usd }: StoredScores,
  records: StoredScores['records'],
  more: ModelUsage,
): StoredScores {
  return {
    started,
    records,
    requests: requests + more.requests,
    tokens: tokens + more.tokens,
    usd: usd + (more.usd ?? 0),
  }
}

/**
 * The campaign stops by what was spent. Whatever else came between is for a person, and goes on with the same order:
 * what was scored is known, and what was printed.
 */
function endJudging(cut: JudgingCut, report: Report, judging: NonNullable<Report['judging']>): Report {
  switch (cut.is) {
    case 'over-budget':
      return {
        ...report,
        judging,
        runner_error: `judging ended: ${cut.reason} (metric.judge.max_total_cost_usd)`,
      }
    case 'refused':
    case 'unreachable':
      throw new UserError(`no model could be asked to judge: ${cut.reason}`, {
        fix: 'mend it, then run again: what was measured and scored so far is kept',
      })
    default:
      return cut satisfies never
  }
}
