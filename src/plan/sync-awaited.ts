import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import { isAwaitingSync, type SyncObstacle, describeSyncObstacle } from '../model/sync-awaited.ts'
import type { PlanStep } from './action.ts'
import { needsPermission } from './strangers.ts'
import { isSyncSkipped } from './sync.ts'
import type { World } from './world.ts'

/** Where rounds go on without the default branch's tip, heads that are on top of it wait for a person, and say so. */
export function awaitRefusedSync(world: World): PlanStep[] {
  if (!isSyncSkipped(world)) return []
  const isAhead = ({ id }: Experiment) => {
    const facts = world.candidates.get(id)
    return facts?.merged === 'clean' && facts.aheadOfSync
  }
  return recordSyncWaits(world, 'sync-workflows', isAhead)
}

/** Where no round starts before a person has removed an obstacle, everything queued waits for that. */
export function awaitBlockedSync(world: World, obstacle: SyncObstacle): PlanStep[] {
  return recordSyncWaits(world, obstacle, () => true)
}

/** Said once for each head: what the default branch does meanwhile changes nothing about it. */
function recordSyncWaits(
  world: World,
  obstacle: SyncObstacle,
  waits: (experiment: Experiment) => boolean,
): PlanStep[] {
  const { campaign } = world
  return listExperiments(campaign).flatMap(experiment => {
    const { id, head, status, awaits_sync: before } = experiment
    if (status !== 'queued' || head === null || needsPermission(world, id) || !waits(experiment)) return []
    if (before?.head === head && before.obstacle === obstacle) return []
    const cause = `asked at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle } }]
  })
}

/**
 * Nothing is in the way any more, and no sync may ever tell: the default branch was set back, or what stood in the way was
 * changed there. Where rounds go on without its tip, only what is on top of that still waits.
 */
export function endResolvedWaits(world: World): PlanStep[] {
  const { campaign } = world
  const goneWithout = isSyncSkipped(world)
  return listExperiments(campaign).flatMap(experiment => {
    const { id, head, awaits_sync: before } = experiment
    if (head === null || !isAwaitingSync(experiment)) return []
    if (goneWithout && before?.obstacle === 'sync-workflows' && canBeAhead(world, experiment)) return []
    const cause = `ended at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle: null } }]
  })
}

/** Of what was not merged with the incumbent yet nobody knows. */
function canBeAhead({ candidates }: World, { id }: Experiment): boolean {
  const facts = candidates.get(id)
  return facts === undefined || (facts.merged === 'clean' && facts.aheadOfSync)
}

/** Who waits for that, and what helps. */
export function describeNeededSync({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): string | null {
  const waiting = listExperiments(campaign).filter(isAwaitingSync)
  const obstacle = waiting[0]?.awaits_sync?.obstacle
  if (obstacle === undefined) return null
  const { optimize } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const { because, next } = describeSyncObstacle(campaign, { optimize: toShortRef(optimize), obstacle })
  const who = waiting.map(({ id, pull }) => (pull === null ? id : `${id} (#${pull})`)).join(', ')
  return `a sync, for ${who}: ${because}. What helps: ${next}`
}
