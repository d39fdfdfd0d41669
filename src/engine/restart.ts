import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { canRestart } from '../plan/restart.ts'
import type { ControllerContext } from './apply.ts'
import type { Observation } from './observe.ts'
import type { CampaignContext } from './place.ts'
import { recordEvents } from './record.ts'
import { readCommittedSpec, startCampaign } from './start.ts'

/**
 * A campaign that was merged is put aside and the next one begins, in one push, where the spec wants that: the one in
 * force, and the one that the default branch has now. Only on the very ledger that was looked at: of two that find it
 * merged, one begins the next (invariants 7 and 9). Answers what to wait for, or nothing where it is to be looked again.
 */
export async function restartIfMerged(
  { place, targetBranch: only }: ControllerContext,
  { world, loaded }: Observation,
  waiting: PlanWaiting,
): Promise<PlanWaiting | null> {
  const { campaign, spec } = world
  if (only !== null || waiting.for !== 'nothing' || !canRestart(campaign, spec)) return waiting
  try {
    const here = { ...place, defaultBranch: campaign.default_branch }
    const committed = await readCommittedSpec(here, campaign.spec_path)
    if (committed.spec.merge.on_merge !== 'restart') return waiting
    place.faults.reach('before:restart')
    await startCampaign(here, committed, { fresh: true, insteadOf: loaded.tip.commit })
    place.faults.reach('after:restart')
    return null
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    const fix = error.fix === undefined ? '' : ` (${error.fix})`
    const what = `the campaign was merged, and the next one cannot begin: ${error.message}${fix}`
    return (await recordRestartRefusal(place, campaign, what)) ? { for: 'person', what } : null
  }
}

const REFUSED = 'restart-refused'

/** The ledger says why, once for each reason; false where it had not said so yet, and has grown. */
async function recordRestartRefusal(
  place: CampaignContext,
  { alerts }: Campaign,
  message: string,
): Promise<boolean> {
  if (alerts.some(alert => alert.code === REFUSED && alert.message === message)) return true
  const once = { ...place, nonce: `${REFUSED} ${hashSha256(message)}` }
  await recordEvents(once, [{ kind: 'alert', code: REFUSED, message, about: null }])
  return false
}
