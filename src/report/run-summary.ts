import { progressText } from '../decide/progress-text.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Waiting } from '../plan/action.ts'
import { campaignProgress } from './campaign-result.ts'
import { short } from './event-line.ts'
import { waitingSentence } from './sentence.ts'
import { singleMachineText } from './single-machine.ts'
import { tallyText } from './tally.ts'
import { waitingIdeasText } from './way-on.ts'

/** How a run ends for people: why it ended, what came of it, where the result is. */
export function runSummary(campaign: Campaign, waiting: Waiting): string[] {
  const machine = singleMachineText(campaign)
  const ideas = waitingIdeasText(campaign, waiting.for === 'nothing' ? (waiting.ideas ?? 0) : 0)
  const progress = campaignProgress(campaign)
  return [
    waitingSentence(waiting),
    ...(ideas === null ? [] : [ideas]),
    `${campaign.name}: ${tallyText(campaign)}; the incumbent is ${short(campaign.incumbent.commit)}.`,
    ...(progress.is === 'nothing kept' ? [] : [`Since the baseline: ${progressText(progress)}.`]),
    ...(machine === null ? [] : [machine]),
  ]
}
