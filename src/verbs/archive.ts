import { archiveCampaign as putAside } from '../engine/archive.ts'
import { isAway } from '../engine/home.ts'
import { listRefs } from '../engine/listed-refs.ts'
import type { CampaignContext } from '../engine/place.ts'
import { recordEvents } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { toShortRef } from '../model/refs.ts'
import { withCampaign } from './at-campaign.ts'
import { REASON } from './pause.ts'
import { closeCampaign } from './run.ts'
import type { Verb } from './verb.ts'

export const archiveVerb: Verb = {
  name: 'archive',
  group: 'more',
  summary: 'stop the campaign and put its branches aside; nothing of it is lost',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow archive', 'winnow archive --dry-run'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async scene => {
      const { place } = scene
      const reason = call.given.text('message') ?? `archived by ${place.by.actor}`
      await requireClosed(place, (await requireCampaign(place)).loaded.campaign, reason)
      await closeCampaign(call, scene, 'archived', reason)
      const at = await putAside(place, (await listRefs(place)).refs)
      if (scene.dryRun === null) {
        call.terminal.out(`Campaign ${place.name} is below ${toShortRef(place.refs.archive)}${at}/ now.`)
      }
      return 0
    }),
}

/**
 * What is open on GitHub can be closed there alone: of a stopped campaign the ledger says that it is to be put aside, and
 * the next wake-up closes its ideas.
 */
async function requireClosed(place: CampaignContext, campaign: Campaign, reason: string): Promise<void> {
  if (!isAway(place, campaign)) return
  const open = Object.values(campaign.experiments).filter(({ status }) => status !== 'ended')
  const isStopped = campaign.status === 'stopped'
  if (isStopped && open.length === 0) return
  if (isStopped && campaign.stop_code !== 'archived')
    await recordEvents(place, [{ kind: 'campaign-stopped', code: 'archived', reason }])
  throw new UserError(
    `campaign ${place.name} lives on GitHub, and what is open there is closed by its next wake-up`,
    {
      fix: `${isStopped ? '' : 'winnow stop; then winnow archive; '}once winnow status shows nothing open, winnow archive again`,
    },
  )
}
