import { approvalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import type { Oid } from './ids.ts'
import { awaitsPermission } from './permission.ts'
import { awaitsSync } from './sync-awaited.ts'
import { standsStill } from './standstill.ts'
import { sha256 } from './canonical.ts'

/** Our texts about an experiment hold this, so that it can be told whether its head shows how it stands. */
export function checkMark(campaign: Pick<Campaign, 'status'>, experiment: Experiment): string {
  const { head, status, verdict, outcome } = experiment
  const permission = awaitsPermission(experiment) ? ['permission'] : []
  const sync = awaitsSync(experiment) ? [experiment.awaits_sync?.obstacle] : []
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = standsStill(campaign, experiment) ? campaign.status : under
  // It waits for the same set again, and what was shown in between is over.
  const again = experiment.withdrawals > 0 ? [`asked again ${experiment.withdrawals}`] : []
  const state = [head, still, verdict, outcome, approvalMark(experiment), ...permission, ...sync, ...again]
  return `<!-- winnow check ${sha256(JSON.stringify(state)).slice(0, 24)} -->`
}

/** Who opened a pull request again with a head that has ended is told by a text that holds this, once for each head. */
export function againMark({ id }: Pick<Experiment, 'id'>, head: Oid): string {
  return `<!-- winnow again ${sha256(JSON.stringify([id, head])).slice(0, 24)} -->`
}
