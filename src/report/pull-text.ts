import type { Campaign, Experiment } from '../model/campaign.ts'
import { oneLine } from '../model/landing.ts'
import { cell } from './markdown.ts'
import { verdictSentence } from './sentence.ts'

/** What a pull request of winnow's own says: the idea while it is open, the verdict first once it has one. */
export function pullTitle({ hypothesis }: Experiment): string {
  return oneLine(hypothesis, 120)
}

export function pullBody(campaign: Campaign, experiment: Experiment): string {
  const lines = [
    experiment.verdict === null ? `Being measured in campaign ${campaign.name}.` : closingText(experiment),
    '',
    `**Idea**: ${cell(experiment.hypothesis)}`,
    `**Category**: ${cell(experiment.category)}`,
    `**Experiment**: ${experiment.id}`,
  ]
  if (experiment.learnings) lines.push(`**Learnings**: ${cell(experiment.learnings)}`)
  return `${lines.join('\n')}\n`
}

export function closingText({ verdict, outcome, reason }: Experiment): string {
  return verdictSentence({ verdict, outcome, reason: cell(reason ?? '') })
}
