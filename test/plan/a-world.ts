import type { Campaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { computeEventId, type EventDraft } from '../../src/model/event.ts'
import type { PlanAction, LandedStep, MergeFacts, Plan, PlanStep } from '../../src/plan/action.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type {
  CandidateFacts,
  CandidateChange,
  Proposal,
  PullFacts,
  RunFacts,
  World,
} from '../../src/plan/world.ts'
import { type CampaignBuilder, candidateTree, oidOf } from './a-campaign.ts'
import { NO_ADDITIONS } from './an-addition.ts'

type Clean = Extract<CandidateFacts, { merged: 'clean' }>
/** What differs from the peaceful case: every head merges, touches a file of its own, and may be measured. */
export type Facts = Partial<Omit<Clean, 'merged'>> & { files?: string[]; conflict?: string[] }

type Different = Partial<Omit<World, 'candidates'>> & { candidates?: Record<string, Facts> }

/** A quiet world around a campaign: refs where the ledger says, nothing running, nothing proposed. */
export function world(built: CampaignBuilder, { candidates = {}, ...different }: Different = {}): World {
  const { campaign, spec } = built
  return {
    now: '2026-01-01T01:00:00.000Z',
    entropy: hashSha256(`entropy ${campaign.seq}`),
    campaign,
    spec,
    optimizeTip: campaign.incumbent,
    campaignTip: campaign.incumbent.commit,
    defaultTip: campaign.pin,
    pulls: pullsOf(campaign),
    branches: branchesOf(campaign),
    proposals: [],
    unopened: 0,
    outsiders: new Map(),
    stacked: new Map(),
    candidates: candidatesOf(campaign, candidates),
    releases: new Map(),
    sync: null,
    foreign: null,
    branchMismatch: null,
    holdout: null,
    probes: null,
    reverts: new Map(),
    picks: new Map(),
    runs: new Map<string, RunFacts>(
      Object.values(campaign.orders)
        .filter(({ report }) => report === null)
        .map(({ order }) => [order.id, { state: 'running' }]),
    ),
    runner: { runId: 'run-1', machine: null, external: true },
    askable: [],
    asking: [],
    asks: 'here',
    answers: [],
    scores: [],
    lost: [],
    setAsideUsd: 0,
    judgeJob: false,
    targetBranch: null,
    ...different,
  }
}

function branchesOf({ experiments }: Campaign): Map<string, string> {
  const tips = new Map<string, string>()
  for (const { branch, head, status } of Object.values(experiments))
    if (branch !== null && head !== null && status !== 'ended') tips.set(branch, head)
  return tips
}

function pullsOf({ experiments }: Campaign): PullFacts[] {
  return Object.values(experiments).flatMap(experiment => {
    const { number, branch, head, status } = experiment
    if (branch === null || status === 'ended') return []
    const texts = { title: '', body: '' }
    return [{ number, branch, base: 'optimize/size', state: 'open', head: head ?? '', ...texts }]
  })
}

function candidatesOf(campaign: Campaign, facts: Record<string, Facts>): Map<string, CandidateFacts> {
  const found = new Map<string, CandidateFacts>()
  for (const experiment of Object.values(campaign.experiments)) {
    if (experiment.status === 'ended' || experiment.head === null) continue
    found.set(experiment.id, factsOf(campaign, experiment, facts[experiment.id] ?? {}))
  }
  return found
}

function factsOf(campaign: Campaign, { id, head }: Experiment, facts: Facts): CandidateFacts {
  const { files, conflict, ...different } = facts
  const base = campaign.incumbent.commit
  if (conflict) return { merged: 'conflict', head: head ?? '', base, paths: conflict }
  return {
    merged: 'clean',
    head: head ?? '',
    base,
    tree: candidateTree(campaign, id),
    changes: (files ?? [`src/${id}.txt`]).map(change),
    touched: { files: `files of ${id}`, lines: [] },
    suspicious: [],
    refusal: null,
    additions: NO_ADDITIONS,
    aheadOfSync: false,
    contains: null,
    ...different,
  }
}

function change(path: string): CandidateChange {
  return { path, status: 'M', oldMode: '100644', newMode: '100644', added: 1, deleted: 1, bytes: null }
}

export function proposal(name: string, rest: Partial<Proposal> = {}): Proposal {
  return {
    hypothesis: name,
    category: name,
    priority: 'medium',
    required_deps: [],
    family: null,
    source: { use: 'patch', key: `patch:${name}` },
    learnings: null,
    head: { commit: oidOf(`head of ${name}`), base: { commit: oidOf('base'), tree: oidOf('base tree') } },
    branch: null,
    pull: null,
    ...rest,
  }
}

/** The steps of a plan's transaction; none if it writes nothing. */
export function stepsOf({ actions }: Plan): PlanStep[] {
  return actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
}

