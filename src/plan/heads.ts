import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import type { OrderId } from '../model/ids.ts'
import type { Action, Step } from './action.ts'
import { cutShort } from './cut-short.ts'
import { pullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/** What people did to open experiments since the last look: new commits, closed pull requests, gone branches. */
export function followHeads(world: World): { steps: Step[]; actions: Action[] } {
  const steps: Step[] = []
  const actions: Action[] = []
  const cancelled = new Set<OrderId>()
  const pullOf = pullFinder(world)
  for (const experiment of experimentsOf(world.campaign)) {
    if (experiment.status === 'ended') continue
    const reason = whyWithdrawn(world, experiment, pullOf(experiment))
    const mine = reason === null ? moved(world, experiment) : [withdraw(world, experiment, reason)]
    const live = experiment.status === 'ordered' ? world.campaign.orders[experiment.order ?? ''] : undefined
    if (mine.length > 0 && live !== undefined && !cancelled.has(live.order.id)) {
      cancelled.add(live.order.id)
      if (reason === null) steps.push(...cutShort(world, live, `${experiment.id} has a new head`))
      actions.push({ do: 'cancel', order: live.order.id })
    }
    steps.push(...mine)
    // Nothing else will find its head again: what was in progress there is shown to be over.
    if (reason !== null && experiment.head !== null && world.checks === true)
      actions.push({ do: 'pulls', changes: [{ change: 'show', experiment: experiment.id }] })
  }
  return { steps, actions }
}

/** Invariant 8 within the limits: only what was measured, or would have been allowed to be, is kept. */
export function mayKeep(world: World, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  return experiment.measured_tree !== null || (facts?.merged === 'clean' && facts.refusal === null)
}

function withdraw(world: World, experiment: Experiment, reason: string): Step {
  const keep = mayKeep(world, experiment)
  return { step: 'close', experiment: experiment.id, outcome: 'withdrawn', reason, keep }
}

function whyWithdrawn(world: World, experiment: Experiment, pull: PullFacts | undefined): string | null {
  const wish = world.campaign.steered.find(
    ({ action, experiment: id }) => action === 'withdraw' && id === experiment.id,
  )
  if (wish) return wish.reason
  if (pull?.state === 'closed') return `its pull request #${pull.number} was closed`
  if (pull && isElsewhere(world, pull))
    return `its pull request #${pull.number} was retargeted to ${pull.base}`
  // Looks of different age: that its branch went with the merge is known before the merge is.
  if (experiment.status === 'landing' && pull?.state === 'merged') return null
  if (experiment.branch !== null && isGone(world, experiment.branch, pull))
    return `its branch ${experiment.branch} was deleted`
  return null
}

/** Other people's branches are known by their pull requests alone: what no look could have shown is not gone. */
function isGone({ branches, spec, campaign }: World, branch: string, pull: PullFacts | undefined): boolean {
  if (branches.has(branch)) return false
  const { experiments } = campaignRefs(spec.branches.prefix, campaign.name)
  return pull !== undefined || branch.startsWith(shortRef(experiments))
}

/** A pull request for another branch is not the campaign's business any more, and not the campaign's to close. */
export function isElsewhere(
  { spec, campaign }: Pick<World, 'spec' | 'campaign'>,
  { base }: PullFacts,
): boolean {
  return base !== shortRef(campaignRefs(spec.branches.prefix, campaign.name).optimize)
}

function moved(world: World, experiment: Experiment): Step[] {
  const tip = experiment.branch === null ? undefined : world.branches.get(experiment.branch)
  if (tip === undefined || tip === experiment.head) return []
  const draft = {
    kind: 'head-moved',
    cause: tip,
    experiment: experiment.id,
    from: experiment.head,
    to: tip,
  } as const
  return [{ step: 'event', draft }]
}
