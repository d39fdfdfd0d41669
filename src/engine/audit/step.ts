import type { LedgerEvent } from '../../model/event.ts'
import { foreignGaps } from './foreign.ts'
import { absentCommits, type IncumbentStep } from './incumbent-step.ts'
import { landingGaps } from './landing.ts'
import { samePoint } from './same-point.ts'
import { revertGaps } from './revert.ts'
import { syncGaps } from './sync.ts'

/** Invariant 1: what is missing before this commit may be called proven; nothing where all is there. */
export async function stepGaps(
  scene: Omit<IncumbentStep, 'from' | 'to'>,
  event: LedgerEvent<'incumbent-moved'>,
): Promise<string[]> {
  const { place, campaign, evidence } = scene
  const { from, to, why } = event
  if (!samePoint(from, campaign.incumbent))
    return [`event ${event.seq} starts at ${from.commit}, the incumbent was ${campaign.incumbent.commit}`]
  const absent = await absentCommits(place, [from.commit, to.commit])
  if (absent.length > 0) return absent
  const { tree } = await place.repository.commit(to.commit)
  if (tree !== to.tree) return [`its tree is ${tree}, event ${event.seq} records ${to.tree}`]
  const ground = evidence.grounds.get(to.commit)
  const step = { ...scene, from, to }
  if (why === 'merged' && ground?.kind === 'merged') return landingGaps(step, ground)
  if (why === 'synced' && ground?.kind === 'synced') return syncGaps(step, ground)
  if (why === 'reverted' && ground?.kind === 'reverted') return revertGaps(step, ground)
  if (why === 'foreign' && ground?.kind === 'foreign-tip') return foreignGaps(step, ground)
  return [`event ${event.seq} says ${why}, but no event before it says what was ${why}`]
}
