import { recordEvents } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import { withCampaign } from './at-campaign.ts'
import { findNamedExperiment } from './experiment-named.ts'
import type { Verb } from './verb.ts'

export const noteVerb: Verb = {
  name: 'note',
  group: 'more',
  summary: 'write a sentence into the ledger, about the campaign or one experiment',
  access: 'write',
  arguments: [{ name: 'text', summary: 'what to remember', required: true }],
  options: [{ name: 'experiment', short: 'e', value: 'exp', summary: 'the experiment it is about' }],
  examples: ['winnow note "the cache is cold on Mondays"', 'winnow note -e exp-007 "worth another look"'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ place, dryRun: rehearsal }) => {
      const text = (call.given.positionals[0] ?? '').trim()
      if (text === '') throw new UserError('a note needs words', { fix: 'winnow note "what to remember"' })
      const { loaded } = await requireCampaign(place)
      const about = call.given.text('experiment')
      const experiment = about === undefined ? null : findNamedExperiment(loaded.campaign, about).id
      await recordEvents(place, [{ kind: 'note', text, experiment }])
      if (rehearsal === null) call.terminal.out('Noted.')
      return 0
    }),
}
