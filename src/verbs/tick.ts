import { requireCampaign } from '../engine/session.ts'
import { waitingSentence } from '../report/sentence.ts'
import { atCampaign } from './at-campaign.ts'
import { lookingTick } from './looking.ts'
import type { Verb } from './verb.ts'

export const tick: Verb = {
  name: 'tick',
  group: 'more',
  summary: 'observe, plan and apply until nothing is left to do now; measures nothing',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow tick', 'winnow tick --dry-run'],
  exits: {},
  run: call =>
    atCampaign(
      call,
      { access: 'write', startedOnly: true, announce: true, repeatable: true },
      async scene => {
        await requireCampaign(scene.place)
        const waiting = await lookingTick(call, scene)
        if (scene.rehearsal === null) call.terminal.out(waitingSentence(waiting))
        return 0
      },
    ),
}
