import { recordEvents } from '../../engine/record.ts'
import { requireCampaign } from '../../engine/session.ts'
import { UserError } from '../../errors.ts'
import { allowMeasure } from '../../plan/strangers.ts'
import { toShortId } from '../../report/event-line.ts'
import { withCampaign } from '../at-campaign.ts'
import type { Call } from '../call.ts'

/** `/winnow measure <sha>`: somebody who may write has looked at this head, and lets it run. */
export async function allowMeasuring(call: Call): Promise<number> {
  const [sha = ''] = call.given.positionals
  return withCampaign(call, { access: 'write', startedOnly: true }, async ({ place }) => {
    const { campaign } = (await requireCampaign(place)).loaded
    const allowed = allowMeasure(campaign, sha.toLowerCase())
    if ('refused' in allowed) throw new UserError(allowed.refused, { fix: allowed.fix })
    await recordEvents(place, [{ kind: 'measure-allowed', ...allowed, login: place.by.actor }])
    call.terminal.out(
      `${allowed.experiment} is measured as it is at ${toShortId(allowed.head)}, and nothing later of it.`,
    )
    return 0
  })
}
