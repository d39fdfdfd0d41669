import { approvalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import type { Picked } from './experiment.ts'
import { sha256 } from './canonical.ts'
import { standsStill } from './standstill.ts'

/** The default branch went on since the change was put on it. */
export function isBehind(
  { default_tip }: Pick<Campaign, 'default_tip'>,
  { base }: Pick<Picked, 'base'>,
): boolean {
  return base !== default_tip
}

/** What the pull request of a change taken alone says has to be written anew when this changes. */
export function pickMark(campaign: Pick<Campaign, 'default_tip' | 'status'>, pick: Picked): string {
  const { head, status, verdict, outcome, closed } = pick
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = standsStill(campaign, pick) ? campaign.status : under
  const state = [head, still, verdict, outcome, closed, isBehind(campaign, pick), approvalMark(pick)]
  if (pick.withdrawals > 0) state.push(`asked again ${pick.withdrawals}`)
  return `<!-- winnow pick ${sha256(JSON.stringify(state)).slice(0, 24)} -->`
}
