import { listPendingProposals } from '../model/fold/proposers.ts'
import type { ModelCost } from '../model/report.ts'
import type { World } from './world.ts'

/** judge: scores by models. propose: ideas for which winnow asks models. measure: model calls of a harness. */
export type SpendingPurpose = 'judge' | 'propose' | 'measure'

export const NO_COST: ModelCost = { requests: 0, tokens: 0, usd: 0 }

type MoneyFacts = Pick<World, 'campaign' | 'spec' | 'setAsideUsd' | 'answers'>

/** Dollars that are neither spent nor set aside, under the caps of this purpose. Null: no cap. */
export function computeMoneyLeft(world: MoneyFacts, purpose: SpendingPurpose): number | null {
  const { campaign, spec } = world
  const { usd, usd_for } = campaign.spent
  const aside = listSetAside(world)
  const sum = (all: readonly { usd: number }[]) => all.reduce((total, each) => total + each.usd, 0)
  const judging = aside.filter(each => each.purpose === 'judge')
  const judgeCap = purpose === 'judge' ? (spec.metric.judge?.max_total_cost_usd ?? null) : null
  const left = [
    [spec.stopping.max_total_cost_usd, usd + sum(aside)],
    [judgeCap, (usd_for['judge'] ?? 0) + sum(judging)],
  ] as const
  const known = left.flatMap(([cap, used]) => (cap === null ? [] : [cap - used]))
  return known.length === 0 ? null : Math.min(...known)
}

/** What may yet be spent, or is spent and not in the ledger. It counts with the most that it may be. */
function listSetAside(world: MoneyFacts): { purpose: SpendingPurpose; usd: number }[] {
  const { campaign, setAsideUsd, answers } = world
  const toProposal = (usd: number) => ({ purpose: 'propose' as const, usd })
  const toJudging = (usd: number) => ({ purpose: 'judge' as const, usd })
  return [
    toProposal(setAsideUsd),
    ...answers.map(({ cost }) => toProposal(cost?.usd ?? 0)),
    ...listPendingProposals(campaign).map(({ may_cost_usd }) => toProposal(may_cost_usd ?? 0)),
    ...Object.values(campaign.judging).map(({ may_cost_usd }) => toJudging(may_cost_usd ?? 0)),
  ]
}

/** One request or order gets a part of the money left, so that one lost job does not use it up. */
const SHARE_DIVISOR = 4

export function takeShare(left: number): number {
  return left / SHARE_DIVISOR
}
