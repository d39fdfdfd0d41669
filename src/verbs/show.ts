import { requireCampaign } from '../engine/session.ts'
import type { LedgerEvent } from '../model/event.ts'
import { isAboutExperiment, renderExperiment } from '../report/experiment-text.ts'
import { renderPairChart } from '../report/pair-chart.ts'
import { PairStories, type PairStory } from '../report/pair-story.ts'
import { toPairView } from '../report/pair-view.ts'
import { getEvidenceLine } from '../report/standing.ts'
import { buildExperimentView } from '../report/status-view.ts'
import { withCampaign, type CommandContext } from './at-campaign.ts'
import { findNamedExperiment } from './experiment-named.ts'
import { readLedgerEvents } from './ledger-events.ts'
import { listPullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const showVerb: Verb = {
  name: 'show',
  group: 'see',
  summary: 'one experiment: its verdict, its pairs, and all that happened to it',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7', required: true }],
  options: [],
  examples: ['winnow show exp-007', 'winnow show 7 --json'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async scene => {
      const { loaded } = await requireCampaign(scene.place)
      const experiment = findNamedExperiment(loaded.campaign, call.given.positionals[0] ?? '')
      const { campaign } = loaded
      const view = buildExperimentView(
        campaign,
        experiment,
        await listPullNumbers(scene.place, loaded.campaign),
      )
      const { events, stories } = await readHistory(scene, experiment.id)
      if (call.given.flag('json')) {
        const evidence = getEvidenceLine(campaign, experiment)
        call.terminal.json({ ...view, evidence, pairs: stories.map(toPairView), events })
        return 0
      }
      const charts = stories.flatMap(story => [...renderPairChart(story), ''])
      for (const line of renderExperiment(campaign, experiment, view, { events, charts }))
        call.terminal.out(line)
      return 0
    }),
}

/** What the ledger says of it, and the pairs it was decided by. */
async function readHistory(
  { place }: CommandContext,
  id: string,
): Promise<{ events: LedgerEvent[]; stories: PairStory[] }> {
  const orders = new Set<string>()
  const events: LedgerEvent[] = []
  const pairs = new PairStories(id)
  for await (const event of readLedgerEvents(place)) {
    pairs.take(event)
    if (!isAboutExperiment(event, id, orders)) continue
    if (event.kind === 'order-issued') orders.add(event.id)
    events.push(event)
  }
  return { events, stories: pairs.stories }
}
