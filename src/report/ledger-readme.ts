import type { Campaign } from '../model/campaign.ts'
import { cell } from './markdown.ts'

const RECENT = 30

/** The state branch's front page: derived, rebuilt whenever it is due, never read back. */
export function ledgerReadme(campaign: Campaign): string {
  const experiments = Object.values(campaign.experiments)
  const ended = experiments
    .filter(({ status }) => status === 'ended')
    .slice(-RECENT)
    .reverse()
  const kept = (campaign.counts.kept ?? 0) + (campaign.counts.runner_up_kept ?? 0)
  return [
    `# ${cell(campaign.name)}`,
    '',
    `Campaign ${campaign.status}${campaign.status_reason ? `: ${cell(campaign.status_reason)}` : ''}.`,
    `${experiments.length} experiments opened, ${campaign.ended} ended, ${kept} kept.`,
    `Incumbent \`${campaign.incumbent.commit}\`, progress is counted from \`${campaign.reference.commit}\`.`,
    '',
    `The last ${ended.length} that ended:`,
    '',
    '| experiment | verdict | idea | reason |',
    '|---|---|---|---|',
    ...ended.map(x => `| ${x.id} | ${x.verdict} | ${cell(x.hypothesis)} | ${cell(x.reason ?? '')} |`),
    '',
    `As of event ${campaign.seq - 1}. Everything here is derived from \`events/\`, where nothing is ever changed. \`winnow audit\` checks it.`,
    '',
  ].join('\n')
}
