import { EventRenderer } from '../report/event-line.ts'
import { withCampaign } from './at-campaign.ts'
import { readLedgerEvents } from './ledger-events.ts'
import type { Verb } from './verb.ts'

export const logVerb: Verb = {
  name: 'log',
  group: 'see',
  summary: 'every event of the campaign, oldest first; with --json one a line',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow log', 'winnow log --json'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
      const lines = new EventRenderer()
      for await (const event of readLedgerEvents(place)) {
        if (call.given.flag('json')) call.terminal.json(event)
        else call.terminal.out(`${event.seq}  ${event.at}  ${lines.next(event)}`)
      }
      return 0
    }),
}
