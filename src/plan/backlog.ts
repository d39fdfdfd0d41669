import { selectRound } from '../decide/select.ts'
import type { BacklogIdea, Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import type { EventDraft } from '../model/event.ts'
import { ideaName } from '../model/fold-backlog.ts'
import type { EventId } from '../model/ids.ts'
import { reasonOf } from '../model/reason.ts'
import type { Step } from './action.ts'
import type { World } from './world.ts'

type Known = Pick<Campaign, 'backlog' | 'experiments'>

/** In the order in which they are handed out: the best of each category first, then the rest; all by priority and age. */
export function openIdeas({ backlog }: Known): BacklogIdea[] {
  const open = backlog.filter(({ status, experiment }) => status === 'open' && experiment === null)
  const byName = new Map(open.map(idea => [ideaName(idea), idea]))
  const order = selectRound(
    open.map(idea => ({ ...idea, id: ideaName(idea) })),
    open.length,
  )
  return order.flatMap(name => byName.get(name) ?? [])
}

/** One idea for one asking; null where none is left that nobody has. */
export function nextIdea(campaign: Known, handed: ReadonlySet<EventId>): BacklogIdea | null {
  return openIdeas(campaign).find(({ id }) => !handed.has(id)) ?? null
}

/** An idea ends with the experiment that carried it out, and takes along what was learned. */
export function closedIdeas({ campaign }: Pick<World, 'campaign'>): Step[] {
  return campaign.backlog.flatMap((idea): Step[] => {
    const experiment = idea.experiment === null ? undefined : campaign.experiments[idea.experiment]
    if (idea.status !== 'open' || experiment?.status !== 'ended' || !experiment.closed) return []
    return [{ step: 'event', draft: endOf(idea, experiment) }]
  })
}

/** What was withdrawn was not tried: somebody else may take the idea up. */
function endOf({ id }: BacklogIdea, experiment: Experiment): EventDraft<'hypothesis-updated'> {
  const { outcome, opened, learnings, verdict, reason } = experiment
  const about = { kind: 'hypothesis-updated', cause: opened, hypothesis: id } as const
  if (outcome === 'withdrawn')
    return { ...about, status: 'open', experiment: null, outcome: null, learnings: null }
  const said = `${verdict ?? 'ended'}: ${reasonOf(reason ?? '').sentence}`
  return { ...about, status: 'tried', experiment: experiment.id, outcome, learnings: learnings ?? said }
}
