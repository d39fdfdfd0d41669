import { progressText } from '../decide/progress-text.ts'
import type { Campaign } from '../model/campaign.ts'
import { describeStatus } from '../model/describe-status.ts'
import { campaignProgress } from './campaign-result.ts'
import { calibrationText } from './calibration-text.ts'
import { cell } from './markdown.ts'
import { tableReason } from './reported-effect.ts'
import { capitalised, verdictPhrase } from './sentence.ts'
import { singleMachineText } from './single-machine.ts'
import { standingIn } from './standing.ts'
import { tallyText } from './tally.ts'
import { wayOnText } from './way-on.ts'

const RECENT = 30
const REASON = 600

/** The state branch's front page: derived, rebuilt whenever it is due, never read back. */
export function ledgerReadme(campaign: Campaign): string {
  const closed = Object.values(campaign.experiments)
    .filter(({ status }) => status === 'ended')
    .slice(-RECENT)
    .reverse()
  const machine = singleMachineText(campaign)
  const noise = calibrationText(campaign.calibration)
  const way = wayOnText(campaign)
  return [
    `# ${cell(campaign.name)}`,
    '',
    `**Progress: ${cell(progressText(campaignProgress(campaign)))}.**`,
    '',
    '![gain and state](badge.svg)',
    '',
    '![the primary metric over experiments](chart.svg)',
    '',
    'What happened lately: [digest.md](digest.md).',
    '',
    `Campaign ${cell(describeStatus(campaign), REASON)}.`,
    ...(way === null ? [] : [`To go on, ${cell(way, 400)}.`]),
    `${tallyText(campaign)}.`,
    ...(machine === null ? [] : [machine]),
    ...(noise === null ? [] : [`${noise}.`]),
    `Incumbent \`${campaign.incumbent.commit}\`, counted from \`${campaign.origin?.at.commit ?? campaign.start.commit}\`.`,
    '',
    `The last ${closed.length} with a verdict:`,
    '',
    '| experiment | verdict | idea | reason |',
    '|---|---|---|---|',
    ...closed.map(
      x =>
        `| ${x.id} | ${verdictPhrase(standingIn(campaign, x))} | ${cell(capitalised(x.hypothesis))} | ${cell(tableReason(campaign, x))} |`,
    ),
    '',
    `As of event ${campaign.seq - 1}. Everything here is derived from \`events/\`, where nothing is ever changed. \`winnow audit\` checks it.`,
    '',
  ].join('\n')
}
