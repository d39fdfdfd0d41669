import type { Campaign } from './campaign.ts'

/** What asks a machine elsewhere to measure was refused. */
export const DISPATCH_REFUSED = 'dispatch-refused'

/** A machine elsewhere has begun: what was in the way of that is not any more. */
export function clearDispatchRefused(campaign: Campaign): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => code !== DISPATCH_REFUSED)
}
