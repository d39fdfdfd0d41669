import type { LedgerEvent } from '../../model/event.ts'
import { findForeignGaps } from './foreign.ts'
import { listAbsentCommits, type IncumbentStep } from './incumbent-step.ts'
import { findLandingGaps } from './landing.ts'
import { isSamePoint } from './same-point.ts'
import { findRevertGaps } from './revert.ts'
import { findSyncGaps } from './sync.ts'

/** Invariant 1: what is missing before this commit may be called proven; nothing where all is there. */
export async function findStepGaps(
  scene: Omit<IncumbentStep, 'from' | 'to'>,
  event: LedgerEvent<'incumbent-moved'>,
): Promise<string[]> {
  const { place, campaign, evidence } = scene
  const { from, to, why } = event
  if (!isSamePoint(from, campaign.incumbent))
    return [`event ${event.seq} starts at ${from.commit}, the incumbent was ${campaign.incumbent.commit}`]
  const absent = await listAbsentCommits(place, [from.commit, to.commit])
  if (absent.length > 0) return absent
  const { tree } = await place.repository.commit(to.commit)
  if (tree !== to.tree) return [`its tree is ${tree}, event ${event.seq} records ${to.tree}`]
  const ground = evidence.incumbentEvents.get(to.commit)
  const step = { ...scene, from, to }
  if (why === 'merged' && ground?.kind === 'merged') return findLandingGaps(step, ground)
  if (why === 'synced' && ground?.kind === 'synced') return findSyncGaps(step, ground)
  if (why === 'reverted' && ground?.kind === 'reverted') return findRevertGaps(step, ground)
  if (why === 'foreign' && ground?.kind === 'foreign-tip') return findForeignGaps(step, ground)
  return [`event ${event.seq} says ${why}, but no event before it says what was ${why}`]
}
