import { rebuildViews as rebuildLedger } from '../engine/rebuild.ts'
import { withCampaign } from './at-campaign.ts'
import type { Verb } from './verb.ts'

export const rebuildVerb: Verb = {
  name: 'rebuild',
  group: 'more',
  summary: 'make what is derived from the ledger anew: its views and its checkpoint',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow rebuild'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ place, dryRun: rehearsal }) => {
      const changed = await rebuildLedger(place)
      if (rehearsal === null)
        call.terminal.out(changed ? 'Made anew from every event.' : 'All of it is as the events say already.')
      return 0
    }),
}
