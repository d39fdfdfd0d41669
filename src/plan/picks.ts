import { computeEventId } from '../model/event.ts'
import { buildPickKey, isUnderWay, type PickedChange, type PickEnd } from '../model/experiment.ts'
import { buildCampaignRefs, type ExperimentId, formatExperimentId, toShortRef } from '../model/ids.ts'
import type { PlanAction, PlanStep } from './action.ts'
import { requestApprovals } from './approvals.ts'
import { findFreeNumber, type OpenedProposals, openNothing, refuseExperiment } from './intake.ts'
import { buildDecidedDraft, buildMember, type RoundMember } from './judgement.ts'
import { recordLostDeterminism } from './landing.ts'
import { type OrderRequest, selectComparison } from './orders.ts'
import { buildPickRule, getPickJobs, hasSingleMachine } from './paired-order.ts'
import type { IncomingReports } from './reports.ts'
import { createPullFinder, type PickFacts, type PullFacts, type World } from './world.ts'

/** One kept change alone, against the default branch. It is in no round; only a person merges it. */
interface PickPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
}

// Building and measuring picks

type PickRequest = World['campaign']['steered'][number]

export function listPickRequests({ campaign, picks }: Pick<World, 'campaign' | 'picks'>): PickRequest[] {
  return campaign.steered.filter(({ action, event }) => action === 'pick' && picks.has(event))
}

export function isPicking(world: Pick<World, 'campaign' | 'picks'>): boolean {
  return listPickRequests(world).length > 0 || Object.values(world.campaign.picks).some(isUnderWay)
}

/** Picks are in no round, so they may begin whenever an order may be issued. */
export function planPicks(world: World, incoming: IncomingReports, next = openNothing(world).next): PickPlan {
  if (world.targetBranch !== null) return { steps: [], requests: [] }
  const none: OpenedProposals = { steps: [], next }
  const opened = listPickRequests(world).reduce((before, request) => openPick(world, request, before), none)
  const changed = Object.values(world.campaign.picks).flatMap(pick => rebuildPick(world, pick))
  const approvals = requestApprovals(world, Object.values(world.campaign.picks), new Set())
  const steps = [...opened.steps, ...changed, ...approvals.steps]
  return { steps, requests: steps.length > 0 ? [] : requestPickOrders(world, incoming) }
}

function openPick(world: World, request: PickRequest, { steps, next }: OpenedProposals): OpenedProposals {
  const { campaign, spec } = world
  const facts = world.picks.get(request.event)
  const original = campaign.experiments[request.experiment]
  if (facts === undefined || original === undefined) return { steps, next }
  const id = formatExperimentId(next)
  const made = 'made' in facts.result ? facts.result.made : null
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const { hypothesis, category, required_deps } = original
  const idea = {
    hypothesis,
    category,
    required_deps,
    priority: 'high',
    family: null,
    learnings: null,
  } as const
  const draft = {
    kind: 'experiment-opened',
    cause: request.event,
    experiment: id,
    purpose: 'pick',
    picks: request.experiment,
    ...idea,
    source: { use: 'pick', key: buildPickKey(request.event) },
    pull: null,
    branch: made === null ? null : toShortRef(`${experiments}${id}`),
    owned: true,
    head: made?.commit ?? null,
    base: facts.base,
  } as const
  const opening: PlanStep[] = [...replaceEarlierPicks(world, request.experiment, id), { step: 'open', draft }]
  const why = explainFailedPick(world, facts)
  if (why !== null) opening.push(...refuseExperiment({ id, head: null, opened: computeEventId(draft) }, why))
  return { steps: [...steps, ...opening], next: findFreeNumber(world, next + 1) }
}

/** A pick on another commit of the default branch is replaced by one on this commit. */
function replaceEarlierPicks({ campaign }: World, landing: ExperimentId, by: ExperimentId): PlanStep[] {
  const earlier = Object.values(campaign.picks).filter(({ picks, closed }) => picks === landing && !closed)
  return earlier.map(pick => closePick(pick, 'replaced', `${by} picks ${landing} again`))
}

