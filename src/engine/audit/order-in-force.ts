import { describeAwaitedPackages } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import { toCanonicalJson } from '../../model/canonical.ts'
import { findSubject } from '../../model/picked.ts'
import { isReportingPurpose, type Order, buildOrderSubject } from '../../model/order.ts'
import type { PairedRule } from '../../decide/paired/rule.ts'
import { isHoldoutInForce, isHoldoutUsedUp } from '../../plan/holdout.ts'
import {
  getCarriedJobs,
  buildPairedRule,
  buildPairsRule,
  getPickJobs,
  buildPickRule,
} from '../../plan/paired-order.ts'
import { isExactResumption } from '../../plan/resuming.ts'
import type { Spec } from '../../spec/schema.ts'
import { findReportingGaps } from './reporting-order.ts'
import { isSamePoint } from './same-point.ts'

/** Invariant 4: an order asks with the ruler in force when it was issued, against the incumbent of that time. */
export function findOrderGaps(campaign: Campaign, spec: Spec | null, order: Order): string[] {
  const gaps: string[] = []
  if (isReportingPurpose(order.purpose)) gaps.push(...findReportingGaps(campaign, order, order.purpose))
  else if (order.purpose === 'pick') gaps.push(...findPickGaps(campaign, order))
  else if (!isSamePoint(order.base, campaign.incumbent))
    gaps.push(`its base is ${order.base.commit}, the incumbent was ${campaign.incumbent.commit}`)
  gaps.push(...order.candidates.flatMap(({ label }) => findApprovalGaps(campaign, label)))
  if (order.purpose !== 'sync') gaps.push(...findOrderRulerGaps(campaign, order))
  if (!isExactResumption(campaign, order, buildOrderSubject(order)))
    gaps.push('it does not go on where the order that was lost had come to')
  const stop = spec === null ? 'the spec in force cannot be read' : findStopGap(campaign, spec, order)
  if (stop !== null) gaps.push(stop)
  return gaps
}

/** Nothing of a candidate runs before its packages are approved. */
function findApprovalGaps({ experiments, picks }: Campaign, label: string): string[] {
  const experiment = findSubject({ experiments, picks }, label)
  return experiment?.status === 'deferred'
    ? [`${label} was waiting for approval of ${describeAwaitedPackages(experiment)}`]
    : []
}

/** A sync brings a ruler of its own, which its own proof looks at. */
function findOrderRulerGaps(campaign: Campaign, order: Order): string[] {
  const gaps: string[] = []
  if (order.spec_sha256 !== campaign.spec_sha256) {
    gaps.push(`its spec is ${order.spec_sha256.slice(0, 12)}, not ${campaign.spec_sha256.slice(0, 12)}`)
  }
  if (order.harness !== campaign.harness) {
    gaps.push(`its harness is ${order.harness.slice(0, 12)}, not ${campaign.harness.slice(0, 12)}`)
  }
  if (!isSamePoint(order.pin, campaign.pin))
    gaps.push(`its pin is ${order.pin.commit}, not ${campaign.pin.commit}`)
  return gaps
}

/** A looser stop rule than the spec's would let a smaller gain pass, so it has to be the spec's own. */
function findStopGap(campaign: Campaign, spec: Spec, order: Order): string | null {
  const { purpose, stop } = order
  switch (purpose) {
    case 'calibration':
      return stop.rule === 'calibrate' || stop.rule === 'pairs'
        ? null
        : `it calibrates by the rule ${stop.rule}`
    case 'baseline':
    case 'sync':
      return stop.rule === 'alone' ? null : `a ${purpose} is measured alone, not by the rule ${stop.rule}`
    case 'effect':
    case 'progression':
    case 'regression':
      return findPairsGap(campaign, spec, stop)
    case 'experiment':
    case 'combination':
      return stop.rule === 'paired'
        ? findPairedGap(campaign, spec, order, stop)
        : findComparisonGap(campaign, spec, stop)
    case 'holdout':
      return findHoldoutRuleGap(campaign, spec, order)
    case 'pick':
      return findPickStopGap(campaign, spec, order)
    case 'foreign':
    case 'revert':
      return stop.rule === 'pairs'
        ? findPairsGap(campaign, spec, stop)
        : findComparisonGap(campaign, spec, stop)
    default:
      return purpose satisfies never
  }
}

