import { getWhereabouts } from '../engine/place.ts'
import { readCommittedSpec, requireSupportedSpec } from '../engine/start.ts'
import { requireCampaign } from '../engine/session.ts'
import { toShortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { observeWorld } from './looking.ts'
import type { RefusedTry } from './own-diff.ts'
import { getSpecPath } from './run.ts'

/** What a diff is held against: the spec in force, whatever the default branch says since (invariant 4). */
export async function readActiveSpec(scene: CommandContext): Promise<Spec> {
  if (scene.campaign.started) return (await requireCampaign(scene.place)).spec
  const committed = await readCommittedSpec(scene.place, getSpecPath(scene))
  requireSupportedSpec(committed, getWhereabouts(scene.place.forge))
  return committed.spec
}

/** Who has just widened the scope is told how that comes into force. */
export async function explainWaitingSpec(
  call: Call,
  scene: CommandContext,
  refused: RefusedTry,
): Promise<RefusedTry> {
  if (refused.code !== 'out-of-scope' || !scene.campaign.started) return refused
  const sync = (await observeWorld(call, scene))?.sync ?? null
  if (sync?.result !== 'clean' || !sync.spec.changed) return refused
  const branch = toShortRef(scene.place.defaultBranch)
  const next = `winnow run takes in the spec as it is on ${branch} now; then type the same again`
  return { ...refused, message: `${refused.message}, by the spec in force`, next }
}
