import { formatNumber, formatCount } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { formatMeasuringTime } from './duration.ts'

type CampaignCost = Pick<Campaign, 'spent' | 'host'>

/** What measuring took, the same in every view: "138 job-minutes" where jobs are billed, else "41:36". */
export function formatMeasuringMinutes({ spent: { minutes }, host }: CampaignCost): string {
  return host === 'github' ? formatCount(Math.ceil(minutes), 'job-minute') : formatMeasuringTime(minutes)
}

/** Nothing where no model was paid. */
export function formatModelCost({ spent: { usd } }: CampaignCost): string[] {
  return usd > 0 ? [`${formatNumber(usd)} USD for models`] : []
}

export function formatCampaignCost(campaign: CampaignCost): string {
  const executions = formatCount(campaign.spent.executions, 'execution')
  return [`${executions} in ${formatMeasuringMinutes(campaign)}`, ...formatModelCost(campaign)].join(', ')
}
