import { numberText, plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { measuringText } from './duration.ts'

type Cost = Pick<Campaign, 'spent' | 'host'>

/** What measuring took, the same in every view: "138 job-minutes" where jobs are billed, else "41:36". */
export function minutesText({ spent: { minutes }, host }: Cost): string {
  return host === 'github' ? plural(Math.ceil(minutes), 'job-minute') : measuringText(minutes)
}

/** Nothing where no model was paid. */
export function moneyText({ spent: { usd } }: Cost): string[] {
  return usd > 0 ? [`${numberText(usd)} USD for models`] : []
}

export function costText(campaign: Cost): string {
  const executions = plural(campaign.spent.executions, 'execution')
  return [`${executions} in ${minutesText(campaign)}`, ...moneyText(campaign)].join(', ')
}
