import { requireCampaign } from '../engine/session.ts'
import { describeWaiting } from '../report/sentence.ts'
import { withCampaign } from './at-campaign.ts'
import { tickWithoutMeasuring } from './looking.ts'
import type { Verb } from './verb.ts'

export const tickVerb: Verb = {
  name: 'tick',
  group: 'more',
  summary: 'observe, plan and apply until nothing is left to do now; measures nothing',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow tick', 'winnow tick --dry-run'],
  exits: {},
  run: call =>
    withCampaign(
      call,
      { access: 'write', startedOnly: true, announce: true, repeatable: true },
      async scene => {
        await requireCampaign(scene.place)
        const waiting = await tickWithoutMeasuring(call, scene)
        if (scene.dryRun === null) call.terminal.out(describeWaiting(waiting))
        return 0
      },
    ),
}
