import { selectRound } from '../decide/select.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { EventDraft } from '../model/event.ts'
import { formatIdeaName } from '../model/fold-backlog.ts'
import { findProposer } from '../model/fold-proposer.ts'
import type { EventId, ExperimentId } from '../model/ids.ts'
import { parseReason } from '../model/reason.ts'
import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

type IdeaState = Pick<Campaign, 'backlog' | 'experiments' | 'proposers'>

/** A program whose answers to one idea were refused this often is not handed that idea again. */
const REFUSALS_UNTIL_REST = 2

/** In the order in which they are handed out: the best of each category first, then the rest; all by priority and age. */
export function listOpenIdeas({ backlog }: Pick<IdeaState, 'backlog'>): BacklogIdea[] {
  const open = backlog.filter(({ status, experiment }) => status === 'open' && experiment === null)
  const byName = new Map(open.map(idea => [formatIdeaName(idea), idea]))
  const order = selectRound(
    open.map(idea => ({ ...idea, id: formatIdeaName(idea) })),
    open.length,
  )
  return order.flatMap(name => byName.get(name) ?? [])
}

/** Chooses an idea to hand to `who`; null where each one is taken, or rests for this program. */
export function selectNextIdea(
  campaign: IdeaState,
  { who, handed }: { who: string; handed: Pick<ReadonlySet<EventId>, 'has'> },
): BacklogIdea | null {
  const free = listOpenIdeas(campaign).filter(({ id }) => !handed.has(id))
  return free.find(idea => !listRestingProposers(campaign, idea).has(who)) ?? null
}

/** The programs that are not handed this idea again, each with its refused answers to it. */
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
  return new Map([...refused].filter(([, answers]) => answers.length >= REFUSALS_UNTIL_REST))
}

function isRefusedUnmeasured({ outcome, measured_tree }: Experiment): boolean {
  return outcome === 'refused' && measured_tree === null
}

/** An idea ends with the experiment that carried it out, and takes along what was learned. */
export function closeFinishedIdeas({ campaign }: Pick<World, 'campaign'>): PlanStep[] {
  return campaign.backlog.flatMap((idea): PlanStep[] => {
    const experiment = idea.experiment === null ? undefined : campaign.experiments[idea.experiment]
    if (idea.status !== 'open' || experiment?.status !== 'ended' || !experiment.closed) return []
    return [{ step: 'event', draft: buildIdeaEnd(idea, experiment) }]
  })
}

/** Only a measured idea was tried: after a withdrawal or a refusal it can be carried out again. */
function buildIdeaEnd({ id }: BacklogIdea, experiment: Experiment): EventDraft<'hypothesis-updated'> {
  const { outcome, opened, learnings, verdict, reason } = experiment
  const about = { kind: 'hypothesis-updated', cause: opened, hypothesis: id } as const
  if (outcome === 'withdrawn' || isRefusedUnmeasured(experiment))
    return { ...about, status: 'open', experiment: null, outcome: null, learnings: null }
  const said = `${verdict ?? 'ended'}: ${parseReason(reason ?? '').sentence}`
  return { ...about, status: 'tried', experiment: experiment.id, outcome, learnings: learnings ?? said }
}
