import { selectRound } from '../decide/selection.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import { type Experiment, listExperiments } from '../model/experiment.ts'
import { findProposer, formatIdeaName } from '../model/fold/proposers.ts'
import type { EventId, ExperimentId } from '../model/ids.ts'
import { parseReason } from '../model/text.ts'
import { isBetterAlone } from '../model/verdict.ts'
import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

type IdeaState = Pick<Campaign, 'backlog' | 'experiments' | 'proposers'>

/** After this many refused answers to one idea, a proposer does not get that idea again. */
const MAX_ANSWER_REFUSALS = 2

/** Sorted as ideas are handed out: the best of each category, then the others; by priority and age. */
export function listOpenIdeas({ backlog }: Pick<IdeaState, 'backlog'>): BacklogIdea[] {
  const open = backlog.filter(({ status, experiment }) => status === 'open' && experiment === null)
  const byName = new Map(open.map(idea => [formatIdeaName(idea), idea]))
  const order = selectRound(
    open.map(idea => ({ ...idea, id: formatIdeaName(idea) })),
    open.length,
  )
  return order.flatMap(name => byName.get(name) ?? [])
}

/** Null if every idea is handed out, or this proposer's answers to it were refused too often. */
export function selectNextIdea(
  campaign: IdeaState,
  { who, handed }: { who: string; handed: Pick<ReadonlySet<EventId>, 'has'> },
): BacklogIdea | null {
  const free = listOpenIdeas(campaign).filter(({ id }) => !handed.has(id))
  return free.find(idea => !listRestingProposers(campaign, idea).has(who)) ?? null
}

/** Proposers that do not get this idea again, each with its refused answers to it. */
export function listRestingProposers(
  campaign: Pick<IdeaState, 'experiments' | 'proposers'>,
  { id, status }: Pick<BacklogIdea, 'id' | 'status'>,
): Map<string, ExperimentId[]> {
  const refused = new Map<string, ExperimentId[]>()
  if (status !== 'open') return refused
  for (const experiment of Object.values(campaign.experiments)) {
    if (experiment.carries !== id || !isRefusedUnmeasured(experiment)) continue
    const who = findProposer(campaign, experiment)
    if (who !== null) refused.set(who, [...(refused.get(who) ?? []), experiment.id])
  }
  return new Map([...refused].filter(([, answers]) => answers.length >= MAX_ANSWER_REFUSALS))
}

function isRefusedUnmeasured({ outcome, measured_tree }: Experiment): boolean {
  return outcome === 'refused' && measured_tree === null
}

export function closeFinishedIdeas({ campaign }: Pick<World, 'campaign'>): PlanStep[] {
  return campaign.backlog.flatMap((idea): PlanStep[] => {
    const experiment = idea.experiment === null ? undefined : campaign.experiments[idea.experiment]
    if (idea.status !== 'open' || experiment?.status !== 'ended' || !experiment.closed) return []
    return [{ step: 'event', draft: buildIdeaEnd(idea, experiment) }]
  })
}

/** Only a measured idea counts as tried. Others are open again, for another experiment. */
function buildIdeaEnd({ id }: BacklogIdea, experiment: Experiment): EventDraft<'hypothesis-updated'> {
  const { outcome, opened, learnings, verdict, reason } = experiment
  const about = { kind: 'hypothesis-updated', cause: opened, hypothesis: id } as const
  if (outcome === 'withdrawn' || isRefusedUnmeasured(experiment))
    return { ...about, status: 'open', experiment: null, outcome: null, learnings: null }
  const summary = `${verdict ?? 'ended'}: ${parseReason(reason ?? '').sentence}`
  return { ...about, status: 'tried', experiment: experiment.id, outcome, learnings: learnings ?? summary }
}

interface CategorySummary {
  category: string
  /** Ended with a verdict. Refused and withdrawn ideas say nothing about their category. */
  tried: number
  kept: number
  /** Measured to be gains, but another change landed instead. */
  better: number
  unproven: number
  broken: number
  open: number
  /** Newest first. */
  learned: { id: string; text: string }[]
  next: 'more' | 'prove' | 'open' | 'leave'
}

const MIN_TRIED = 3

