import { requireCampaign } from '../engine/session.ts'
import { listSubjects } from '../model/picked.ts'
import { renderResultsYaml } from '../report/results-yaml.ts'
import { withCampaign } from './at-campaign.ts'
import { findNamedExperiment } from './experiment-named.ts'
import { gatherResults } from './gather-results.ts'
import { listPullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const resultsVerb: Verb = {
  name: 'results',
  group: 'more',
  summary: 'all that was measured of one experiment, or of all, as results.yaml',
  access: 'read',
  arguments: [{ name: 'exp', summary: 'the experiment, exp-007 or 7; all without it', required: false }],
  options: [],
  examples: ['winnow results exp-007', 'winnow results --json'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      const [named] = call.given.positionals
      const wanted = named === undefined ? listSubjects(campaign) : [findNamedExperiment(campaign, named)]
      const pulls = await listPullNumbers(scene.place, campaign)
      const found = await gatherResults(scene, wanted, pulls)
      if (call.given.flag('json')) call.terminal.json(named === undefined ? found : found[0])
      else
        for (const [at, one] of found.entries()) {
          if (at > 0) call.terminal.out('---')
          for (const line of renderResultsYaml(one).trimEnd().split('\n')) call.terminal.out(line)
        }
      return 0
    }),
}
