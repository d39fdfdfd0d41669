import { whereaboutsOf } from '../engine/place.ts'
import { committedSpec, requireSupported } from '../engine/start.ts'
import { requireCampaign } from '../engine/session.ts'
import { shortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { lookAround } from './looking.ts'
import type { NotTried } from './own-diff.ts'
import { specPathOf } from './run.ts'

/** What a diff is held against: the spec in force, whatever the default branch says since (invariant 4). */
export async function specInForce(scene: Scene): Promise<Spec> {
  if (scene.campaign.started) return (await requireCampaign(scene.place)).spec
  const committed = await committedSpec(scene.place, specPathOf(scene))
  requireSupported(committed, whereaboutsOf(scene.place.forge))
  return committed.spec
}

/** Who has just widened the scope is told how that comes into force. */
export async function unlessSpecWaits(call: Call, scene: Scene, refused: NotTried): Promise<NotTried> {
  if (refused.code !== 'out-of-scope' || !scene.campaign.started) return refused
  const sync = (await lookAround(call, scene))?.sync ?? null
  if (sync?.result !== 'clean' || !sync.spec.changed) return refused
  const branch = shortRef(scene.place.defaultBranch)
  const next = `winnow run takes in the spec as it is on ${branch} now; then type the same again`
  return { ...refused, message: `${refused.message}, by the spec in force`, next }
}
