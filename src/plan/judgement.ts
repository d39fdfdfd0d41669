import { assessCandidate, describePrimaryChange } from '../decide/assess.ts'
import { type Assessment, RULE_VERSION } from '../decide/assessment.ts'
import { isLandedUnproven } from '../decide/epochs.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { Experiment } from '../model/experiment.ts'
import type { OrderId } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { appendAttempts, type Report } from '../model/report.ts'
import { formatReason, parseReason } from '../model/text.ts'
import { type Outcome, toVerdictWord } from '../model/verdict.ts'
import type { Spec } from '../spec/schema.ts'
import { selectComparison } from './orders.ts'
import type { IncomingReports } from './reports.ts'
import type { CandidateChange, World } from './world.ts'

/** The plan and `replay` judge a report with the same function (invariant 3). */
export type Judgement =
  | { is: 'eligible'; assessment: Assessment }
  /** `alone`: in a job of its own, with nothing beside it. */
  | { is: 'retry'; reason: string; alone: boolean }
  /** Its pairs so far are worth another job, on a fresh runner. */
  | { is: 'needs-more-pairs'; assessment: Assessment; reason: string }
  /** Its jobs are used up, or something other than the idea failed. It stays open and may be resumed. */
  | { is: 'not-proven'; assessment: Assessment; reason: string }
  | { is: 'final'; outcome: Outcome; assessment: Assessment; reason: string }

export interface MeasuredOrder {
  order: Order
  report: Report
}

export interface Decision {
  experiment: Experiment
  order: OrderId | null
  outcome: Outcome
  assessment: Assessment | null
  reason: string
  cause: string
  stays_open?: boolean
}

export interface RoundMember {
  experiment: Experiment
  measured: MeasuredOrder | null
  judgement: Judgement | null
  cause: string
}

// Judgement of one report

