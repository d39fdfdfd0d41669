import { requireCampaign } from '../engine/session.ts'
import type { LedgerEvent } from '../model/event.ts'
import { concerns, experimentText } from '../report/experiment-text.ts'
import { experimentView } from '../report/status-view.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import { experimentNamed } from './experiment-named.ts'
import { ledgerEvents } from './ledger-events.ts'
import { pullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const show: Verb = {
  name: 'show',
  summary: 'one experiment: its verdict, its numbers, and everything that happened to it',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7', required: true }],
  options: [],
  examples: ['winnow show exp-007', 'winnow show 7 --json'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'read', startedOnly: true }, async scene => {
      const { loaded } = await requireCampaign(scene.place)
      const experiment = experimentNamed(loaded.campaign, call.given.positionals[0] ?? '')
      const { campaign } = loaded
      const view = experimentView(campaign, experiment, await pullNumbers(scene.place, loaded.campaign))
      const events = await eventsOf(scene, experiment.id)
      if (call.given.flag('json')) call.terminal.json({ ...view, events })
      else for (const line of experimentText(campaign, experiment, view, events)) call.terminal.out(line)
      return 0
    }),
}

async function eventsOf({ place }: Scene, id: string): Promise<LedgerEvent[]> {
  const orders = new Set<string>()
  const found: LedgerEvent[] = []
  for await (const event of ledgerEvents(place)) {
    if (!concerns(event, id, orders)) continue
    if (event.kind === 'order-issued') orders.add(event.id)
    found.push(event)
  }
  return found
}
