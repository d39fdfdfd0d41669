import { buildSnapshot, mergeJobsIntoSnapshot } from '../decide/metrics.ts'
import { listPairJobs } from '../decide/paired/assess.ts'
import type { HoldFinding } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import { type EventDraft, removeEnvelope } from '../model/event.ts'
import { type Experiment, isPicked, listSubjects } from '../model/experiment.ts'
import type { OrderId } from '../model/ids.ts'
import { toMeasuredRun } from '../model/pairs.ts'
import { buildMachineKey, getAggregation } from '../model/report.ts'
import { formatReason, parseReason } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import type { LandedStep, MergeFacts, PlanAction, PlanStep, PlanWaiting } from './action.ts'
import { explainUnapproved } from './approvals.ts'
import {
  buildDecidedDraft,
  type Decision,
  getAssessment,
  type MeasuredOrder,
  type RoundMember,
} from './judgement.ts'
import { createPullFinder, type PullFacts, type World } from './world.ts'

/** The ledger has the verdict before the merge is requested: winnow recognises the merge (invariant 7). */
interface DueMerge extends MergeFacts {
  experiment: Experiment
  decided: EventDraft<'decided'>
}

interface LandingPlan {
  steps: PlanStep[]
  actions: PlanAction[]
  /** No other work begins meanwhile: it would be measured against a base that is about to be replaced. */
  waiting: PlanWaiting
}

/** After this many interruptions an experiment waits for a retry, which grants as many again. */
export const MAX_INTERRUPTIONS = 5

// Landings that GitHub or a person merges

export function planLanding(world: World): LandingPlan | null {
  const due = findDueMerge(world)
  if (due === null) return null
  const { experiment, decided, ...merge } = due
  const { spec } = world
  const obstacle = explainLapsedApproval(world, experiment)
  if (obstacle !== null) {
    const waiting = waitForPerson(`${experiment.id} cannot be merged: ${obstacle}`)
    return { steps: [buildWithdrawStep(experiment, obstacle)], actions: [], waiting }
  }
  if (isLandedDirectly(spec)) {
    const landing = { step: 'land', decided, recorded: true, ...merge } as const
    return { steps: [landing], actions: [], waiting: waitForPerson(`${experiment.id} is landing`) }
  }
  const pull = createPullFinder(world)(experiment)
  if (pull?.state === 'merged') return handleEarlierMerge(world, experiment, pull)
  const where = pull === undefined ? '' : ` (#${pull.number})`
  if (!spec.merge.auto) {
    const what = `${experiment.id}${where} is kept: merge it unchanged, and the campaign continues`
    return { steps: [], actions: [], waiting: waitForPerson(what) }
  }
  const canMerge = pull !== undefined && !(experiment.owned && pull.draft === true)
  const actions: PlanAction[] = canMerge
    ? [{ do: 'merge', number: pull.number, experiment: experiment.id }]
    : []
  return { steps: [], actions, waiting: waitForPerson(`${experiment.id}${where} waits to be merged`) }
}

function findDueMerge(world: World): DueMerge | null {
  const { landing, experiments, orders } = world.campaign
  if (landing === null) return null
  const { decided } = landing
  const experiment = experiments[decided.experiment]
  const live = decided.order === null ? undefined : orders[decided.order]
  if (experiment?.status !== 'landing' || !live?.report) return null
  const measured = { order: live.order, report: live.report.report }
  const merge = buildMerge(world, { experiment, measured, cause: decided.cause })
  return merge && { experiment, decided: removeEnvelope(decided), ...merge }
}

function buildMerge(
  world: World,
  { experiment, measured, cause }: { experiment: Experiment; measured: MeasuredOrder; cause: string },
): MergeFacts | null {
  const { order } = measured
  const candidate = order.candidates.find(entry => entry.label === experiment.id)
  if (!candidate) return null
  const { key } = experiment.source
  const undone =
    experiment.purpose === 'revert'
      ? world.campaign.steered.find(({ event }) => key === `revert:${event}`)
      : undefined
  return {
    candidate,
    base: order.base,
    pull: createPullFinder(world)(experiment)?.number ?? experiment.pull,
    undoes: undone?.experiment ?? null,
    baseline: buildNextBaseline(world, experiment, measured, cause),
  }
}