export function judgeExperiment(spec: Spec, experiment: Experiment, measured: MeasuredOrder): Judgement {
  const { order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const input = { spec, order, report, label: experiment.id, baseline }
  const assessment = assessCandidate(input)
  if (isBlameOpen(measured, experiment))
    return {
      is: 'retry',
      reason: `${assessment.reason}, if no other idea did: measured again alone`,
      alone: true,
    }
  if (assessment.retry) {
    const alone = report.tampered !== null
    if (order.attempt < spec.execution.max_attempts) return { is: 'retry', reason: assessment.reason, alone }
    // The base, the set-up of both sides or the machine failed, which says nothing against the idea.
    return { is: 'not-proven', assessment, reason: appendAttempts(assessment.reason, order.attempt) }
  }
  const isUnproven = isLandedUnproven(spec, experiment)
  if (experiment.purpose !== 'revert' && !isUnproven) return toJudgement(order, assessment)
  // The reason of a pairs rule has its own sentence; other rules show both numbers.
  const change =
    order.stop.rule === 'pairs' ? parseReason(assessment.reason).sentence : describePrimaryChange(input)
  return judgeUnproven(assessment, `every gate holds ${isUnproven ? 'with' : 'without'} it`, change)
}

/**
 * Without users of their own, another idea of the job or of the machine can change files while this one runs. An
 * idea is to blame if files changed while it ran alone.
 */
function isBlameOpen({ order, report }: MeasuredOrder, { id }: Pick<Experiment, 'id'>): boolean {
  if (report.tampered?.during !== id || !report.flags.includes('unisolated')) return false
  return order.attempt === 1 || order.candidates.length > 1
}

/** A revert, or an update that its epoch will judge: gates and constraints must hold, a gain is not expected. */
function judgeUnproven(assessment: Assessment, holds: string, change: string | null): Judgement {
  const { outcome, reason, determinism_lost: lost } = assessment
  if (lost) return { is: 'final', outcome: 'inconclusive', assessment, reason }
  if (outcome === 'promising') return { is: 'needs-more-pairs', assessment, reason }
  if (outcome !== 'eligible' && outcome !== 'dropped' && outcome !== 'inconclusive')
    return { is: 'final', outcome, assessment, reason }
  const sentence = `${holds}${change === null ? '' : `: ${change}`}`
  const { evidence } = parseReason(reason)
  return { is: 'eligible', assessment: { ...assessment, reason: formatReason({ sentence, evidence }) } }
}

function toJudgement({ purpose, stop }: Order, assessment: Assessment): Judgement {
  const { outcome, reason } = assessment
  if (outcome === 'eligible') return { is: 'eligible', assessment }
  if (outcome === 'promising') return { is: 'needs-more-pairs', assessment, reason }
  if (purpose === 'combination') return judgeCombination(assessment)
  if (outcome === 'inconclusive' && stop.rule === 'paired') return { is: 'not-proven', assessment, reason }
  return { is: 'final', outcome, assessment, reason }
}

/** Good alone, but not on top of the winner: the reason says what it did there. */
function judgeCombination(assessment: Assessment): Judgement {
  const { outcome, reason } = assessment
  if (outcome === 'refused') return { is: 'final', outcome, assessment, reason }
  const { sentence, evidence } = parseReason(reason)
  const effect = assessment.worse || outcome === 'censored' ? 'harmful' : 'neutral'
  const what = `promising alone, ${BROKEN_OUTCOMES.has(outcome) ? 'broken' : effect} in combination`
  const measured = sentence.replace(/^(?:worse|no gain): /, '')
  const combined = formatReason({ sentence: `${what}: ${measured}`, evidence })
  return { is: 'final', outcome: 'runner_up_dropped', assessment, reason: combined }
}

const BROKEN_OUTCOMES: ReadonlySet<Assessment['outcome']> = new Set(['degenerate', 'error', 'timeout'])

// Decisions and members of a round

export function buildDecidedDraft(decision: Decision): EventDraft<'decided'> {
  const { experiment, order, outcome, assessment, reason, cause, stays_open } = decision
  return {
    kind: 'decided',
    cause,
    experiment: experiment.id,
    order,
    outcome,
    verdict: toVerdictWord(outcome, assessment?.worse ?? false),
    rule_version: RULE_VERSION,
    reason,
    failure_class: assessment?.failure_class ?? null,
    primary_delta: assessment?.primary_delta ?? null,
    rank_score: assessment?.rank_score ?? 0,
    improved: assessment?.improved_objectives ?? [],
    violated: assessment?.violated_objectives ?? [],
    warnings: assessment?.warnings ?? [],
    stays_open: stays_open ?? false,
    given_up: stays_open === true ? (assessment?.given_up ?? null) : null,
  }
}

export function buildMember(
  world: Pick<World, 'campaign' | 'spec'>,
  experiment: Experiment,
  reports: IncomingReports['reports'],
): RoundMember {
  const live = experiment.order === null ? undefined : world.campaign.orders[experiment.order]
  const arrived = live && reports.get(live.order.id)
  if (!live || !arrived) return { experiment, measured: null, judgement: null, cause: experiment.opened }
  const measured = { order: live.order, report: arrived.report }
  const judged = judgeExperiment(world.spec, experiment, measured)
  const judgement = limitSimplification(world.campaign, experiment, measured, judged)
  return { experiment, measured, judgement, cause: arrived.event }
}

export function getAssessment(member: RoundMember): Assessment | null {
  return member.judgement?.is === 'eligible' ? member.judgement.assessment : null
}

// Simplifications

/** Null where the change may be judged as a simplification. */
export function explainNotSimplification(world: World, changes: readonly CandidateChange[]): string | null {
  if (selectComparison(world)?.by === 'numbers')
    return 'kind: simplify is shown to cost nothing by pairs, and this campaign compares numbers: submit it as an ordinary idea'
  const added = changes.reduce((sum, change) => sum + (change.added ?? 0), 0)
  const deleted = changes.reduce((sum, change) => sum + (change.deleted ?? 0), 0)
  if (deleted > added) return null
  return `kind: simplify has to remove lines, and this adds ${added} and removes ${deleted}`
}

/** Each may cost less than min_effect, and all of them together one min_effect. */
export function limitSimplification(
  { simplified }: Pick<Campaign, 'simplified'>,
  { purpose }: Pick<Experiment, 'purpose'>,
  { order }: MeasuredOrder,
  judgement: Judgement,
): Judgement {
  if (purpose !== 'simplify' || judgement.is !== 'eligible' || order.stop.rule !== 'paired') return judgement
  const { assessment } = judgement
  const { min_effect, scale } = order.stop
  const loss = Math.max(0, -(assessment.primary_delta ?? 0))
  if (simplified + loss <= min_effect) return judgement
  const formatLoss = (value: number) =>
    scale === 'log' ? `${(value * 100).toFixed(1)} %` : formatNumber(value)
  const reason = `it costs ${formatLoss(loss)}, and simplifications may cost ${formatLoss(min_effect)} in all, of which ${formatLoss(simplified)} is spent`
  const outcome = order.purpose === 'combination' ? 'runner_up_dropped' : 'dropped'
  return { is: 'final', outcome, assessment, reason }
}
