import type { Campaign } from '../model/campaign.ts'

type HostedCampaign = Pick<Campaign, 'host'>

/** Who carries a campaign on where it lives, for sentences about what comes next. */
export function describeNextRun({ host }: HostedCampaign): string {
  return host === 'github' ? 'the next run on GitHub' : 'the next winnow run'
}

/** The same where nothing has to be measured here and now. */
export function describeNextTick(campaign: HostedCampaign): string {
  return campaign.host === 'github' ? describeNextRun(campaign) : 'the next winnow tick or run'
}

export function describeNextMeasurement({ host }: HostedCampaign): string {
  return host === 'github' ? 'The next run on GitHub measures.' : 'winnow run measures.'
}