/** A verdict stays; a pick without one is withdrawn. */
export function closePick(
  { id, outcome, reason }: PickedChange,
  pick_end: PickEnd | null,
  why: string,
): PlanStep {
  const ending = { outcome: outcome ?? 'withdrawn', reason: reason ?? why, keep: outcome === null }
  return { step: 'close', experiment: id, ...ending, ...(pick_end === null ? {} : { pick_end }) }
}

function explainFailedPick({ campaign }: World, { landing, base, result }: PickFacts) {
  const where = `${toShortRef(campaign.default_branch)} at ${base.commit.slice(0, 10)}`
  if ('made' in result) return null
  if ('present' in result) return { code: 'present', message: `${where} has ${landing} already` }
  const paths = result.conflict.slice(0, 5).join(', ')
  const message = `${landing} does not apply to ${where} on its own: conflict in ${paths}, which other kept changes touch as well`
  return { code: 'conflict', message }
}

/** The default branch moved, or forbids the change now, before there was a verdict. */
function rebuildPick(world: World, pick: PickedChange): PlanStep[] {
  const { id, head, branch } = pick
  const facts = world.picks.get(id)
  if (pick.status === 'ended' || head === null || branch === null) return []
  if (facts === undefined) return [closePick(pick, null, `${pick.picks} was reverted`)]
  const candidate = world.candidates.get(id)
  const refusal = candidate?.merged === 'clean' ? candidate.refusal : null
  const why = explainFailedPick(world, facts) ?? refusal
  if (why !== null) return refuseExperiment(pick, why)
  if (!('made' in facts.result) || facts.result.made.commit === head) return []
  const cause = facts.base.commit
  const { commit: to } = facts.result.made
  const draft = { kind: 'head-moved', cause, experiment: id, from: head, to } as const
  return [{ step: 'rebuild-pick', draft, branch }]
}

export function judgePicks(world: World, incoming: IncomingReports): PlanStep[] {
  return Object.values(world.campaign.picks).flatMap(pick =>
    judgePick(world, buildMember(world, pick, incoming.reports)),
  )
}

export function judgePick({ campaign }: World, member: RoundMember): PlanStep[] {
  const { experiment, measured, judgement, cause } = member
  if (measured === null || judgement === null) return []
  if (judgement.is === 'retry' || judgement.is === 'needs-more-pairs') return []
  const { assessment } = judgement
  const order = measured.order.id
  const reason = judgement.is === 'eligible' ? assessment.reason : judgement.reason
  // The harness is not deterministic after all: the pick is measured again, by pairs.
  if (assessment.determinism_lost) return [recordLostDeterminism(campaign, { order, cause, reason })]
  const outcome =
    judgement.is === 'eligible' ? 'kept' : judgement.is === 'not-proven' ? 'inconclusive' : judgement.outcome
  const draft = buildDecidedDraft({ experiment, order, outcome, assessment, reason, cause })
  const decided: PlanStep = { step: 'event', draft }
  if (draft.verdict === 'broken' || draft.verdict === 'refused')
    return [decided, { step: 'close', experiment: experiment.id, outcome, reason, keep: true }]
  return experiment.head === null ? [decided] : [decided, { step: 'keep', heads: [experiment.head] }]
}

/** One order each: picks have no measurement in common. */
function requestPickOrders(world: World, incoming: IncomingReports): OrderRequest[] {
  return Object.values(world.campaign.picks).flatMap(pick => {
    const facts = world.picks.get(pick.id)
    if (facts === undefined || !('made' in facts.result) || facts.result.made.commit !== pick.head) return []
    if (world.candidates.get(pick.id)?.merged !== 'clean') return []
    const attempt = findNextAttempt(world, pick, incoming)
    if (attempt === null) return []
    const { tree } = facts.result.made
    const comparison = buildPickComparison(world, pick, { base: facts.base.tree, tree })
    if (comparison === null) return []
    const candidates = [{ label: pick.id, head: pick.head, tree }]
    const round = world.campaign.round?.number ?? 0
    const interrupted = pick.interruption === null ? [] : [pick.interruption]
    const about = { purpose: 'pick', round, attempt, interrupted, cause: pick.opened } as const
    return [{ ...about, candidates, base: facts.base, ...comparison }]
  })
}

