import { formatProgress } from '../decide/progress-text.ts'
import type { Campaign } from '../model/campaign.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { computeCampaignProgress } from './campaign-result.ts'
import { toShortId } from './event-line.ts'
import { describeWaiting } from './sentence.ts'
import { describeSingleMachine } from './single-machine.ts'
import { renderTally } from './tally.ts'
import { describeWaitingIdeas } from './way-on.ts'

/** How a run ends for people: why it ended, what came of it, where the result is. */
export function renderRunSummary(campaign: Campaign, waiting: PlanWaiting): string[] {
  const machine = describeSingleMachine(campaign)
  const ideas = describeWaitingIdeas(campaign, waiting.for === 'nothing' ? (waiting.ideas ?? 0) : 0)
  const progress = computeCampaignProgress(campaign)
  return [
    describeWaiting(waiting),
    ...(ideas === null ? [] : [ideas]),
    `${campaign.name}: ${renderTally(campaign)}; the incumbent is ${toShortId(campaign.incumbent.commit)}.`,
    ...(progress.is === 'nothing kept' ? [] : [`Since the baseline: ${formatProgress(progress)}.`]),
    ...(machine === null ? [] : [machine]),
  ]
}
