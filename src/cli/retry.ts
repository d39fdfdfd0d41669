import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { getExperimentState } from '../report/experiment-state.ts'
import { renderStateSentence } from '../report/verdict-text.ts'
import { withCampaign } from './context.ts'
import { REASON } from './pause.ts'
import { findNamedExperiment } from './subjects.ts'
import type { Verb } from './verb.ts'

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
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const { campaign } = (await requireCampaign(campaignContext)).loaded
      const experiment = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      const { id, status } = experiment
      if (status !== 'parked') {
        const state = renderStateSentence(getExperimentState(campaign, experiment))
        throw new UserError(`only what is not proven yet is tried again. ${id}: ${state}`)
      }
      const reason = call.given.text('message') ?? `requested by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'retry', experiment: id, reason }])
      if (dryRun === null) call.terminal.out(`${id} is measured further.`)
      return 0
    }),
}
