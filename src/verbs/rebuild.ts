import { rebuild as rebuildLedger } from '../engine/rebuild.ts'
import { atCampaign } from './at-campaign.ts'
import type { Verb } from './verb.ts'

export const rebuild: Verb = {
  name: 'rebuild',
  group: 'more',
  summary: 'make what is derived from the ledger anew: its views and its checkpoint',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow rebuild'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'write', startedOnly: true }, async ({ place, rehearsal }) => {
      const changed = await rebuildLedger(place)
      if (rehearsal === null)
        call.terminal.out(changed ? 'Made anew from every event.' : 'All of it is as the events say already.')
      return 0
    }),
}
