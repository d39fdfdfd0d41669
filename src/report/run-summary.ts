import { changeText } from '../decide/wording.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Campaign } from '../model/campaign.ts'
import { numberIn } from '../model/report.ts'
import type { Waiting } from '../plan/action.ts'
import { short } from './event-line.ts'
import { waitingSentence } from './sentence.ts'
import { singleMachineText } from './single-machine.ts'
import { headline } from './reported-effect.ts'
import { statusView } from './status-view.ts'
import { tallyText } from './tally.ts'

/** How a run ends for people: why it ended, what came of it, where the result is. */
export function runSummary(campaign: Campaign, waiting: Waiting): string[] {
  const machine = singleMachineText(campaign)
  const progress = headline(campaign)
  const gain = progress === null ? gainText(campaign) : null
  return [
    ...(progress === null ? [] : [`Progress: ${progress}.`]),
    waitingSentence(waiting),
    `${campaign.name}: ${tallyText(campaign)}; the incumbent is ${short(campaign.incumbent.commit)}.`,
    ...(gain === null ? [] : [`Since the baseline${apart(campaign)}: ${gain}.`]),
    ...(machine === null ? [] : [machine]),
  ]
}

/** Of what is noisy, numbers of two jobs show no difference: only pairs do. */
function apart({ calibration }: Campaign): string {
  return calibration?.deterministic === false ? ' (measured apart, so only roughly)' : ''
}

function gainText(campaign: Campaign): string | null {
  const spec = specOf(campaign)
  const { baseline, incumbent } = statusView(campaign, new Map())
  const { name } = spec.metric.primary
  const before = numberIn(baseline.metrics, name)
  const after = numberIn(incumbent.metrics, name)
  return before === null || after === null ? null : changeText(name, before, after)
}
