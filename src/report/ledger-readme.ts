import { formatProgress } from '../decide/progress-text.ts'
import type { Campaign } from '../model/campaign.ts'
import { describeStatus } from '../model/describe-status.ts'
import { computeCampaignProgress } from './campaign-result.ts'
import { describeCalibrationNoise } from './calibration-text.ts'
import { escapeMarkdown } from './markdown.ts'
import { describeTableReason } from './reported-effect.ts'
import { toSentenceCase, describeVerdict } from './sentence.ts'
import { describeSingleMachine } from './single-machine.ts'
import { getExperimentState } from './standing.ts'
import { renderTally } from './tally.ts'
import { describeResumeHint } from './way-on.ts'

const RECENT = 30
const REASON = 600

/** The state branch's front page: derived, rebuilt whenever it is due, never read back. */
export function renderLedgerReadme(campaign: Campaign): string {
  const closed = Object.values(campaign.experiments)
    .filter(({ status }) => status === 'ended')
    .slice(-RECENT)
    .reverse()
  const machine = describeSingleMachine(campaign)
  const noise = describeCalibrationNoise(campaign.calibration)
  const way = describeResumeHint(campaign)
  return [
    `# ${escapeMarkdown(campaign.name)}`,
    '',
    `**Progress: ${escapeMarkdown(formatProgress(computeCampaignProgress(campaign)))}.**`,
    '',
    '![gain and state](badge.svg)',
    '',
    '![the primary metric over experiments](chart.svg)',
    '',
    'What happened lately: [digest.md](digest.md).',
    '',
    `Campaign ${escapeMarkdown(describeStatus(campaign), REASON)}.`,
    ...(way === null ? [] : [`To go on, ${escapeMarkdown(way, 400)}.`]),
    `${renderTally(campaign)}.`,
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
        `| ${x.id} | ${describeVerdict(getExperimentState(campaign, x))} | ${escapeMarkdown(toSentenceCase(x.hypothesis))} | ${escapeMarkdown(describeTableReason(campaign, x))} |`,
    ),
    '',
    `As of event ${campaign.seq - 1}. Everything here is derived from \`events/\`, where nothing is ever changed. \`winnow audit\` checks it.`,
    '',
  ].join('\n')
}
