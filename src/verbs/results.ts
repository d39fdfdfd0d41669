import { requireCampaign } from '../engine/session.ts'
import { subjectsOf } from '../model/picked.ts'
import { resultsYaml } from '../report/results-yaml.ts'
import { atCampaign } from './at-campaign.ts'
import { experimentNamed } from './experiment-named.ts'
import { gatherResults } from './gather-results.ts'
import { pullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const results: Verb = {
  name: 'results',
  group: 'more',
  summary: 'all that was measured of one experiment, or of all, as results.yaml',
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
      const found = await gatherResults(scene, wanted, pulls)
      if (call.given.flag('json')) call.terminal.json(named === undefined ? found : found[0])
      else
        for (const [at, one] of found.entries()) {
          if (at > 0) call.terminal.out('---')
          for (const line of resultsYaml(one).trimEnd().split('\n')) call.terminal.out(line)
        }
      return 0
    }),
}