/** Sorted by advice: categories that work first, then unsettled ones, then those not worth another idea. */
export function summarizeCategories(campaign: Pick<Campaign, 'experiments' | 'landings'>): CategorySummary[] {
  const landed = new Set(
    campaign.landings.flatMap(({ experiment, reverted }) => (reverted === null ? [experiment] : [])),
  )
  const groups = new Map<string, Experiment[]>()
  for (const experiment of listExperiments(campaign)) {
    const { category, purpose, outcome } = experiment
    if (purpose === 'revert' || outcome === 'refused' || outcome === 'withdrawn') continue
    groups.set(category, [...(groups.get(category) ?? []), experiment])
  }
  const all = [...groups].map(([category, ideas]) => summarizeCategory(category, ideas, landed))
  const rank = ({ next }: CategorySummary) => ADVICE_ORDER.indexOf(next)
  return all.toSorted((a, b) => rank(a) - rank(b) || b.kept - a.kept || b.tried - a.tried)
}

const ADVICE_ORDER: readonly CategorySummary['next'][] = ['more', 'prove', 'open', 'leave']

function summarizeCategory(
  category: string,
  ideas: readonly Experiment[],
  landed: ReadonlySet<string>,
): CategorySummary {
  const ended = ideas.filter(({ verdict }) => verdict !== null)
  const counts = {
    tried: ended.length,
    kept: ended.filter(({ id }) => landed.has(id)).length,
    better: ended.filter(({ outcome }) => isBetterAlone(outcome)).length,
    unproven: ended.filter(({ verdict }) => verdict === 'not proven').length,
    broken: ended.filter(({ verdict }) => verdict === 'broken').length,
    open: ideas.length - ended.length,
  }
  const newest = ideas.toSorted((a, b) => b.number - a.number)
  const learned = newest.flatMap(({ id, learnings }) =>
    learnings === null || learnings.trim() === '' ? [] : [{ id, text: learnings }],
  )
  return { category, ...counts, learned, next: selectAdvice(counts) }
}

type CategoryCounts = Pick<CategorySummary, 'tried' | 'kept' | 'better' | 'unproven'>

function selectAdvice({ tried, kept, better, unproven }: CategoryCounts): CategorySummary['next'] {
  if (kept + better > 0) return 'more'
  if (unproven > 0) return 'prove'
  return tried >= MIN_TRIED ? 'leave' : 'open'
}

/** Categories that ce-optimize starts from. They are untried only where a campaign uses this list. */
const STANDARD_CATEGORIES = [
  'signal-extraction',
  'graph-signals',
  'embedding',
  'algorithm',
  'preprocessing',
  'parameter-tuning',
  'architecture',
  'data-handling',
]

interface UntriedCategory {
  category: string
  ideas: BacklogIdea[]
}

/** What no experiment has tried: categories of waiting ideas first, then standard ones without an idea. */
export function listUntriedCategories(campaign: Campaign): UntriedCategory[] {
  const tried = new Set(listExperiments(campaign).map(({ category }) => category))
  const waiting = new Map<string, BacklogIdea[]>()
  for (const idea of listOpenIdeas(campaign))
    if (!tried.has(idea.category)) waiting.set(idea.category, [...(waiting.get(idea.category) ?? []), idea])
  const used = new Set([...tried, ...waiting.keys()])
  const usesList = STANDARD_CATEGORIES.some(category => used.has(category))
  const others = usesList ? STANDARD_CATEGORIES.filter(category => !used.has(category)) : []
  return [
    ...[...waiting].map(([category, ideas]) => ({ category, ideas })),
    ...others.map(category => ({ category, ideas: [] })),
  ]
}

export function formatAdvice({ next, tried, kept, better, unproven, broken, open }: CategorySummary): string {
  const alone = better > 0 ? `, ${better} better alone but not kept` : ''
  const breaks = broken > 0 ? `, ${broken} broke` : ''
  const waits = open > 0 ? `, ${open} under way` : ''
  switch (next) {
    case 'more':
      return `${kept} of ${tried} kept${alone}${breaks}${waits}: more ideas of this kind may help`
    case 'prove':
      return `${tried} tried, ${unproven} not proven${breaks}${waits}: a larger gain of this kind could be proven`
    case 'open':
      return tried === 0
        ? `not tried yet${waits}`
        : `${tried} tried, none kept${breaks}${waits}: too few to tell`
    case 'leave':
      return `${tried} tried, none kept${breaks}${waits}: avoid it without a new reason`
    default:
      return next satisfies never
  }
}
