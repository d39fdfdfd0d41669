import { numberText, plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import { shortRef } from '../model/refs.ts'
import { campaignPullMark } from '../model/campaign-pull.ts'
import { deferredLines } from './approval-text.ts'
import { short } from './event-line.ts'
import { cell } from './markdown.ts'
import { headline, reportedEffect } from './reported-effect.ts'
import { keptExperiments } from './taken-back.ts'

/** The campaign's own pull request, for whoever decides whether the default branch takes it. */
export function campaignPullTitle(campaign: Campaign): string {
  return `optimize(${campaign.name}): ${plural(keptExperiments(campaign).length, 'change')} kept`
}

export function campaignPullBody(campaign: Campaign): string {
  const waiting = deferredLines(campaign).map(line => `- ${cell(line)}`)
  const lines = [
    // First: whatever of it is cut off, that is not.
    campaignPullMark(campaign),
    ...gainLines(campaign),
    '',
    '| kept | change | measured | alone |',
    '| --- | --- | --- | --- |',
    ...keptRows(campaign),
    ...(waiting.length === 0 ? [] : ['', '**Waiting for an approval**', ...waiting]),
    '',
    `**Cost**: ${costText(campaign)}`,
    '',
    ...finishLines(campaign),
  ]
  return `${lines.join('\n')}\n`
}

/** Never a sum of what the single changes claim. */
function gainLines(campaign: Campaign): string[] {
  const gain = headline(campaign)
  const { status, status_reason } = campaign
  const state =
    status === 'running' ? 'The campaign goes on' : `The campaign is ${status}: ${cell(status_reason ?? '')}`
  return [
    gain === null ? '**The whole was not measured against its start yet.**' : `**${cell(gain)}**`,
    '',
    `${state}.`,
  ]
}

function keptRows(campaign: Campaign): string[] {
  return keptExperiments(campaign).map(experiment => {
    const landing = campaign.landings.find(
      each => each.experiment === experiment.id && each.reverted === null,
    )
    const pull = experiment.pull === null ? experiment.id : `${experiment.id} #${experiment.pull}`
    const effect = reportedEffect(campaign, experiment)
    const said = effect?.reported ?? experiment.reason ?? ''
    const alone = landing === undefined ? '' : `\`git cherry-pick -m 1 ${short(landing.commit)}\``
    return `| ${[pull, cell(experiment.hypothesis), cell(said), alone].join(' | ')} |`
  })
}

function costText({ spent: { minutes, executions, usd } }: Campaign): string {
  const time = minutes < 1 ? 'less than a minute' : `${numberText(Math.round(minutes))} min`
  const money = usd > 0 ? `, ${numberText(usd)} USD for models` : ''
  return `${plural(executions, 'execution')} in ${time}${money}`
}

function finishLines({ status, default_branch }: Campaign): string[] {
  const into = cell(shortRef(default_branch))
  const end =
    status === 'stopped'
      ? 'Nothing more is added to it.'
      : 'It grows by what is kept, once a round. The comment `/winnow stop` ends the campaign.'
  return [
    `Every commit here was measured: \`winnow audit\` shows it from git alone. ${end}`,
    '',
    `- Merge it into ${into}: the campaign stops. Close it: the campaign pauses.`,
    '- To take one change alone, run what stands beside it; measured alone it may bring more or less.',
  ]
}
