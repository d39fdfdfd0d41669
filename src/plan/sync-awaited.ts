import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { awaitsSync, type SyncObstacle, syncWords } from '../model/sync-awaited.ts'
import type { Step } from './action.ts'
import { isKeptOut } from './strangers.ts'
import { isGoneWithout } from './sync.ts'
import type { World } from './world.ts'

/** Where rounds go on without the default branch's tip, heads that are on top of it wait for a person, and say so. */
export function awaitRefusedSync(world: World): Step[] {
  if (!isGoneWithout(world)) return []
  const isAhead = ({ id }: Experiment) => {
    const facts = world.candidates.get(id)
    return facts?.merged === 'clean' && facts.aheadOfSync
  }
  return awaited(world, 'sync-workflows', isAhead)
}

/** Where no round starts before a person has removed an obstacle, everything queued waits for that. */
export function awaitHopelessSync(world: World, obstacle: SyncObstacle): Step[] {
  return awaited(world, obstacle, () => true)
}

/** Said once for each head: what the default branch does meanwhile changes nothing about it. */
function awaited(world: World, obstacle: SyncObstacle, waits: (experiment: Experiment) => boolean): Step[] {
  const { campaign } = world
  return experimentsOf(campaign).flatMap(experiment => {
    const { id, head, status, awaits_sync: before } = experiment
    if (status !== 'queued' || head === null || isKeptOut(world, id) || !waits(experiment)) return []
    if (before?.head === head && before.obstacle === obstacle) return []
    const cause = `asked at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle } }]
  })
}

/**
 * Nothing is in the way any more, and no sync may ever tell: the default branch was set back, or what stood in the way was
 * changed there. Where rounds go on without its tip, only what is on top of that still waits.
 */
export function endVanishedWaits(world: World): Step[] {
  const { campaign } = world
  const goneWithout = isGoneWithout(world)
  return experimentsOf(campaign).flatMap(experiment => {
    const { id, head, awaits_sync: before } = experiment
    if (head === null || !awaitsSync(experiment)) return []
    if (goneWithout && before?.obstacle === 'sync-workflows' && mayBeAhead(world, experiment)) return []
    const cause = `ended at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle: null } }]
  })
}

/** Of what was not merged with the incumbent yet nobody knows. */
function mayBeAhead({ candidates }: World, { id }: Experiment): boolean {
  const facts = candidates.get(id)
  return facts === undefined || (facts.merged === 'clean' && facts.aheadOfSync)
}

/** Who waits for that, and what helps. */
export function syncNeeded({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): string | null {
  const waiting = experimentsOf(campaign).filter(awaitsSync)
  const obstacle = waiting[0]?.awaits_sync?.obstacle
  if (obstacle === undefined) return null
  const { optimize } = campaignRefs(spec.branches.prefix, campaign.name)
  const { because, next } = syncWords(campaign, { optimize: shortRef(optimize), obstacle })
  const who = waiting.map(({ id, pull }) => (pull === null ? id : `${id} (#${pull})`)).join(', ')
  return `a sync, for ${who}: ${because}. What helps: ${next}`
}