/** One use more than the spec allows would let what was turned away be tried until it passes. */
function findHoldoutRuleGap(campaign: Campaign, spec: Spec, { stop, candidates }: Order): string | null {
  if (stop.rule !== 'holdout') return `a holdout is measured by its own rule, not by the rule ${stop.rule}`
  if (!isHoldoutInForce({ campaign, spec }, stop)) return 'its holdout is not the one the spec asks for'
  if (candidates.length !== 1) return `a holdout tries one candidate, not ${candidates.length}`
  return isHoldoutUsedUp({ campaign, spec }, stop) ? 'its holdout was used up before' : null
}

function findPairsGap(campaign: Campaign, spec: Spec, stop: Order['stop']): string | null {
  if (toCanonicalJson(stop) === toCanonicalJson(buildPairsRule({ campaign, spec }))) return null
  return 'its pairs are not those the spec asks for'
}

/** Terms easier to satisfy than the campaign's would keep what was not shown; pairs left out would be a re-roll. */
function findPairedGap(campaign: Campaign, spec: Spec, order: Order, stop: PairedRule): string | null {
  if (spec.measurement.stability !== null || campaign.calibration?.noise == null)
    return 'it is judged by pairs, for which the campaign was not calibrated'
  const purpose = order.purpose === 'combination' ? 'combination' : 'experiment'
  const members = order.candidates.map(({ label, tree }) => {
    const touched = stop.terms[label]?.touched ?? null
    return { id: label, tree, purpose, touched } as const
  })
  const wanted = buildPairedRule({ campaign, spec, singleMachine: stop.single_machine }, members)
  if (toCanonicalJson(stop) !== toCanonicalJson(wanted)) return 'its terms are not those of the campaign'
  const left = order.candidates.find(({ label, tree }) => {
    const experiment = campaign.experiments[label]
    const known = experiment ? getCarriedJobs(campaign, experiment, tree) : []
    return toCanonicalJson(order.carried[label] ?? []) !== toCanonicalJson(known)
  })
  return left ? `the pairs it carries of ${left.label} are not those that were measured` : null
}

/** One change alone is compared with the default branch as the campaign has it, and with nothing else. */
function findPickGaps(campaign: Campaign, { base, candidates }: Order): string[] {
  const [candidate, ...more] = candidates
  if (candidate === undefined || more.length > 0) return ['an order for a pick measures one commit']
  const pick = campaign.picks[candidate.label]
  if (pick === undefined) return [`${candidate.label} is no change taken alone`]
  const gaps: string[] = []
  if (base.commit !== campaign.default_tip || base.commit !== pick.base)
    gaps.push(`its base is ${base.commit}, the default branch was at ${campaign.default_tip}`)
  if (candidate.head !== pick.head) gaps.push(`it measures ${candidate.head}, not ${pick.head ?? 'nothing'}`)
  return gaps
}

function findPickStopGap(campaign: Campaign, spec: Spec, order: Order): string | null {
  const { stop, base, candidates } = order
  if (stop.rule !== 'paired') return findComparisonGap(campaign, withFreshBase(spec), stop)
  const [candidate] = candidates
  const pick = candidate && campaign.picks[candidate.label]
  if (pick === undefined) return 'it measures no change taken alone'
  const on = { base: base.tree, tree: candidate?.tree ?? '' }
  const wanted = buildPickRule({ campaign, spec, singleMachine: stop.single_machine }, pick, on)
  if (toCanonicalJson(stop) !== toCanonicalJson(wanted)) return 'its terms are not those of the campaign'
  const carried = order.carried[pick.id] ?? []
  if (toCanonicalJson(carried) === toCanonicalJson(getPickJobs(campaign, pick, on))) return null
  return `the pairs it carries of ${pick.id} are not those that were measured`
}

/** Stored numbers are the incumbent's: the default branch's own are measured beside it. */
function withFreshBase(spec: Spec): Spec {
  return { ...spec, measurement: { ...spec.measurement, baseline: 'fresh' } }
}

function findComparisonGap(campaign: Campaign, spec: Spec, stop: Order['stop']): string | null {
  const { stability, baseline, mode } = spec.measurement
  if (stability !== null) {
    if (stop.rule !== 'stability') return `it compares by the rule ${stop.rule}, the spec says stability`
    const stored = baseline === 'fresh' ? null : (campaign.baseline?.snapshot ?? 'none measured')
    if (toCanonicalJson(stop.baseline) === toCanonicalJson(stored)) return null
    return 'its baseline is not the one that was measured'
  }
  if (stop.rule !== 'once') return `it compares by the rule ${stop.rule}, the spec says once`
  if (!(campaign.calibration?.deterministic ?? mode === 'once'))
    return 'it takes the harness for deterministic, which was not shown'
  const wanted = spec.evidence.min_effect ?? 0
  return stop.min_effect === wanted ? null : `its min_effect is ${stop.min_effect}, the spec says ${wanted}`
}
