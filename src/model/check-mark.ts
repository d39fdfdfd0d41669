import { buildApprovalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import type { Oid } from './ids.ts'
import { isAwaitingPermission } from './permission.ts'
import { isAwaitingSync } from './sync-awaited.ts'
import { isPausedExperiment } from './standstill.ts'
import { hashSha256 } from './canonical.ts'

/** Our texts about an experiment hold this, so that it can be told whether its head shows how it stands. */
export function buildCheckMark(campaign: Pick<Campaign, 'status'>, experiment: Experiment): string {
  const { head, status, verdict, outcome } = experiment
  const permission = isAwaitingPermission(experiment) ? ['permission'] : []
  const sync = isAwaitingSync(experiment) ? [experiment.awaits_sync?.obstacle] : []
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = isPausedExperiment(campaign, experiment) ? campaign.status : under
  // It waits for the same set again, and what was shown in between is over.
  const again = experiment.withdrawals > 0 ? [`asked again ${experiment.withdrawals}`] : []
  const state = [
    head,
    still,
    verdict,
    outcome,
    buildApprovalMark(experiment),
    ...permission,
    ...sync,
    ...again,
  ]
  return `<!-- winnow check ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}

/** Who opened a pull request again with a head that has ended is told by a text that holds this, once for each head. */
export function buildReopenedMark({ id }: Pick<Experiment, 'id'>, head: Oid): string {
  return `<!-- winnow again ${hashSha256(JSON.stringify([id, head])).slice(0, 24)} -->`
}
