import { EventLines } from '../report/event-line.ts'
import { atCampaign } from './at-campaign.ts'
import { ledgerEvents } from './ledger-events.ts'
import type { Verb } from './verb.ts'

export const log: Verb = {
  name: 'log',
  group: 'see',
  summary: 'every event of the campaign, oldest first; with --json one a line',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow log', 'winnow log --json'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
      const lines = new EventLines()
      for await (const event of ledgerEvents(place)) {
        if (call.given.flag('json')) call.terminal.json(event)
        else call.terminal.out(`${event.seq}  ${event.at}  ${lines.next(event)}`)
      }
      return 0
    }),
}
