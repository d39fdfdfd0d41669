import { changedPaths } from '../engine/results-commit.ts'
import { requireCampaign } from '../engine/session.ts'
import type { Experiment } from '../model/experiment.ts'
import { subjectsOf } from '../model/picked.ts'
import { ExperimentRecord } from '../report/experiment-record.ts'
import type { Results } from '../report/results.ts'
import { resultsOf } from '../report/results-of.ts'
import { resultsYaml } from '../report/results-yaml.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import { experimentNamed } from './experiment-named.ts'
import { ledgerEvents } from './ledger-events.ts'
import { pullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const results: Verb = {
  name: 'results',
  group: 'see',
  summary: 'everything that was measured of one experiment, or of all, as results.yaml',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7; all without it', required: false }],
  options: [],
  examples: ['winnow results exp-007', 'winnow results --json'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'read', startedOnly: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      const [named] = call.given.positionals
      const wanted = named === undefined ? subjectsOf(campaign) : [experimentNamed(campaign, named)]
      const pulls = await pullNumbers(scene.place, campaign)
      const all = await gather(scene, wanted)
      const found = all.map(one => withPull(one, pulls.get(one.candidate?.branch ?? '') ?? null))
      if (call.given.flag('json')) call.terminal.json(named === undefined ? found : found[0])
      else
        for (const [at, one] of found.entries()) {
          if (at > 0) call.terminal.out('---')
          for (const line of resultsYaml(one).trimEnd().split('\n')) call.terminal.out(line)
        }
      return 0
    }),
}

/** The ledger is read once, however many are asked for. */
async function gather({ place }: Scene, experiments: readonly Experiment[]): Promise<Results[]> {
  const asked = experiments.map(experiment => ({ experiment, record: new ExperimentRecord(experiment.id) }))
  for await (const event of ledgerEvents(place)) for (const { record } of asked) record.take(event)
  const found: Results[] = []
  for (const { experiment, record } of asked) {
    const diff = await changedPaths(place, record)
    const { outcome, reason, status } = experiment
    const ending = status === 'ended' && outcome !== null ? { outcome, reason: reason ?? '' } : null
    found.push(resultsOf({ spec: place.name, experiment, record, ending, diff }))
  }
  return found
}

/** The ledger does not name the pull requests that only a forge knows. */
function withPull(one: Results, number: number | null): Results {
  return { ...one, links: { ...one.links, pull_request: one.links.pull_request ?? number } }
}
