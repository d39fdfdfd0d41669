import { record } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { atCampaign } from './at-campaign.ts'
import { REASON } from './pause.ts'
import type { Verb } from './verb.ts'

export const resume: Verb = {
  name: 'resume',
  summary: 'go on with a campaign that was paused or stopped',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow resume', 'winnow resume -m "the runner is back"'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'write', startedOnly: true }, async ({ place, rehearsal }) => {
      const { campaign } = (await requireCampaign(place)).loaded
      if (campaign.status === 'running') {
        call.terminal.out(`Campaign ${place.name} is running already.`)
        return 0
      }
      const reason = call.given.text('message') ?? `resumed by ${place.by.actor}`
      await record(place, [{ kind: 'campaign-resumed', reason }])
      if (rehearsal === null) call.terminal.out(`Campaign ${place.name} goes on. winnow run measures.`)
      return 0
    }),
}