/**
 * The landed tree was just measured. Under other modes of `stability` the incumbent is measured again, except where
 * the order was a pass of a suite.
 */
function buildNextBaseline(
  world: World,
  experiment: Experiment,
  { order, report }: MeasuredOrder,
  cause: string,
): EventDraft<'baseline-measured'> | null {
  const { stability, suite } = world.spec.measurement
  if (stability !== null && stability.mode !== 'stable' && suite === null) return null
  const candidate = order.candidates.find(entry => entry.label === experiment.id)
  if (!candidate) return null
  const last = buildSnapshot(world.spec, report, experiment.id)
  const by = { aggregation: getAggregation(world.spec), primary: world.spec.metric.primary.name }
  const jobs = order.stop.rule === 'paired' ? listPairJobs(order, toMeasuredRun(report), experiment.id) : []
  return {
    kind: 'baseline-measured',
    cause,
    order: order.id,
    side: experiment.id,
    tree: candidate.tree,
    machine: buildMachineKey(report.machine),
    harness: order.harness,
    snapshot: mergeJobsIntoSnapshot(last, jobs, by),
  }
}

/** An amendment may withdraw an approval while GitHub or a person has the merge to make. */
export function explainLapsedApproval(world: World, experiment: Experiment): string | null {
  return explainUnapproved(world, experiment, world.candidates.get(experiment.id), 'withdrawn')
}

function waitForPerson(what: string): PlanWaiting {
  return { for: 'person', what }
}

export function buildWithdrawStep({ id }: Experiment, reason: string): PlanStep {
  return { step: 'close', experiment: id, outcome: 'withdrawn', reason, keep: true }
}

/** True: verdict and merge are one push. False: the verdict is recorded before the merge is requested. */
function isLandedDirectly({ merge }: Pick<Spec, 'merge'>): boolean {
  return merge.auto && merge.via === 'push'
}

const MERGE_LAG_MS = 600_000

/** A branch that still lacks the merge after `MERGE_LAG_MS` was moved away from it. */
function handleEarlierMerge(world: World, experiment: Experiment, pull: PullFacts): LandingPlan {
  const since = Date.parse(world.now) - Date.parse(pull.closed_at ?? world.now)
  const waiting = waitForPerson(`#${pull.number} is merged, but the merge is not on its branch yet`)
  if (since < MERGE_LAG_MS) return { steps: [], actions: [], waiting }
  const reason = `its pull request #${pull.number} was merged, and the branch was then moved off that merge`
  return { steps: [buildWithdrawStep(experiment, reason)], actions: [], waiting }
}

/** The baseline after the due merge; null if more than its one report is needed. */
export function findDueBaseline(world: World): EventDraft<'baseline-measured'> | null {
  return findDueMerge(world)?.baseline ?? null
}

/** Invariant 1: a landing is one commit on the recorded incumbent with exactly the measured tree. */
export function recordLandedMerge(world: World): LandedStep[] {
  const due = findDueMerge(world)
  const { mergeCommit: made } = world
  if (due === null || !made || world.optimizeTip?.commit !== made.commit) return []
  if (explainLapsedApproval(world, due.experiment) !== null) return []
  const { experiment, decided: _, ...merge } = due
  const [first, ...others] = made.parents
  const itself = made.tree === merge.candidate.tree && first === world.campaign.incumbent.commit
  if (!itself || others.some(other => other !== merge.candidate.head)) return []
  const { landing } = world.campaign
  const via = landing && made.names === `${landing.decided.seq}:${landing.sha256}` ? 'api' : 'person'
  return [{ step: 'landed', experiment: experiment.id, commit: made.commit, via, ...merge }]
}

// Verdicts without a landing

export function closeExperiment(decision: Decision): PlanStep[] {
  const { experiment, outcome, reason } = decision
  return [
    { step: 'event', draft: buildDecidedDraft(decision) },
    { step: 'close', experiment: experiment.id, outcome, reason, keep: true },
  ]
}

