import { recordEvents } from '../engine/controller/record.ts'
import { UserError } from '../errors.ts'
import { toOneLine } from '../model/text.ts'
import { changeCampaign } from './context.ts'
import { findNamedExperiment } from './subjects.ts'
import type { Verb } from './verb.ts'

export const noteVerb: Verb = {
  name: 'note',
  group: 'more',
  summary: 'record a note in the ledger, about the campaign or one experiment',
  access: 'write',
  arguments: [{ name: 'text', summary: 'the note', required: true }],
  options: [
    { name: 'experiment', short: 'e', value: 'exp', summary: 'the experiment that the note is about' },
  ],
  examples: ['winnow note "the cache is cold on Mondays"', 'winnow note -e exp-007 "worth another look"'],
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const text = (call.given.positionals[0] ?? '').trim()
      if (text === '') throw new UserError('the note is empty', { fix: 'winnow note "what to remember"' })
      const about = call.given.text('experiment')
      const experiment = about === undefined ? null : findNamedExperiment(campaign, about).id
      await recordEvents(campaignContext, [{ kind: 'note', text, experiment }])
      if (dryRun === null) call.terminal.out('Noted.')
    }),
}

const MAX_LENGTH = 400

export const avoidVerb: Verb = {
  name: 'avoid',
  group: 'more',
  summary: 'add a line to all later briefs: what proposers must not try',
  access: 'write',
  arguments: [{ name: 'what', summary: 'what to avoid, in one sentence', required: true, many: true }],
  examples: ['winnow avoid "unrolling loops by hand"'],
  comment: { options: [] },
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }) => {
      const reason = toOneLine(call.given.positionals.join(' '), MAX_LENGTH)
      if (reason === '')
        throw new UserError('the text to avoid is empty', { fix: 'winnow avoid "what not to try"' })
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'avoid', experiment: null, reason }])
      if (dryRun === null) call.terminal.out(`Later briefs tell proposers to avoid: ${reason}`)
    }),
}
