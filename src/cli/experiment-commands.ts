import { toSentenceCase } from '../model/text.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { prioritySchema } from '../model/event-schemas.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { getExperimentState } from '../report/experiment-state.ts'
import { describeNextTick } from '../report/resume-hint.ts'
import { renderStateSentence } from '../report/verdict-text.ts'
import { changeCampaign } from './context.ts'
import { REASON } from './pause.ts'
import { describeKeptChanges, findNamedExperiment, findNamedIdea, listLandedIds } from './subjects.ts'
import type { Verb } from './verb.ts'

export const priorityVerb: Verb = {
  name: 'priority',
  group: 'more',
  summary: 'set how soon an experiment or an idea of the backlog is measured',
  access: 'write',
  arguments: [
    {
      name: 'what',
      summary: 'an experiment that is not measured yet, or an idea',
      required: true,
      subject: true,
    },
    { name: 'how', summary: 'how soon', required: true, values: prioritySchema.options },
  ],
  examples: ['winnow priority exp-007 high', 'winnow priority idea-003 low'],
  comment: { options: [] },
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const [what = '', to = ''] = call.given.positionals
      const { name, from } = findPrioritySubject(campaign, what)
      if (from === to) return call.terminal.out(`The priority of ${name} is ${to} already.`)
      await recordEvents(campaignContext, [{ kind: 'knob-changed', knob: `priority ${name}`, from, to }])
      if (dryRun === null) call.terminal.out(`The priority of ${name} is ${to} now; it was ${from}.`)
    }),
}

function findPrioritySubject(campaign: Campaign, given: string): { name: string; from: string } {
  if (given.startsWith('idea-')) {
    const found = findNamedIdea(campaign, given)
    const name = formatIdeaName(found)
    if (found.status !== 'open' || found.experiment !== null)
      throw new UserError(`${name} was taken up already`, { fix: 'name an idea that is still open' })
    return { name, from: found.priority }
  }
  const { id, status, priority: from } = findNamedExperiment(campaign, given)
  if (status === 'ended') throw new UserError(`${id} has ended, so winnow does not measure it again`)
  return { name: id, from }
}

export const retryVerb: Verb = {
  name: 'retry',
  group: 'more',
  summary: 'measure an experiment that is not proven again, with more jobs',
  access: 'write',
  arguments: [
    { name: 'exp', summary: 'an experiment with the verdict not proven', required: true, subject: true },
  ],
  options: [REASON],
  examples: ['winnow retry exp-007 -m "the runner was busy"'],
  comment: { options: ['message'] },
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const experiment = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      const { id, status } = experiment
      if (status !== 'not-proven') {
        const state = renderStateSentence(getExperimentState(campaign, experiment))
        throw new UserError(`${id} cannot be retried: only an experiment that is not proven can be. ${state}`)
      }
      const reason = call.given.text('message') ?? `requested by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'retry', experiment: id, reason }])
      if (dryRun === null)
        call.terminal.out(
          `Recorded. ${toSentenceCase(describeNextTick(campaign))} measures ${id} again, with more jobs.`,
        )
    }),
}

export const revertVerb: Verb = {
  name: 'revert',
  group: 'more',
  summary: 'revert a kept experiment; winnow measures the result',
  access: 'write',
  arguments: [{ name: 'exp', summary: 'a kept experiment', required: true }],
  options: [REASON],
  examples: ['winnow revert exp-007 -m "breaks Windows"'],
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const { id } = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      requireLanded(campaign, id)
      requireNotRequested(campaign, id)
      const reason = call.given.text('message') ?? `requested by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'revert', experiment: id, reason }])
      if (dryRun === null) call.terminal.out(describeRevertTime(campaign, id))
    }),
}

function requireLanded(campaign: Campaign, id: string): void {
  const landed = listLandedIds(campaign)
  if (landed.includes(id)) return
  const before = campaign.landings.some(({ experiment }) => experiment === id)
  const why = before ? `${id} was reverted already` : `${id} was not kept, so it cannot be reverted`
  throw new UserError(why, { fix: describeKeptChanges(landed) })
}

function requireNotRequested(campaign: Campaign, id: string): void {
  const request = campaign.steered.find(({ action, experiment }) => action === 'revert' && experiment === id)
  if (request === undefined) return
  throw new UserError(`the revert of ${id} was requested already: ${request.reason}`, {
    fix: `nothing to do: ${describeNextTick(campaign)} reverts it`,
  })
}

function describeRevertTime(campaign: Campaign, id: string): string {
  const { status, name } = campaign
  if (status === 'running') return `${id} will be reverted by ${describeNextTick(campaign)}.`
  return `Recorded. Campaign ${name} is ${status}: winnow reverts ${id} after winnow resume.`
}
