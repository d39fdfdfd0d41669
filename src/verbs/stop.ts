import { isAway } from '../engine/home.ts'
import { requireCampaign } from '../engine/session.ts'
import { atCampaign } from './at-campaign.ts'
import { REASON } from './pause.ts'
import { closeDown } from './run.ts'
import type { Verb } from './verb.ts'

export const stop: Verb = {
  name: 'stop',
  group: 'steer',
  summary: 'stop the campaign: what was kept stays, ideas without a verdict wait for winnow resume',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow stop -m "good enough"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    atCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      const already = campaign.status === 'stopped'
      const reason = call.given.text('message') ?? `stopped by ${scene.place.by.actor}`
      await closeDown(call, scene, 'person', reason)
      if (scene.rehearsal) return 0
      const away = isAway(scene.place, campaign)
        ? ' The next wake-up on GitHub ends what is being measured.'
        : ''
      call.terminal.out(
        already
          ? `Campaign ${campaign.name} was stopped already: ${campaign.status_reason}`
          : `Campaign ${campaign.name} is stopped. Its result is on ${scene.place.prefix}/${campaign.name}.${away}`,
      )
      return 0
    }),
}
