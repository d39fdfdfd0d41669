import type { Progress } from '../decide/progress.ts'
import { progressText } from '../decide/progress-text.ts'
import { plural } from '../decide/wording.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { shortRef } from '../model/refs.ts'
import { campaignPullMark } from '../model/campaign-pull.ts'
import { keptPackagesMarkdown } from './approval-text.ts'
import { campaignProgress } from './campaign-result.ts'
import { costText } from './cost-text.ts'
import { personalTaskLines } from './needs-a-person.ts'
import { cell, withRoom } from './markdown.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { reportedEffect } from './reported-effect.ts'
import { keptExperiments } from './taken-back.ts'
import { tallyText } from './tally.ts'
import { wayOnText } from './way-on.ts'

/** The campaign's own pull request, for whoever decides whether the default branch takes it. */
export function campaignPullTitle(campaign: Campaign): string {
  return `optimize(${campaign.name}): ${plural(keptExperiments(campaign).length, 'change')} kept`
}

export function campaignPullBody(campaign: Campaign): string {
  const waiting = personalTaskLines(campaign).map(line => `- ${cell(line)}`)
  const lines = [
    // First: whatever of it is cut off, that is not.
    campaignPullMark(campaign),
    ...gainLines(campaign),
    '',
    '| kept | change | measured | alone |',
    '| --- | --- | --- | --- |',
    ...withRoom(
      keptRows(campaign),
      ROOM,
      left => `\n… and ${left} more: \`winnow status\` lists all of them.`,
    ),
    ...refusedLines(campaign),
    ...keptPackagesMarkdown(campaign),
    ...(waiting.length === 0
      ? []
      : [
          '',
          '**Waiting for an approval**',
          ...withRoom(waiting, WAITING_ROOM, left => `- and ${left} more`),
        ]),
    '',
    `**Experiments**: ${tallyText(campaign)}`,
    `**Cost**: ${costText(campaign)}`,
    '',
    ...finishLines(campaign),
  ]
  return `${lines.join('\n')}\n`
}

/** What is at its end, and says how to finish, has to be there whatever was kept. */
const ROOM = 30_000
const WAITING_ROOM = 10_000

/** What only a person can bring in, said where they look. */
function refusedLines(campaign: Campaign): string[] {
  const refused = syncRefused(campaign)
  return refused === null
    ? []
    : ['', `**For a person**: ${refused.sentences.map(text => cell(text)).join('. ')}.`]
}

function gainLines(campaign: Campaign): string[] {
  const progress = campaignProgress(campaign)
  const { status, status_reason } = campaign
  const state =
    status === 'running' ? 'The campaign goes on' : `The campaign is ${status}: ${cell(status_reason ?? '')}`
  return [`**Total improvement: ${cell(progressText(progress))}.**${howMeasured(progress)}`, '', `${state}.`]
}

function howMeasured({ is }: Progress): string {
  if (is !== 'composed') return ''
  return ' It is composed of the kept changes, each measured on its own. winnow measures all of them together before the campaign stops.'
}

function keptRows(campaign: Campaign): string[] {
  return keptExperiments(campaign).map(experiment => {
    const pull = experiment.pull === null ? experiment.id : `${experiment.id} #${experiment.pull}`
    const effect = reportedEffect(campaign, experiment)
    const said = effect?.reported ?? experiment.reason ?? ''
    const alone = aloneText(campaign, experiment)
    return `| ${[pull, cell(experiment.hypothesis), cell(said), alone].join(' | ')} |`
  })
}

/** How it is taken alone, or what came of that. */
function aloneText({ picks }: Campaign, { id }: Experiment): string {
  const last = Object.values(picks).findLast(each => each.picks === id)
  const ask = `\`/winnow pick ${id}\``
  if (last === undefined) return ask
  const found = last.verdict === null ? 'being measured' : last.verdict
  if (last.fate === 'merged') return `${last.id}, merged`
  return last.closed ? `${ask} (${last.id}: ${found}, closed)` : `${last.id}: ${found}`
}

function finishLines(campaign: Campaign): string[] {
  const { status, default_branch } = campaign
  const into = cell(shortRef(default_branch))
  const way = wayOnText(campaign)
  const end =
    status === 'stopped'
      ? `Nothing more is added to it${way === null ? '' : `. To go on, ${cell(way, 400)}`}.`
      : 'It grows by what is kept, once a round. The comment `/winnow stop` ends the campaign.'
  return [
    `Every commit here was measured: \`winnow audit\` shows it from git alone. ${end}`,
    '',
    `- Merge it into ${into}: the campaign stops. Close it: the campaign pauses.`,
    '- To take one change alone, comment what stands beside it: it is offered by itself, and measured there first.',
    '- Checks of this repository that do not start: GitHub keeps workflow runs waiting where a job opened the pull request or pushed to it. Somebody with write access starts them here with *Approve workflows to run*, best once nothing more is added.',
  ]
}
