import { selectRound } from '../decide/selection.ts'
import { formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { computeEventId, type EventDraft } from '../model/event.ts'
import { type Experiment, listExperiments } from '../model/experiment.ts'
import {
  buildCampaignRefs,
  type ExperimentId,
  formatExperimentId,
  type Oid,
  toShortRef,
} from '../model/ids.ts'
import type { PlanStep } from './action.ts'
import { explainNotSimplification } from './judgement.ts'
import { explainDeniedOutsiders, findOutsider } from './permissions.ts'
import { type CandidateFacts, isTarget, type Proposal, type World } from './world.ts'

/** `next`: the first free experiment number after those that this plan opens. */
export interface OpenedProposals {
  steps: PlanStep[]
  next: number
}

const HOUR_MS = 3_600_000

type RefusalReason = NonNullable<Extract<CandidateFacts, { merged: 'clean' }>['refusal']>

// Opening experiments

export function openNothing(world: World): OpenedProposals {
  return { steps: [], next: findFreeNumber(world, world.campaign.next_number) }
}

export function openExperiments(world: World): OpenedProposals {
  let { next: number } = openNothing(world)
  let room = countRoomToOpen(world)
  const steps: PlanStep[] = []
  const byTree = new Map<Oid, ExperimentId>()
  for (const proposal of sortIdeas(world.campaign, listNewProposals(world))) {
    const same = findSameAnswer(world, proposal, byTree)
    if (same !== null) {
      const { key } = proposal.source
      steps.push({ step: 'event', draft: { kind: 'answer-repeated', cause: key, key, experiment: same } })
      continue
    }
    const engineMade = proposal.branch === null
    if (engineMade && room <= 0) continue
    if (engineMade) room -= 1
    steps.push(...openExperiment(world, proposal, formatExperimentId(number)))
    if ('tree' in proposal.head && proposal.head.tree !== undefined)
      byTree.set(proposal.head.tree, formatExperimentId(number))
    number = findFreeNumber(world, number + 1)
  }
  return { steps, next: number }
}

/** Two proposers that were asked at the same time may give the same answer, which is no failure. */
function findSameAnswer(
  { campaign, candidates }: World,
  proposal: Proposal,
  byTree: ReadonlyMap<Oid, ExperimentId>,
): ExperimentId | null {
  const tree = getAnswerTree(proposal)
  if (tree === null) return null
  const inThisPlan = byTree.get(tree)
  if (inThisPlan !== undefined) return inThisPlan
  const open = [...candidates].find(([, facts]) => facts.merged === 'clean' && facts.tree === tree)?.[0]
  // A refused experiment has no measured tree and is no candidate: `answer_tree` identifies it.
  const answered = listExperiments(campaign).findLast(({ answer_tree }) => answer_tree === tree)?.id
  const unseen = [campaign.trees[tree], open, answered].find(
    duplicate =>
      duplicate !== undefined &&
      (campaign.experiments[duplicate]?.number ?? 0) >= (proposal.first_unseen ?? Infinity),
  )
  return unseen ?? null
}

function getAnswerTree({ source, head }: Proposal): Oid | null {
  return source.use !== 'command' || 'rejected' in head ? null : (head.tree ?? null)
}

function openExperiment(world: World, proposal: Proposal, id: ExperimentId): PlanStep[] {
  const { campaign, spec } = world
  const refs = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const { hypothesis, category, priority, required_deps, family, source, learnings } = proposal
  const idea = { hypothesis, category, priority, required_deps, family, source, learnings }
  const { pull, reverts, restores, simplifies, carries } = proposal
  const rejected = 'rejected' in proposal.head ? proposal.head.rejected : null
  const made = 'rejected' in proposal.head ? null : proposal.head
  const answer = getAnswerTree(proposal)
  const draft: EventDraft<'experiment-opened'> = {
    kind: 'experiment-opened',
    cause: source.key,
    experiment: id,
    purpose: reverts || restores !== undefined ? 'revert' : simplifies ? 'simplify' : 'idea',
    ...idea,
    ...(carries === undefined ? {} : { carries }),
    ...(answer === null ? {} : { answer_tree: answer }),
    pull,
    branch: proposal.branch ?? (made ? toShortRef(`${refs.experiments}${id}`) : null),
    owned: proposal.branch === null,
    head: made?.commit ?? null,
    base: made?.base ?? campaign.incumbent,
  }
  const steps: PlanStep[] = [{ step: 'open', draft }]
  if (rejected === null) return steps
  const why = { code: 'conflict', message: rejected }
  return [...steps, ...refuseExperiment({ id, head: null, opened: computeEventId(draft) }, why)]
}

/** The best of each category first, counting those already queued, then by priority, then by arrival. */
export function sortIdeas<T extends Pick<Proposal, 'category' | 'priority'>>(
  campaign: Pick<Campaign, 'experiments'>,
  ideas: readonly T[],
): T[] {
  const queued = listExperiments(campaign).filter(({ status }) => status === 'queued')
  const last = queued.at(-1)?.number ?? 0
  const waiting = ideas.map(({ category, priority }, index) => {
    const number = last + 1 + index
    return { id: String(number), number, category, priority }
  })
  const order = selectRound([...queued, ...waiting], queued.length + waiting.length)
  const byName = new Map(waiting.map(({ id }, index) => [id, ideas[index]]))
  return order.flatMap(id => byName.get(id) ?? [])
}

/** Skips a number if a person created a branch with its name. */
export function findFreeNumber({ campaign, spec, branches }: World, from: number): number {
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  let number = from
  while (branches.has(toShortRef(`${experiments}${formatExperimentId(number)}`))) number += 1
  return number
}

// Limits on open experiments

export function listNewProposals({ campaign, proposals, targetBranch }: World): Proposal[] {
  const fresh = new Map<string, Proposal>()
  for (const proposal of proposals) {
    const { key } = proposal.source
    if (!isTarget(targetBranch, proposal.branch)) continue
    if (!Object.hasOwn(campaign.sources, key) && !fresh.has(key)) fresh.set(key, proposal)
  }
  return [...fresh.values()]
}

export function countRoomToOpen(world: World): number {
  const { max_open_experiments, max_pull_requests_per_hour } = world.spec.merge
  const room = max_open_experiments - countOpenEngineExperiments(world)
  // Only public pull requests notify people.
  if (world.hasPublicPulls !== true) return room
  return Math.min(room, max_pull_requests_per_hour - listOpenedThisHour(world).length)
}

/** Branches of people do not count. */
function listOpenedThisHour({ campaign, now }: World): Experiment[] {
  const since = Date.parse(now) - HOUR_MS
  return listExperiments(campaign).filter(
    ({ source, branch, opened_at }) =>
      source.use !== 'external' && branch !== null && Date.parse(opened_at) > since,
  )
}

/** Null where no limit holds an idea back. */
export function describePullLimit(world: World): string | null {
  const ideas = listNewProposals(world).filter(({ branch }) => branch === null).length + world.unopened
  if (ideas + world.askable.length === 0 || countRoomToOpen(world) > 0) return null
  const waits = ideas === 1 ? '1 idea waits' : `${ideas} ideas wait`
  const what = ideas === 0 ? 'winnow asks no proposer' : waits
  return `${what}: ${describeOpenLimit(world) ?? describeHourLimit(world)}`
}

const PULLS_LISTED = 6

function describeOpenLimit(world: World): string | null {
  const { max_open_experiments: limit } = world.spec.merge
  const open = listOpenOwned(world).map(({ id }) => id)
  if (open.length < limit) return null
  const which =
    open.length > PULLS_LISTED ? `${open.slice(0, PULLS_LISTED).join(', ')} and others` : open.join(', ')
  return `${open.length} of at most ${formatCount(limit, 'experiment')} ${open.length === 1 ? 'is' : 'are'} open (merge.max_open_experiments). The next one is opened when one of them ends: ${which}`
}

function listOpenOwned({ campaign }: Pick<World, 'campaign'>): Experiment[] {
  return listExperiments(campaign).filter(
    ({ status, owned }) => owned && status !== 'ended' && status !== 'not-proven' && status !== 'deferred',
  )
}

function describeHourLimit(world: World): string {
  const { max_pull_requests_per_hour: limit } = world.spec.merge
  const opened = listOpenedThisHour(world).map(({ opened_at }) => Date.parse(opened_at))
  const frees = opened.toSorted((a, b) => a - b).at(-limit) ?? Date.parse(world.now)
  const until = new Date(frees + HOUR_MS).toISOString().slice(0, 16).replace('T', ' ')
  return `${limit} pull requests were opened within an hour (merge.max_pull_requests_per_hour). The next one is opened at ${until} UTC`
}

export function countOpenEngineExperiments(world: Pick<World, 'campaign'>): number {
  return listOpenOwned(world).length
}

// Refusals

export function refuseExperiment(
  { id, head, opened }: { id: ExperimentId; head: Oid | null; opened: string },
  { code, message, path, line }: RefusalReason,
): PlanStep[] {
  const at = path == null ? {} : { path, ...(line === undefined ? {} : { line }) }
  const about = { experiment: id, head, code, message, ...at }
  const draft = { kind: 'experiment-refused', cause: opened, ...about } as const
  return [
    { step: 'event', draft },
    { step: 'close', experiment: id, outcome: 'refused', reason: message, keep: false },
  ]
}

/** Reads git objects only, before any code of the experiments runs (invariant 4). */
export function refuseQueued(world: World): { steps: PlanStep[]; refused: Set<ExperimentId> } {
  const steps: PlanStep[] = []
  const refused = new Set<ExperimentId>()
  const seen = new Map<Oid, ExperimentId>()
  for (const experiment of listExperiments(world.campaign)) {
    const why = explainRefusal(world, experiment, seen)
    if (why === null) continue
    refused.add(experiment.id)
    steps.push(...refuseExperiment(experiment, why))
  }
  return { steps, refused }
}

/** While an experiment waits for an approval, only its scope is checked: it may merge again later. */
function explainRefusal(
  world: World,
  experiment: Experiment,
  seen: Map<Oid, ExperimentId>,
): RefusalReason | null {
  if (experiment.status === 'queued')
    return findOutsiderRefusal(world, experiment) ?? findCandidateRefusal(world, experiment, seen)
  const facts = experiment.status === 'deferred' ? world.candidates.get(experiment.id) : undefined
  return facts?.merged === 'clean' ? facts.refusal : null
}

/** Checked before any facts about the change, so that its author learns it at once. */
function findOutsiderRefusal(world: World, experiment: Experiment): RefusalReason | null {
  const author = findOutsider(world, experiment)
  const denied = author === null ? null : explainDeniedOutsiders(world)
  if (denied === null) return null
  const message = `${author} has no write access, and ${denied}. To have it measured, ask a person with write access to push the change to a branch of this repository and to open a pull request from there.`
  return { code: 'unisolated', message }
}

function findCandidateRefusal(
  world: World,
  experiment: Experiment,
  seen: Map<Oid, ExperimentId>,
): RefusalReason | null {
  const facts = world.candidates.get(experiment.id)
  if (!facts || (facts.merged === 'clean' && facts.aheadOfSync)) return null
  if (facts.merged === 'conflict') {
    const message = `does not merge with the incumbent: conflict in ${facts.paths.slice(0, 5).join(', ')}`
    return { code: 'conflict', message }
  }
  if (facts.contains !== null && experiment.purpose !== 'revert') {
    const message = `contains ${facts.contains}, which was reverted: make the change again on top of the incumbent`
    return { code: 'reverted', message }
  }
  const below = world.stacked.get(experiment.id)
  if (below !== undefined) {
    if (world.campaign.experiments[below]?.head === experiment.head)
      return { code: 'duplicate', message: `the same commit as ${below}` }
    const message = `contains the head of ${below}, which is not on the optimize branch: submit it without ${below}, or after ${below} has landed`
    return { code: 'contains', message }
  }
  if (facts.refusal) return facts.refusal
  const notSimpler = experiment.purpose === 'simplify' ? explainNotSimplification(world, facts.changes) : null
  if (notSimpler !== null) return { code: 'simplify', message: notSimpler }
  const duplicate = world.campaign.trees[facts.tree] ?? seen.get(facts.tree)
  seen.set(facts.tree, seen.get(facts.tree) ?? experiment.id)
  if (duplicate === undefined || duplicate === experiment.id || experiment.purpose === 'revert') return null
  return { code: 'duplicate', message: `the same files as ${duplicate}` }
}
