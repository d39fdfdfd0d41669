import type { Campaign } from '../model/campaign.ts'
import { toCanonicalJson } from '../model/canonical.ts'
import type { Oid } from '../model/ids.ts'
import { isPairRule, type Order, type OrderTerms, type StopRule } from '../model/order.ts'
import type { Interruption } from '../model/interruption.ts'
import type { PairJob } from '../model/pairs.ts'

/**
 * An order that was lost is issued again with its coins: what takes one run is run again unchanged, pairs go on after
 * those that had begun (decision 039).
 */
export interface ResumedOrder {
  resumes: NonNullable<OrderTerms['resumes']>
  coins: string | null
}

type RepeatedOrder = Pick<OrderTerms, 'base' | 'candidates' | 'harness'> & { stop: StopRule }

/** Null where the trees, the harness or the rule are others than those of the lost orders. */
export function resumeOrder(
  interruptions: readonly Interruption[],
  again: RepeatedOrder,
): ResumedOrder | null {
  const [first, ...others] = interruptions
  if (first === undefined || others.some(({ order }) => order !== first.order)) return null
  if (!interruptions.every(each => isSameOrder(each, again))) return null
  const { order, block, coins } = first
  const labels = new Set<string>(again.candidates.map(({ label }) => label))
  const pieces: Record<string, PairJob> = {}
  for (const each of interruptions)
    for (const [label, piece] of Object.entries(each.pieces)) if (labels.has(label)) pieces[label] = piece
  return { resumes: { order, block, pieces }, coins }
}

function isSameOrder({ rule, base, harness, trees }: Interruption, again: RepeatedOrder): boolean {
  const { candidates } = again
  return (
    rule === again.stop.rule &&
    base === again.base.tree &&
    harness === again.harness &&
    candidates.every(({ label, tree }) => trees[label] === tree)
  )
}

/** Whether what was interrupted of this candidate still counts: the others of that order may have changed since. */
export function hasSameTrees(
  { base, harness, trees }: Interruption,
  again: { base: Oid; harness: string; label: string; tree: Oid },
): boolean {
  return base === again.base && harness === again.harness && trees[again.label] === again.tree
}

/** Whether an order resumes exactly what was interrupted: pairs left out, or drawn again, would be a re-roll. */
export function isExactResumption(campaign: Campaign, order: Order, subject: string): boolean {
  if (!isPairRule(order.stop)) return true
  const own = campaign.interruptions[subject]
  const members = order.candidates.flatMap(({ label, tree }) => {
    const found = campaign.experiments[label]?.interruption ?? campaign.picks[label]?.interruption ?? null
    const again = { base: order.base.tree, harness: order.harness, label, tree }
    return found !== null && found.rule === order.stop.rule && hasSameTrees(found, again) ? [found] : []
  })
  const known = members.length > 0 ? members : own === undefined ? [] : [own]
  const wanted = resumeOrder(known, order)
  if (wanted === null) return members.length === 0 && order.resumes === undefined
  const { resumes, coins } = order
  const sameCoins = wanted.coins === null || wanted.coins === coins
  if (resumes === undefined) return false
  return sameCoins && toCanonicalJson(resumes) === toCanonicalJson(wanted.resumes)
}