export function draftsOf(planned: Plan): EventDraft[] {
  return stepsOf(planned).flatMap(step => {
    if (step.step === 'event' || step.step === 'open') return [step.draft]
    if (step.step === 'move') return step.events
    return step.step === 'land' ? [step.decided] : []
  })
}

export function draftsOfKind<K extends EventDraft['kind']>(
  planned: Plan,
  kind: K,
): Extract<EventDraft, { kind: K }>[] {
  return draftsOf(planned).filter((draft): draft is Extract<EventDraft, { kind: K }> => draft.kind === kind)
}

export function actionsOf<D extends PlanAction['do']>(
  planned: Plan,
  which: D,
): Extract<PlanAction, { do: D }>[] {
  return planned.actions.filter((action): action is Extract<PlanAction, { do: D }> => action.do === which)
}

/** Experiments closed without a verdict, and decided ones, with the outcome each gets. */
export function endings(planned: Plan): Record<string, string> {
  const ends: Record<string, string> = {}
  for (const step of stepsOf(planned)) {
    if (step.step === 'close') ends[step.experiment] = step.outcome
    if (step.step === 'land') ends[step.decided.experiment] = step.decided.outcome
  }
  return ends
}

/** Writes a plan's transaction, as the engine would, and answers the plan. */
export function carryOut(built: CampaignBuilder, different: Different = {}): Plan {
  const planned = planCampaign(world(built, different))
  for (const step of stepsOf(planned)) built.add(...eventsOf(built.campaign, step, stepsOf(planned)))
  return planned
}

/** Plans and writes until there is nothing left to write. */
export function settle(built: CampaignBuilder, different: () => Different = () => ({})): Plan {
  for (let looks = 0; looks < 50; looks++) {
    const planned = carryOut(built, different())
    if (stepsOf(planned).length === 0) return planned
  }
  throw new Error('the plan never comes to rest')
}

export function eventsOf(campaign: Campaign, step: PlanStep, all: readonly PlanStep[]): EventDraft[] {
  switch (step.step) {
    case 'event':
    case 'open':
    case 'rebuild-pick':
      return [step.draft]
    case 'move':
      return step.events
    case 'keep':
      return []
    case 'close': {
      const { experiment, outcome, reason } = step
      const decided = all.find(each => each.step === 'event' && each.draft.kind === 'decided')
      const cause = decided?.step === 'event' ? computeEventId(decided.draft) : 'closed'
      const head = campaign.experiments[experiment]?.head ?? null
      return [
        { kind: 'closed', cause: `${cause} ${experiment}`, experiment, outcome, reason, head, results: null },
      ]
    }
    case 'land':
      return landed(step, oidOf(`landing of ${step.candidate.tree} on ${step.base.commit}`))
    case 'landed': {
      const decided = campaign.landing?.decided
      return decided ? mergedBy(step, { commit: step.commit, cause: decided.id, decided, via: step.via }) : []
    }
    case 'revert':
      return reverted(step, oidOf(`revert to ${step.tree} on ${step.from.commit}`))
    default:
      return step satisfies never
  }
}

export function landed(step: Extract<PlanStep, { step: 'land' }>, commit: string): EventDraft[] {
  const { decided } = step
  const verdict = step.recorded === true ? [] : [decided]
  return [...verdict, ...mergedBy(step, { commit, cause: computeEventId(decided), decided })]
}

/** What follows from a merge, whoever made it. */
function mergedBy(
  { candidate, base, pull, undoes, baseline }: MergeFacts,
  { commit, cause, decided, via }: Making,
): EventDraft[] {
  const { experiment, order } = decided
  const { tree, head } = candidate
  const to = { commit, tree }
  const proof = { seq: 0, sha256: cause }
  const made = { results: null, pull, decided: proof, ...(via ? { via } : {}) }
  const undone = { by_experiment: experiment, from: base, to, measured_in: order ?? '' }
  return [
    ...(baseline ? [baseline] : []),
    { kind: 'merged', cause, experiment, commit, tree, base, head, ...made },
    { kind: 'incumbent-moved', cause, from: base, to, why: 'merged' },
    ...(undoes === null ? [] : [{ kind: 'reverted', cause, experiment: undoes, ...undone } as const]),
  ]
}

interface Making {
  commit: string
  cause: string
  decided: EventDraft<'decided'>
  via?: LandedStep['via']
}

export function reverted(step: Extract<PlanStep, { step: 'revert' }>, commit: string): EventDraft[] {
  const { experiment, tree, from, measuredIn: measured_in, cause } = step
  const to = { commit, tree }
  return [
    { kind: 'reverted', cause, experiment, by_experiment: null, from, to, measured_in },
    { kind: 'incumbent-moved', cause, from, to, why: 'reverted' },
  ]
}
