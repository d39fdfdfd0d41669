import type { Campaign } from '../model/campaign.ts'

type Home = Pick<Campaign, 'host'>

/** Who carries a campaign on where it lives, for sentences about what comes next. */
export function nextTurn({ host }: Home): string {
  return host === 'github' ? 'the next run on GitHub' : 'the next winnow run'
}

/** The same where nothing has to be measured here and now. */
export function nextLook(campaign: Home): string {
  return campaign.host === 'github' ? nextTurn(campaign) : 'the next winnow tick or run'
}

export function measuredNext({ host }: Home): string {
  return host === 'github' ? 'The next run on GitHub measures.' : 'winnow run measures.'
}
