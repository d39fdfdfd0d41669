import type { Assessment } from '../decide/assessment.ts'
import { judgeHoldout } from '../decide/holdout.ts'
import { formatCount } from '../decide/wording.ts'
import { type Campaign, countHoldoutUses } from '../model/campaign.ts'
import { toCanonicalJson } from '../model/canonical-json.ts'
import type { Experiment } from '../model/experiment.ts'
import type { HoldoutRule, HoldoutSource, Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'
import { countSampleItems, isJudgedMetric, parseHoldoutSource } from '../spec/spec-facts.ts'
import { pauseCampaignOnce, type PlanStep } from './action.ts'
import { getAssessment, type RoundMember } from './judgement.ts'
import { closeExperiment } from './landing.ts'
import type { OrderRequest } from './orders.ts'
import type { IncomingReports } from './reports.ts'
import type { World } from './world.ts'

/** Proposers read reasons. This is all they may learn about the holdout (docs/decisions/011-holdout.md). */
export const HOLDOUT_FAILED_REASON = 'holdout'

export type HoldoutTrial =
  /** Passed, or no holdout applies: the spec has none, or the experiment is a revert. */
  | { is: 'passed' }
  | { is: 'waiting'; requests: OrderRequest[]; steps: PlanStep[] }
  | { is: 'ended'; steps: PlanStep[] }

type HoldoutContext = { campaign: Campaign; spec: Spec }

/** The runner, the verdict and the audit of one use apply this same rule. */
function buildHoldoutRule(
  { campaign, spec }: HoldoutContext,
  source: HoldoutSource | null,
): HoldoutRule | null {
  const { holdout, stability, mode } = spec.measurement
  if (holdout === null) return null
  const { command, margin } = holdout
  const { judge } = spec.metric
  const items = isJudgedMetric(spec) && judge !== null ? countSampleItems(judge) : 0
  // Pairs of items cost one run: as many as a sample has.
  const pairs = Math.max(holdout.pairs, items)
  const deterministic = campaign.calibration?.deterministic ?? mode === 'once'
  return {
    rule: 'holdout',
    command,
    metrics: [spec.metric.primary.name],
    scale: getHoldoutScale({ campaign, spec }),
    pairs,
    margin,
    exact: items === 0 && stability === null && deterministic,
    source,
  }
}

/** Rules of `measurement.stability` pin no scale: thresholds and margin are in the metric's own units. */
function getHoldoutScale({ campaign, spec }: HoldoutContext): 'log' | 'linear' {
  const { scale } = spec.evidence
  if (isJudgedMetric(spec)) return 'linear'
  if (spec.measurement.stability !== null) return scale === 'log' ? 'log' : 'linear'
  return campaign.calibration?.scale ?? (scale === 'linear' ? 'linear' : 'log')
}

/** Whether an order asks what the spec in force asks, of a holdout from the source it names. */
export function isHoldoutInForce(context: HoldoutContext, stop: HoldoutRule): boolean {
  if (toCanonicalJson(buildHoldoutRule(context, stop.source)) !== toCanonicalJson(stop)) return false
  const configured = context.spec.measurement.holdout?.source ?? null
  const wanted = configured === null ? null : parseHoldoutSource(configured)
  const { source } = stop
  if (wanted === null || source === null) return configured === null && source === null
  if ('ref' in wanted) return 'ref' in source && source.ref === wanted.ref
  return 'environment' in source && source.environment === wanted.environment
}

/** A revert needs no holdout: it was not selected by its numbers, which is what a holdout guards against. */
export function isHoldoutRequired(spec: Spec, { purpose }: Pick<Experiment, 'purpose'>): boolean {
  return spec.measurement.holdout !== null && purpose !== 'revert'
}

/** Tries only an experiment that is about to land, one at a time, after everything else is decided. */
export function tryHoldout(world: World, incoming: IncomingReports, member: RoundMember): HoldoutTrial {
  const { experiment } = member
  if (!isHoldoutRequired(world.spec, experiment)) return { is: 'passed' }
  const order = findHoldoutOrder(world, member)
  if (order === null) return requestHoldout(world, member, 1)
  const arrived = incoming.reports.get(order.id)
  if (arrived === undefined) return { is: 'waiting', requests: [], steps: [] }
  const { spec } = world
  const verdict = judgeHoldout({ spec, stop: order.stop, report: arrived.report, label: experiment.id })
  switch (verdict.is) {
    case 'passed':
      return { is: 'passed' }
    case 'failed':
      return endTrial(member, order, arrived.event, 'dropped', HOLDOUT_FAILED_REASON)
    case 'refused':
      return endTrial(member, order, arrived.event, 'refused', verdict.reason)
    case 'retry': {
      if (order.attempt < spec.execution.max_attempts) return requestHoldout(world, member, order.attempt + 1)
      const reason = `its holdout could not be measured (${order.attempt} attempts)`
      return endTrial(member, order, arrived.event, 'error', reason)
    }
    default:
      return verdict satisfies never
  }
}

type HoldoutOrder = Order & { stop: HoldoutRule }

function findHoldoutOrder(world: World, { experiment }: RoundMember): HoldoutOrder | null {
  const { campaign, spec } = world
  const order = experiment.holdout === null ? undefined : campaign.orders[experiment.holdout]?.order
  if (order === undefined || order.stop.rule !== 'holdout') return null
  return isHoldoutInForce({ campaign, spec }, order.stop) ? { ...order, stop: order.stop } : null
}

/** Keeps the measured gain, but not the verdict that it was good on the metric. */
function endTrial(
  member: RoundMember,
  { id: order }: Order,
  cause: string,
  outcome: 'dropped' | 'refused' | 'error',
  reason: string,
): HoldoutTrial {
  const found = getAssessment(member)
  const failure_class: Assessment['failure_class'] = outcome === 'error' ? 'eval' : 'hypothesis'
  const assessment = found && { ...found, improved_objectives: [], rank_score: 0, failure_class }
  const { experiment } = member
  return { is: 'ended', steps: closeExperiment({ experiment, order, outcome, assessment, reason, cause }) }
}

function requestHoldout(world: World, { experiment, measured }: RoundMember, attempt: number): HoldoutTrial {
  const waiting = { is: 'waiting' as const, requests: [], steps: [] }
  const { campaign, spec, holdout } = world
  const candidate = measured?.order.candidates.find(({ label }) => label === experiment.id)
  if (holdout === null || candidate === undefined) return waiting
  if ('missing' in holdout)
    return { ...waiting, steps: pauseCampaignOnce(world, describeMissingHoldout(holdout.missing)) }
  const stop = buildHoldoutRule({ campaign, spec }, holdout.source)
  if (stop === null) return waiting
  if (isHoldoutUsedUp(world, stop))
    return { ...waiting, steps: pauseCampaignOnce(world, describeUsedUpHoldout(spec)) }
  const round = campaign.round?.number ?? 0
  const about = { purpose: 'holdout', round, attempt, cause: experiment.opened } as const
  return { ...waiting, requests: [{ ...about, candidates: [candidate], stop }] }
}

export function isHoldoutUsedUp({ campaign, spec }: HoldoutContext, stop: HoldoutRule): boolean {
  return countHoldoutUses(campaign, stop) >= (spec.measurement.holdout?.max_uses ?? 0)
}

function describeMissingHoldout(what: string): string {
  return `the holdout cannot be found: ${what}.\nPut the holdout there, or name another one in measurement.holdout.source (winnow amend), then run winnow resume`
}

function describeUsedUpHoldout({ measurement }: Spec): string {
  const uses = measurement.holdout?.max_uses ?? 0
  return `the holdout was used ${formatCount(uses, 'time')} (measurement.holdout.max_uses), and winnow merges nothing without it.\nReplace it with a fresh one, or raise max_uses (winnow amend), then run winnow resume`
}
