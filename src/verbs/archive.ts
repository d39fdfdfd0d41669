import { archive as putAside } from '../engine/archive.ts'
import { listRefs } from '../engine/listed-refs.ts'
import { requireCampaign } from '../engine/session.ts'
import { shortRef } from '../model/refs.ts'
import { atCampaign } from './at-campaign.ts'
import { REASON } from './pause.ts'
import { closeDown } from './run.ts'
import type { Verb } from './verb.ts'

export const archive: Verb = {
  name: 'archive',
  group: 'more',
  summary: 'stop the campaign and put its branches aside; nothing of it is lost',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow archive', 'winnow archive --dry-run'],
  exits: {},
  run: call =>
    atCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      const { place } = scene
      await requireCampaign(place)
      await closeDown(call, scene, 'archived', call.given.text('message') ?? `archived by ${place.by.actor}`)
      const at = await putAside(place, (await listRefs(place)).refs)
      if (scene.rehearsal === null) {
        call.terminal.out(`Campaign ${place.name} is below ${shortRef(place.refs.archive)}${at}/ now.`)
      }
      return 0
    }),
}
