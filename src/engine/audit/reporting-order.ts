import type { Campaign, Landing } from '../../model/campaign.ts'
import { toCanonicalJson } from '../../model/canonical.ts'
import type { Point } from '../../model/ids.ts'
import { EFFECT_JOBS, type Order, type ReportingPurpose } from '../../model/order.ts'
import type { PairJob } from '../../model/pairs.ts'
import { findMeasuredLanding } from '../../plan/effect-reading.ts'
import { isSamePoint } from './same-point.ts'

/** An effect is of what landed on what it landed on, or it could be made as large as somebody likes. */
export function findReportingGaps(campaign: Campaign, order: Order, purpose: ReportingPurpose): string[] {
  const [candidate, ...more] = order.candidates
  if (candidate?.label !== 'incumbent' || more.length > 0)
    return [`an order for ${purpose} measures one commit`]
  const wanted = findMeasuredSpan(campaign, order, purpose)
  if (wanted === null) return [`it measures ${candidate.head}, which is no landing in force`]
  const { from, to, carried } = wanted
  const gaps: string[] = []
  if (!isSamePoint(order.base, from)) gaps.push(`its base is ${order.base.commit}, not ${from.commit}`)
  if (!isSamePoint({ commit: candidate.head, tree: candidate.tree }, to))
    gaps.push(`it measures tree ${candidate.tree} of ${candidate.head}, not ${to.tree} of ${to.commit}`)
  if (!hasItsPart(order, purpose))
    gaps.push(`job ${order.part ?? 'without a number'} is none of its ${EFFECT_JOBS} jobs`)
  if (toCanonicalJson(order.carried['incumbent'] ?? []) !== toCanonicalJson(carried))
    gaps.push('the pairs it carries are not those that were measured')
  return gaps
}

/** More jobs than their fixed number would let the best of them be chosen. */
function hasItsPart({ part }: Order, purpose: ReportingPurpose): boolean {
  return purpose === 'progression' ? part !== undefined && part < EFFECT_JOBS : part === undefined
}

interface MeasuredSpan {
  from: Point
  to: Point
  carried: readonly PairJob[]
}

function findMeasuredSpan(campaign: Campaign, order: Order, purpose: ReportingPurpose): MeasuredSpan | null {
  const { reference: from, incumbent: to } = campaign
  if (purpose === 'progression') return { from, to, carried: [] }
  const landing = findMeasuredLanding(campaign, order)
  if (landing === null) return null
  return purpose === 'effect'
    ? toLandingSpan(landing)
    : { from: landing.base, to, carried: landing.watch.jobs }
}

function toLandingSpan({ base: from, commit, tree }: Landing): MeasuredSpan {
  return { from, to: { commit, tree }, carried: [] }
}
