import { requireCampaign } from '../engine/session.ts'
import type { LedgerEvent } from '../model/event.ts'
import { concerns, experimentText } from '../report/experiment-text.ts'
import { pairChart } from '../report/pair-chart.ts'
import { PairStories, type PairStory } from '../report/pair-story.ts'
import { pairView } from '../report/pair-view.ts'
import { evidenceIn } from '../report/standing.ts'
import { experimentView } from '../report/status-view.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import { experimentNamed } from './experiment-named.ts'
import { ledgerEvents } from './ledger-events.ts'
import { pullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const show: Verb = {
  name: 'show',
  group: 'see',
  summary: 'one experiment: its verdict, its pairs, and all that happened to it',
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
      const { events, stories } = await told(scene, experiment.id)
      if (call.given.flag('json')) {
        const evidence = evidenceIn(campaign, experiment)
        call.terminal.json({ ...view, evidence, pairs: stories.map(pairView), events })
        return 0
      }
      const charts = stories.flatMap(story => [...pairChart(story), ''])
      for (const line of experimentText(campaign, experiment, view, { events, charts }))
        call.terminal.out(line)
      return 0
    }),
}

/** What the ledger says of it, and the pairs it was decided by. */
async function told({ place }: Scene, id: string): Promise<{ events: LedgerEvent[]; stories: PairStory[] }> {
  const orders = new Set<string>()
  const events: LedgerEvent[] = []
  const pairs = new PairStories(id)
  for await (const event of ledgerEvents(place)) {
    pairs.take(event)
    if (!concerns(event, id, orders)) continue
    if (event.kind === 'order-issued') orders.add(event.id)
    events.push(event)
  }
  return { events, stories: pairs.stories }
}