/** Closes a member that cannot improve any more. If it disproves determinism, that is recorded with it. */
export function closeMember(campaign: Campaign, member: RoundMember): PlanStep[] {
  const { judgement, experiment, measured, cause } = member
  if (measured === null) return []
  if (judgement?.is !== 'not-proven' && judgement?.is !== 'final') return []
  const { assessment, reason } = judgement
  const order = measured.order.id
  const decision = { experiment, order, assessment, reason, cause }
  // The pull request stays open and the pairs are kept.
  if (judgement.is === 'not-proven') {
    const draft = buildDecidedDraft({ ...decision, outcome: 'inconclusive', stays_open: true })
    return [{ step: 'event', draft }]
  }
  const steps = closeExperiment({ ...decision, outcome: judgement.outcome })
  return assessment.determinism_lost
    ? [...steps, recordLostDeterminism(campaign, { order, cause, reason })]
    : steps
}

/** One mismatch ends the assumption of determinism for the campaign. */
export function recordLostDeterminism(
  campaign: Campaign,
  shown: { order: OrderId; cause: string; reason: string },
): PlanStep {
  const scale = campaign.calibration?.scale ?? 'linear'
  return { step: 'event', draft: { kind: 'calibrated', deterministic: false, scale, noise: null, ...shown } }
}

export function buildRequeueStep(
  { experiment, cause }: Pick<RoundMember, 'experiment' | 'cause'>,
  why: EventDraft<'requeued'>['why'],
  reason: string,
  findings?: HoldFinding[],
): PlanStep {
  const about = { kind: 'requeued', cause, experiment: experiment.id, why, reason } as const
  return { step: 'event', draft: findings === undefined ? about : { ...about, findings } }
}

export function closeNotSelected(member: RoundMember, why: string): PlanStep[] {
  const { experiment, cause, measured } = member
  const assessment = getAssessment(member)
  const reason = formatNotTakenReason(why, assessment?.reason)
  const order = measured?.order.id ?? null
  return closeExperiment({ experiment, order, outcome: 'not_selected', assessment, reason, cause })
}

/** States the measured result first, then why the change was not taken. */
export function formatNotTakenReason(why: string, measured: string | undefined): string {
  if (measured === undefined || measured === '') return why
  const { sentence, evidence } = parseReason(measured)
  const [text, end] = sentence.endsWith('.') ? [sentence.slice(0, -1), '.'] : [sentence, '']
  return formatReason({ sentence: `${text}, but ${why}${end}`, evidence })
}

// Verdicts with a landing

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

// Losses and reverts

/** The losses prove nothing against the idea, so it is not proven, with its pairs (decision 039). */
export function stopAfterRepeatedLoss(world: World): PlanStep[] {
  const stuck = listSubjects(world.campaign).filter(
    ({ status, interrupted }) =>
      (status === 'queued' || status === 'measured') && interrupted >= MAX_INTERRUPTIONS,
  )
  return stuck.map(experiment => ({
    step: 'event',
    draft: buildDecidedDraft({
      experiment,
      order: null,
      outcome: 'inconclusive',
      assessment: null,
      reason: describeInterruptions(experiment.interrupted),
      cause: `${experiment.opened} interrupted ${experiment.resumed}`,
      stays_open: !isPicked(experiment),
    }),
  }))
}

export function describeInterruptions(times: number): string {
  return `measuring was interrupted ${times} times; a retry continues where it stopped`
}

/** Reverts a landing at once only if the tree without it was measured. Other reverts are experiments. */
export function planDirectReverts(world: World): PlanStep[] {
  const { campaign } = world
  for (const request of campaign.steered) {
    const facts = request.action === 'revert' ? world.reverts.get(request.event) : undefined
    if (!facts || 'conflict' in facts.result || facts.result.measuredIn === null) continue
    const { tree, measuredIn } = facts.result
    const { landing: experiment } = facts
    const { incumbent: from } = campaign
    return [{ step: 'revert', experiment, tree, from, measuredIn, cause: request.event }]
  }
  return []
}
