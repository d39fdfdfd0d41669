import { holdoutVerdict } from '../decide/holdout.ts'
import { plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { canonicalJson } from '../model/canonical.ts'
import { holdoutUses } from '../model/holdout.ts'
import type { HoldoutRule, HoldoutSource, Order } from '../model/order.ts'
import { namedSource } from '../spec/holdout-source.ts'
import type { Spec } from '../spec/schema.ts'
import type { Step } from './action.ts'
import { pauseOnce } from './alerts.ts'
import type { Arrivals } from './arrivals.ts'
import { endSteps } from './ending.ts'
import { assessmentOf, type Member } from './member.ts'
import type { Request } from './orders.ts'
import type { World } from './world.ts'

/** Proposers read reasons: this is all that one of them may say (docs/decisions/011-holdout.md). */
export const HOLDOUT_FAILED = 'holdout'

/** Where what would land stands with the holdout. */
export type Trial =
  /** Passed, or the spec has none, or a person asked for a change back. */
  { is: 'passed' } | { is: 'waiting'; requests: Request[]; steps: Step[] } | { is: 'ended'; steps: Step[] }

type Ruling = { campaign: Campaign; spec: Spec }

/** The rule of one use, as its runner, its verdict and the audit apply it. */
export function holdoutStop({ campaign, spec }: Ruling, source: HoldoutSource | null): HoldoutRule | null {
  const { holdout, stability, mode } = spec.measurement
  if (holdout === null) return null
  const { command, pairs, margin } = holdout
  const deterministic = campaign.calibration?.deterministic ?? mode === 'once'
  return {
    rule: 'holdout',
    command,
    metrics: [spec.metric.primary.name],
    scale: scaleOf({ campaign, spec }),
    pairs,
    margin,
    exact: stability === null && deterministic,
    source,
  }
}

/** ce's rules pin no scale: their thresholds are in the metric's own units, and so is the margin. */
function scaleOf({ campaign, spec }: Ruling): 'log' | 'linear' {
  const { scale } = spec.evidence
  if (spec.measurement.stability !== null) return scale === 'log' ? 'log' : 'linear'
  return campaign.calibration?.scale ?? (scale === 'linear' ? 'linear' : 'log')
}

/** Whether an order asks what the spec in force asks, of a holdout from the place it names. */
export function asksForHoldout(ruling: Ruling, stop: HoldoutRule): boolean {
  if (canonicalJson(holdoutStop(ruling, stop.source)) !== canonicalJson(stop)) return false
  const named = ruling.spec.measurement.holdout?.source ?? null
  const wanted = named === null ? null : namedSource(named)
  const { source } = stop
  if (wanted === null || source === null) return named === null && source === null
  if ('ref' in wanted) return 'ref' in source && source.ref === wanted.ref
  return 'environment' in source && source.environment === wanted.environment
}

/** A person asked for a change back: nothing was selected there that a holdout could guard against. */
export function needsHoldout(spec: Spec, experiment: Pick<Member['experiment'], 'purpose'>): boolean {
  return spec.measurement.holdout !== null && experiment.purpose !== 'revert'
}

/** Only what is about to land is tried on the holdout, one at a time, after everything else is decided. */
export function holdoutTrial(world: World, found: Arrivals, member: Member): Trial {
  const { experiment } = member
  if (!needsHoldout(world.spec, experiment)) return { is: 'passed' }
  const order = orderInForce(world, member)
  if (order === null) return ask(world, member, 1)
  const arrived = found.reports.get(order.id)
  if (arrived === undefined) return { is: 'waiting', requests: [], steps: [] }
  const { spec } = world
  const verdict = holdoutVerdict({ spec, stop: order.stop, report: arrived.report, label: experiment.id })
  switch (verdict.is) {
    case 'passed':
      return { is: 'passed' }
    case 'failed':
      return ended(member, order, arrived.event, 'dropped', HOLDOUT_FAILED)
    case 'refused':
      return ended(member, order, arrived.event, 'refused', verdict.reason)
    case 'again': {
      if (order.attempt < spec.execution.max_attempts) return ask(world, member, order.attempt + 1)
      const reason = `its holdout could not be measured (${order.attempt} attempts)`
      return ended(member, order, arrived.event, 'error', reason)
    }
    default:
      return verdict satisfies never
  }
}

type HoldoutOrder = Order & { stop: HoldoutRule }

function orderInForce(world: World, { experiment }: Member): HoldoutOrder | null {
  const { campaign, spec } = world
  const order = experiment.holdout === null ? undefined : campaign.orders[experiment.holdout]?.order
  if (order === undefined || order.stop.rule !== 'holdout') return null
  return asksForHoldout({ campaign, spec }, order.stop) ? { ...order, stop: order.stop } : null
}

/** What it gained stays with it; that it was found good on the metric is no verdict any more. */
function ended(
  member: Member,
  { id: order }: Order,
  cause: string,
  outcome: 'dropped' | 'refused' | 'error',
  reason: string,
): Trial {
  const found = assessmentOf(member)
  const assessment = found && {
    ...found,
    improved_objectives: [],
    rank_score: 0,
    failure_class: outcome === 'error' ? ('eval' as const) : ('hypothesis' as const),
  }
  return {
    is: 'ended',
    steps: endSteps({ experiment: member.experiment, order, outcome, assessment, reason, cause }),
  }
}

function ask(world: World, { experiment, measured }: Member, attempt: number): Trial {
  const waiting = { is: 'waiting' as const, requests: [], steps: [] }
  const { campaign, spec, holdout } = world
  const candidate = measured?.order.candidates.find(({ label }) => label === experiment.id)
  if (holdout === null || candidate === undefined) return waiting
  if ('missing' in holdout) return { ...waiting, steps: pauseOnce(world, missingText(holdout.missing)) }
  const stop = holdoutStop({ campaign, spec }, holdout.source)
  if (stop === null) return waiting
  if (isUsedUp(world, stop)) return { ...waiting, steps: pauseOnce(world, usedUpText(spec)) }
  const round = campaign.round?.number ?? 0
  const cause = experiment.opened
  return {
    ...waiting,
    requests: [{ purpose: 'holdout', round, attempt, cause, candidates: [candidate], stop }],
  }
}

export function isUsedUp({ campaign, spec }: Ruling, stop: HoldoutRule): boolean {
  return holdoutUses(campaign, stop) >= (spec.measurement.holdout?.max_uses ?? 0)
}

function missingText(what: string): string {
  return `the holdout cannot be found: ${what}.\nPut it there, or name another in measurement.holdout.source (winnow amend), then: winnow resume`
}

function usedUpText({ measurement }: Spec): string {
  const uses = measurement.holdout?.max_uses ?? 0
  return `the holdout was used ${plural(uses, 'time')} (measurement.holdout.max_uses), and nothing is merged without it.\nPut a fresh one in its place, or raise max_uses (winnow amend), then: winnow resume`
}
