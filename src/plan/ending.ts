import { buildMachineKey } from '../model/report.ts'
import { listPairJobs } from '../decide/paired/wants-more.ts'
import { mergeJobsIntoSnapshot, buildSnapshot } from '../decide/readings.ts'
import { getAggregation } from '../model/aggregate.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { EventDraft } from '../model/event.ts'
import type { OrderId } from '../model/ids.ts'
import { toMeasuredRun } from '../model/pairs.ts'
import { parseReason, formatReason } from '../model/reason.ts'
import type { MergeFacts, PlanStep } from './action.ts'
import { type Decision, buildDecidedDraft, type Judgement, type MeasuredOrder } from './judgement.ts'
import { getAssessment, type RoundMember } from './member.ts'
import { createPullFinder } from './pull-of.ts'
import type { Spec } from '../spec/schema.ts'
import type { World } from './world.ts'

/** The verdict and the closing of an experiment that does not land: one transaction. */
export function closeExperiment(decision: Decision): PlanStep[] {
  const { experiment, outcome, reason } = decision
  return [
    { step: 'event', draft: buildDecidedDraft(decision) },
    { step: 'close', experiment: experiment.id, outcome, reason, keep: true },
  ]
}

/** The verdict on a member that cannot become better; with it ends a belief in determinism it disproves. */
export function closeMember(campaign: Campaign, member: RoundMember): PlanStep[] {
  const { judgement, experiment, measured, cause } = member
  if (measured === null) return []
  if (judgement?.is === 'parked') return [buildNotProvenStep(experiment, measured.order.id, judgement, cause)]
  if (judgement?.is !== 'final') return []
  const { outcome, assessment, reason } = judgement
  const steps = closeExperiment({ experiment, order: measured.order.id, outcome, assessment, reason, cause })
  if (!assessment.determinism_lost) return steps
  return [...steps, recordLostDeterminism(campaign, { order: measured.order.id, cause, reason })]
}

/** Not proven: the verdict says so, the pull request stays open, the pairs stay with it. */
function buildNotProvenStep(
  experiment: Experiment,
  order: OrderId,
  { assessment, reason }: Extract<Judgement, { is: 'parked' }>,
  cause: string,
): PlanStep {
  const decision = {
    experiment,
    order,
    outcome: 'inconclusive',
    assessment,
    reason,
    cause,
    parked: true,
  } as const
  return { step: 'event', draft: buildDecidedDraft(decision) }
}

/** Any mismatch ends the belief for the campaign (decision.md 3.1.5). */
export function recordLostDeterminism(
  campaign: Campaign,
  shown: { order: OrderId; cause: string; reason: string },
): PlanStep {
  const scale = campaign.calibration?.scale ?? 'linear'
  return { step: 'event', draft: { kind: 'calibrated', deterministic: false, scale, noise: null, ...shown } }
}

/** Its verdict is not due: it waits in the queue again, and nothing of it is lost. */
export function buildRequeueStep(
  { experiment, cause }: Pick<RoundMember, 'experiment' | 'cause'>,
  why: EventDraft<'requeued'>['why'],
  reason: string,
): PlanStep {
  return { step: 'event', draft: { kind: 'requeued', cause, experiment: experiment.id, why, reason } }
}

export function closeNotSelected(member: RoundMember, why: string): PlanStep[] {
  const { experiment, cause, measured } = member
  const assessment = getAssessment(member)
  const reason = formatNotTakenReason(why, assessment?.reason)
  const order = measured?.order.id ?? null
  return closeExperiment({ experiment, order, outcome: 'not_selected', assessment, reason, cause })
}

/** What it was measured to be by itself, then why it was not taken. */
export function formatNotTakenReason(why: string, measured: string | undefined): string {
  if (measured === undefined || measured === '') return why
  const { sentence, evidence } = parseReason(measured)
  const [said, end] = sentence.endsWith('.') ? [sentence.slice(0, -1), '.'] : [sentence, '']
  return formatReason({ sentence: `${said}, but ${why}${end}`, evidence })
}

/** Exactly the measured tree lands, on exactly the base it was measured against (invariant 1). */
export function buildLandingSteps(
  world: World,
  member: RoundMember,
  outcome: 'kept' | 'runner_up_kept' | 'revert_landed',
): PlanStep[] {
  const { experiment, measured, judgement, cause } = member
  if (!measured || judgement?.is !== 'eligible') return []
  const { order } = measured
  const { assessment } = judgement
  const { reason } = assessment
  const decided = buildDecidedDraft({ experiment, order: order.id, outcome, assessment, reason, cause })
  const merge = buildMerge(world, { experiment, measured, cause })
  if (merge === null) return []
  return isLandedDirectly(world.spec)
    ? [{ step: 'land', decided, ...merge }]
    : [{ step: 'event', draft: decided }]
}

/** Its verdict and its merge are one push; else the verdict is recorded first, and the merge is asked for or awaited. */
export function isLandedDirectly({ merge }: Pick<Spec, 'merge'>): boolean {
  return merge.auto && merge.via === 'push'
}

/** What a merge of an experiment makes of the campaign, by the order that it was decided on. */
export function buildMerge(
  world: World,
  { experiment, measured, cause }: { experiment: Experiment; measured: MeasuredOrder; cause: string },
): MergeFacts | null {
  const { order } = measured
  const candidate = order.candidates.find(entry => entry.label === experiment.id)
  if (!candidate) return null
  return {
    candidate,
    base: order.base,
    pull: createPullFinder(world)(experiment)?.number ?? experiment.pull,
    undoes: findUndoneLanding(world, experiment),
    baseline: buildNextBaseline(world, experiment, measured, cause),
  }
}

function findUndoneLanding(world: World, experiment: Experiment): string | null {
  if (experiment.purpose !== 'revert') return null
  const wish = world.campaign.steered.find(({ event }) => experiment.source.key === `revert:${event}`)
  return wish?.experiment ?? null
}

/**
 * The landed tree was just measured, and its numbers serve as the new baseline: those of the one report that settled
 * it, or of all jobs whose pairs did. Under the other modes of `stability` the incumbent is measured afresh.
 */
function buildNextBaseline(
  world: World,
  experiment: Experiment,
  { order, report }: MeasuredOrder,
  cause: string,
): EventDraft<'baseline-measured'> | null {
  const stability = world.spec.measurement.stability
  if (stability !== null && stability.mode !== 'stable') return null
  const candidate = order.candidates.find(entry => entry.label === experiment.id)
  if (!candidate) return null
  const last = buildSnapshot(world.spec, report, experiment.id)
  const jobs = order.stop.rule === 'paired' ? listPairJobs(order, toMeasuredRun(report), experiment.id) : []
  return {
    kind: 'baseline-measured',
    cause,
    order: order.id,
    side: experiment.id,
    tree: candidate.tree,
    machine: buildMachineKey(report.machine),
    harness: order.harness,
    snapshot: mergeJobsIntoSnapshot(last, jobs, getAggregation(world.spec)),
  }
}
