import { withReason } from '../model/describe-status.ts'
import { recordEvents } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import { describeCampaignState } from '../report/status-text.ts'
import { withCampaign } from './at-campaign.ts'
import type { Option, Verb } from './verb.ts'

export const REASON: Option = { name: 'message', short: 'm', value: 'reason', summary: 'why, for the record' }

export const pauseVerb: Verb = {
  name: 'pause',
  group: 'steer',
  summary: 'stop giving out work until winnow resume; what is under way ends',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow pause -m "release week"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ place, dryRun: rehearsal }) => {
      const { campaign } = (await requireCampaign(place)).loaded
      if (campaign.status === 'stopped') {
        throw new UserError(
          `campaign ${place.name} is ${describeCampaignState(campaign)}: there is nothing to pause`,
        )
      }
      if (campaign.status === 'paused') {
        call.terminal.out(
          `Campaign ${place.name} was already ${withReason('paused', campaign.status_reason ?? '')}`,
        )
        return 0
      }
      const reason = call.given.text('message') ?? `paused by ${place.by.actor}`
      await recordEvents(place, [{ kind: 'campaign-paused', reason, source: 'person' }])
      if (rehearsal === null) call.terminal.out(`Campaign ${place.name} is paused. winnow resume goes on.`)
      return 0
    }),
}
