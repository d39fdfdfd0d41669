import { replayLedger as replayCampaign } from '../engine/replay.ts'
import { renderReplay } from '../report/proof-text.ts'
import { withCampaign } from './at-campaign.ts'
import type { Verb } from './verb.ts'

export const replayVerb: Verb = {
  name: 'replay',
  group: 'more',
  summary: 'compute every verdict again from the ledger and name each that differs',
  access: 'read',
  arguments: [{ name: 'campaign', summary: 'which one, where there are several', required: false }],
  options: [],
  examples: ['winnow replay', 'winnow replay --json'],
  exits: { 1: 'a verdict differs' },
  run: call =>
    withCampaign(
      call,
      { access: 'read', startedOnly: true, spec: call.given.positionals[0] },
      async ({ place }) => {
        const result = await replayCampaign(place)
        if (call.given.flag('json')) call.terminal.json(result)
        else for (const line of renderReplay(place.name, result)) call.terminal.out(line)
        return result.ok ? 0 : 1
      },
    ),
}
