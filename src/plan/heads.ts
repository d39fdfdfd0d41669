import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import type { OrderId } from '../model/ids.ts'
import type { PlanAction, PlanStep } from './action.ts'
import { interruptRun } from './cut-short.ts'
import { createPullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/** What people did to open experiments since the last look: new commits, closed pull requests, gone branches. */
export function detectBranchChanges(world: World): { steps: PlanStep[]; actions: PlanAction[] } {
  const steps: PlanStep[] = []
  const actions: PlanAction[] = []
  const cancelled = new Set<OrderId>()
  const pullOf = createPullFinder(world)
  for (const experiment of listExperiments(world.campaign)) {
    if (experiment.status === 'ended') continue
    const reason = explainWithdrawal(world, experiment, pullOf(experiment))
    const mine =
      reason === null ? recordMovedHead(world, experiment) : [buildWithdrawal(world, experiment, reason)]
    const live = experiment.status === 'ordered' ? world.campaign.orders[experiment.order ?? ''] : undefined
    if (mine.length > 0 && live !== undefined && !cancelled.has(live.order.id)) {
      cancelled.add(live.order.id)
      if (reason === null) steps.push(...interruptRun(world, live, `${experiment.id} has a new head`))
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
export function canKeepHead(world: World, experiment: Experiment): boolean {
  const facts = world.candidates.get(experiment.id)
  return experiment.measured_tree !== null || (facts?.merged === 'clean' && facts.refusal === null)
}

function buildWithdrawal(world: World, experiment: Experiment, reason: string): PlanStep {
  const keep = canKeepHead(world, experiment)
  return { step: 'close', experiment: experiment.id, outcome: 'withdrawn', reason, keep }
}

function explainWithdrawal(world: World, experiment: Experiment, pull: PullFacts | undefined): string | null {
  const wish = world.campaign.steered.find(
    ({ action, experiment: id }) => action === 'withdraw' && id === experiment.id,
  )
  if (wish) return wish.reason
  if (pull?.state === 'closed') return `its pull request #${pull.number} was closed`
  if (pull && isForOtherBranch(world, pull))
    return `its pull request #${pull.number} was retargeted to ${pull.base}`
  // Looks of different age: that its branch went with the merge is known before the merge is.
  if (experiment.status === 'landing' && pull?.state === 'merged') return null
  if (experiment.branch !== null && isBranchGone(world, experiment.branch, pull))
    return `its branch ${experiment.branch} was deleted`
  return null
}

/** Other people's branches are known by their pull requests alone: what no look could have shown is not gone. */
function isBranchGone(
  { branches, spec, campaign }: World,
  branch: string,
  pull: PullFacts | undefined,
): boolean {
  if (branches.has(branch)) return false
  const { experiments } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  return pull !== undefined || branch.startsWith(toShortRef(experiments))
}

/** A pull request for another branch is not the campaign's business any more, and not the campaign's to close. */
export function isForOtherBranch(
  { spec, campaign }: Pick<World, 'spec' | 'campaign'>,
  { base }: PullFacts,
): boolean {
  return base !== toShortRef(buildCampaignRefs(spec.branches.prefix, campaign.name).optimize)
}

function recordMovedHead(world: World, experiment: Experiment): PlanStep[] {
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
