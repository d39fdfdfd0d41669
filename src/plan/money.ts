import { listPendingProposals } from '../model/fold/proposers.ts'
import { isJudgedOrder, type Order } from '../model/order.ts'
import type { ModelCost, Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { isMetered, listUncappedSpenders, type Spender } from '../spec/spec-facts.ts'
import type { World } from './world.ts'

/** judge: scores by models. propose: ideas for which winnow asks models. measure: model calls of a harness. */
export type SpendingPurpose = 'judge' | 'propose' | 'measure'

export const NO_COST: ModelCost = { requests: 0, tokens: 0, usd: 0 }

type MoneyFacts = Pick<World, 'campaign' | 'spec' | 'setAsideUsd' | 'answers' | 'scores' | 'runs'>

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

interface SetAside {
  purpose: SpendingPurpose
  usd: number
}

/** What may yet be spent, with the most that it may be, and what is spent and not in the ledger yet. */
function listSetAside(world: MoneyFacts): SetAside[] {
  const { campaign, spec, setAsideUsd, answers, scores, runs } = world
  const answered = new Map(answers.map(({ key, cost }) => [key, cost?.usd ?? 0]))
  const scored = new Map(scores.map(({ key, usd }) => [key, usd]))
  const proposals = listPendingProposals(campaign).filter(({ key }) => !answered.has(key))
  return [
    { purpose: 'propose', usd: setAsideUsd },
    ...[...answered.values()].map((usd): SetAside => ({ purpose: 'propose', usd })),
    ...proposals.map(({ may_cost_usd }): SetAside => ({ purpose: 'propose', usd: may_cost_usd ?? 0 })),
    ...Object.values(campaign.judging).map(({ key, may_cost_usd }): SetAside => {
      return { purpose: 'judge', usd: scored.get(key) ?? may_cost_usd ?? 0 }
    }),
    ...Object.values(campaign.orders).map(({ order, report, scores: recorded }): SetAside => {
      const run = runs.get(order.id)
      const known = run?.state === 'reported' && recorded === null ? sumReportedCost(run.report) : null
      const usd = report === null ? (known ?? order.may_cost_usd ?? 0) : 0
      return { purpose: isJudgedOrder(order, spec) ? 'judge' : 'measure', usd }
    }),
  ]
}

function sumReportedCost({ judging, metered }: Pick<Report, 'judging' | 'metered'>): number {
  return (judging?.usd ?? 0) + (metered?.usd ?? 0)
}

/** One request or order gets a part of the money left, so that one lost job does not use it up. */
const SHARE_DIVISOR = 4

export function takeShare(left: number): number {
  return left / SHARE_DIVISOR
}

/** `ruler`: set where the order has another spec than the one in force. */
type PricedOrder = Pick<Order, 'stop' | 'purpose' | 'attempt'> & { ruler?: { spec: Spec } }

/**
 * The dollars to set aside for each order: `{}` where it asks no model or nothing caps it, null where no money is left
 * for it now. An order that is repeated gets all that is left, because its first part may have been too small.
 */
export function setOrderMoneyAside(
  world: MoneyFacts & Pick<World, 'runner'>,
  orders: readonly PricedOrder[],
): (Pick<Order, 'may_cost_usd'> | null)[] {
  let taken = 0
  return orders.map(({ attempt, ruler: { spec } = world, ...order }) => {
    // On GitHub a job of its own asks the judges, and its request sets money aside.
    const isJudgedHere = isJudgedOrder(order, spec) && world.runner.runId !== null
    if (!isJudgedHere && !isMetered(spec)) return {}
    const left = computeMoneyLeft({ ...world, spec }, isJudgedHere ? 'judge' : 'measure')
    if (left === null) return {}
    // Probes are worth a part of the money, and not all of it.
    const isLastTry = attempt > 1 && order.purpose !== 'probe'
    const may_cost_usd = isLastTry ? left - taken : takeShare(left - taken)
    if (!(may_cost_usd > 0)) return null
    taken += may_cost_usd
    return { may_cost_usd }
  })
}

/** What would spend money that nothing caps, and no person has allowed. */
export function listForbiddenSpenders(
  { uncapped }: Pick<World['campaign'], 'uncapped'>,
  spec: Spec,
): Spender[] {
  return listUncappedSpenders(spec).filter(spender => !uncapped.includes(spender))
}

export function describeForbiddenSpending(spenders: readonly Spender[]): string {
  const caps = ['stopping.max_total_cost_usd', ...(spenders.includes('judges') ? [JUDGE_CAP] : [])]
  return `nothing caps what ${spenders.join(' and ')} may spend on models (${caps.join(', ')})`
}

const JUDGE_CAP = 'metric.judge.max_total_cost_usd'