/** Null where no order is due. */
function findNextAttempt(world: World, pick: PickedChange, incoming: IncomingReports): number | null {
  if (pick.status === 'queued') return pick.attempts + 1
  if (pick.status !== 'measured') return null
  const { judgement } = buildMember(world, pick, incoming.reports)
  if (judgement?.is === 'needs-more-pairs') return 1
  return judgement?.is === 'retry' ? pick.attempts + 1 : null
}

/** Stored numbers are the incumbent's, so the default branch is measured together with the pick. */
function buildPickComparison(
  world: World,
  pick: PickedChange,
  trees: { base: string; tree: string },
): Pick<OrderRequest, 'stop' | 'earlier_jobs'> | null {
  const comparison = selectComparison(world)
  if (comparison === null) return null
  if (comparison.by === 'numbers') {
    const { stop } = comparison
    return { stop: stop.rule === 'stability' ? { ...stop, baseline: null } : stop }
  }
  const { campaign, spec } = world
  const stop = buildPickRule({ campaign, spec, singleMachine: hasSingleMachine(world) }, pick, trees)
  return { stop, earlier_jobs: { [pick.id]: getPickJobs(campaign, pick, trees) } }
}

// The end of picks

/** Records once, in every campaign state, how people dealt with picks that were offered. */
export function planPickFates(world: World): { steps: PlanStep[]; actions: PlanAction[] } {
  const findPull = createPullFinder(world)
  const steps: PlanStep[] = []
  const actions: PlanAction[] = []
  for (const pick of Object.values(world.campaign.picks)) {
    const ending = pick.closed ? null : findPickEnding(world, pick, findPull(pick))
    if (ending === null) continue
    steps.push(closePick(pick, ending.pick_end, ending.why))
    if (pick.status === 'ordered' && pick.order !== null) actions.push({ do: 'cancel', order: pick.order })
  }
  return { steps, actions }
}

interface PickEnding {
  pick_end: PickEnd
  why: string
}

function findPickEnding(world: World, pick: PickedChange, pull: PullFacts | undefined): PickEnding | null {
  const { campaign } = world
  const into = toShortRef(campaign.default_branch)
  const number = pull === undefined ? '' : ` #${pull.number}`
  if (pull?.state === 'merged') return { pick_end: 'merged', why: `it was merged into ${into} unmeasured` }
  if (pull?.state === 'closed') return { pick_end: 'declined', why: `its pull request${number} was closed` }
  if (pull !== undefined && pull.base !== into)
    return { pick_end: 'left', why: `its pull request${number} was retargeted to ${pull.base}` }
  const request = campaign.steered.find(
    ({ action, experiment }) => action === 'withdraw' && experiment === pick.id,
  )
  if (request !== undefined) return { pick_end: 'declined', why: request.reason }
  const tip = pick.branch === null ? undefined : world.branches.get(pick.branch)
  if (tip === undefined) return { pick_end: 'declined', why: `its branch ${pick.branch} was deleted` }
  if (tip !== pick.head) {
    const why = `a person pushed ${tip.slice(0, 10)} to its branch, so winnow leaves the branch to them`
    return { pick_end: 'left', why }
  }
  if (campaign.status === 'stopped' && campaign.stop_code === 'merged')
    return { pick_end: 'merged', why: `the whole campaign was merged: ${campaign.status_reason}` }
  const facts = world.picks.get(pick.id)
  const isThere = facts !== undefined && 'present' in facts.result && facts.base.commit !== pick.base
  return isThere ? { pick_end: 'merged', why: `${into} already has the change, from another commit` } : null
}
