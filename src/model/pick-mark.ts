import { buildApprovalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import type { PickedChange } from './experiment.ts'
import { hashSha256 } from './canonical.ts'
import { isPausedExperiment } from './standstill.ts'

/** The default branch went on since the change was put on it. */
export function isBehind(
  { default_tip }: Pick<Campaign, 'default_tip'>,
  { base }: Pick<PickedChange, 'base'>,
): boolean {
  return base !== default_tip
}

/** What the pull request of a change taken alone says has to be written anew when this changes. */
export function buildPickMark(
  campaign: Pick<Campaign, 'default_tip' | 'status'>,
  pick: PickedChange,
): string {
  const { head, status, verdict, outcome, closed } = pick
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = isPausedExperiment(campaign, pick) ? campaign.status : under
  const state = [head, still, verdict, outcome, closed, isBehind(campaign, pick), buildApprovalMark(pick)]
  if (pick.withdrawals > 0) state.push(`asked again ${pick.withdrawals}`)
  return `<!-- winnow pick ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}
