import type { Approvers } from '../forge/may-approve.ts'
import { awaitedText } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { againMark } from '../model/check-mark.ts'
import type { Oid } from '../model/ids.ts'
import { AWAITS_MERGE, oneLine } from '../model/landing.ts'
import { isLanded } from '../model/outcome.ts'
import { awaitsPermission, permissionText } from '../model/permission.ts'
import { reasonOf } from '../model/reason.ts'
import { requestMarkdown } from './approval-text.ts'
import { standsStill } from '../model/standstill.ts'
import { unlinked } from '../model/unlinked.ts'
import { calibrationText } from './calibration-text.ts'
import { failedPartMarkdown } from './failed-output-text.ts'
import { cell } from './markdown.ts'
import { capitalised, verdictSentence } from './sentence.ts'
import { syncMarkdown, syncWordsOf } from './sync-text.ts'

/** What a pull request of winnow's own says: the idea while it is open, the verdict first once it has one. */
export function pullTitle({ hypothesis }: Experiment): string {
  return unlinked(oneLine(hypothesis, 120))
}

export function pullBody(campaign: Campaign, experiment: Experiment, approvers: Approvers = 'write'): string {
  const lines = [
    firstLine(campaign, experiment),
    ...noiseLines(campaign, experiment),
    '',
    `**Idea**: ${cell(experiment.hypothesis)}`,
    `**Category**: ${cell(experiment.category)}`,
    `**Experiment**: ${experiment.id}`,
  ]
  if (experiment.learnings) lines.push(`**Learnings**: ${cell(experiment.learnings)}`)
  lines.push(...requestMarkdown(experiment, approvers))
  return `${lines.join('\n')}\n`
}

function firstLine(campaign: Campaign, experiment: Experiment): string {
  if (experiment.status === 'landing') return `${closingText(experiment)}\n\n${AWAITS_MERGE}`
  if (experiment.verdict !== null) return closingText(experiment)
  if (experiment.status === 'deferred') return `Waiting for approval of ${cell(awaitedText(experiment))}.`
  if (awaitsPermission(experiment))
    return `Waiting for somebody with write access, who has read it, to comment \`${permissionText(experiment)}\`.`
  const words = syncWordsOf(campaign, experiment)
  if (words !== null) return syncMarkdown(words)
  if (standsStill(campaign, experiment))
    return `Waiting: campaign ${campaign.name} is ${campaign.status} (${cell(campaign.status_reason ?? '')}). It goes on by itself when the campaign does.`
  return `Being measured in campaign ${campaign.name}.`
}

/** Beside what the evidence says: what it is worth here. */
function noiseLines({ calibration }: Campaign, { reason }: Experiment): string[] {
  const noise = reasonOf(reason ?? '').evidence === null ? null : calibrationText(calibration)
  return noise === null ? [] : ['', cell(noise)]
}

export function closingText(experiment: Experiment): string {
  const { verdict, outcome, reason } = experiment
  const { sentence, evidence } = reasonOf(reason ?? '')
  const said = verdictSentence({ verdict, outcome, reason: cell(sentence) })
  return [said, ...(evidence === null ? [] : [cell(evidence)]), ...failedText(experiment)].join('\n\n')
}

/** The output of failed commands, for an author who cannot see this machine. */
function failedText({ failed, verdict }: Experiment): string[] {
  if (failed === null || verdict === 'kept') return []
  const printed = failedPartMarkdown(failed)
  return printed.length === 0 ? [] : [`${capitalised(failed.what)} printed:\n\n${printed.join('\n')}`]
}

/** The outcome, for the comment on somebody else's pull request, and how to go on there. */
export function endedText(experiment: Experiment): string {
  const said = closingText(experiment)
  if (experiment.outcome !== null && isLanded(experiment.outcome)) return said
  return `${said}\n\nTo try something else here, push it and reopen this: another head is another experiment.`
}

/** For who opened it again as it was. */
export function againText(experiment: Experiment, head: Oid): string {
  const { id, owned, outcome, measured_tree } = experiment
  const why = owned
    ? `this branch is that of ${id}, which has ended`
    : `${id} has ended with exactly this commit`
  const empty = outcome === 'withdrawn' && measured_tree === null ? ' (an empty one will do)' : ''
  const next = owned
    ? 'Offer what you want tried from a branch of your own'
    : `Push a new commit${empty} and reopen this: another head is another experiment`
  return `${againMark(experiment, head)}\nClosed again: ${why}. ${next}. Reopened as it is, it is left alone.\n\n${closingText(experiment)}\n`
}

/** Of a pull request that is only there for somebody to approve what somebody else pushed. */
export function pushedBody({ id, branch }: Experiment): string {
  return `${id} is the branch ${cell(branch ?? '')}, which was pushed without a pull request. It has packages to be approved, and this is the place for it. How it stands is said in a comment below.\n`
}
