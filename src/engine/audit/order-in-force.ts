import type { Campaign } from '../../model/campaign.ts'
import { canonicalJson } from '../../model/canonical.ts'
import type { Point } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { Spec } from '../../spec/schema.ts'

/** Invariant 4: an order asks with the ruler in force when it was issued, against the incumbent of that time. */
export function orderGaps(campaign: Campaign, spec: Spec | null, order: Order): string[] {
  const gaps: string[] = []
  if (!samePoint(order.base, campaign.incumbent)) {
    gaps.push(`its base is ${order.base.commit}, the incumbent was ${campaign.incumbent.commit}`)
  }
  if (order.purpose !== 'sync') gaps.push(...rulerGaps(campaign, order))
  const stop = spec === null ? 'the spec in force cannot be read' : stopGap(campaign, spec, order)
  if (stop !== null) gaps.push(stop)
  return gaps
}

/** A sync brings a ruler of its own, which its own proof looks at. */
function rulerGaps(campaign: Campaign, order: Order): string[] {
  const gaps: string[] = []
  if (order.spec_sha256 !== campaign.spec_sha256) {
    gaps.push(`its spec is ${order.spec_sha256.slice(0, 12)}, not ${campaign.spec_sha256.slice(0, 12)}`)
  }
  if (order.harness !== campaign.harness) {
    gaps.push(`its harness is ${order.harness.slice(0, 12)}, not ${campaign.harness.slice(0, 12)}`)
  }
  if (!samePoint(order.pin, campaign.pin))
    gaps.push(`its pin is ${order.pin.commit}, not ${campaign.pin.commit}`)
  return gaps
}

/** A looser stop rule than the spec's would let a smaller gain pass, so it has to be the spec's own. */
function stopGap(campaign: Campaign, spec: Spec, { purpose, stop }: Order): string | null {
  switch (purpose) {
    case 'calibration':
      return stop.rule === 'calibrate' ? null : `it calibrates by the rule ${stop.rule}`
    case 'baseline':
    case 'sync':
      return stop.rule === 'alone' ? null : `a ${purpose} is measured alone, not by the rule ${stop.rule}`
    case 'experiment':
    case 'combination':
    case 'foreign':
    case 'revert':
      return comparisonGap(campaign, spec, stop)
    default:
      return purpose satisfies never
  }
}

function comparisonGap(campaign: Campaign, spec: Spec, stop: Order['stop']): string | null {
  const { stability, baseline, mode } = spec.measurement
  if (stability !== null) {
    if (stop.rule !== 'stability') return `it compares by the rule ${stop.rule}, the spec says stability`
    const stored = baseline === 'fresh' ? null : (campaign.baseline?.snapshot ?? 'none measured')
    if (canonicalJson(stop.baseline) === canonicalJson(stored)) return null
    return 'its baseline is not the one that was measured'
  }
  if (stop.rule !== 'once') return `it compares by the rule ${stop.rule}, the spec says once`
  if (!(campaign.calibration?.deterministic ?? mode === 'once'))
    return 'it takes the harness for deterministic, which was not shown'
  const wanted = spec.evidence.min_effect ?? 0
  return stop.min_effect === wanted ? null : `its min_effect is ${stop.min_effect}, the spec says ${wanted}`
}

export function samePoint(a: Point, b: Point): boolean {
  return a.commit === b.commit && a.tree === b.tree
}
