import type { CampaignContext } from '../engine/place.ts'
import { requireLedger } from '../engine/recover.ts'
import { readEvents } from '../ledger/read-events.ts'
import type { LedgerEvent } from '../model/event.ts'

/** Every event of the campaign, from the first. */
export async function* readLedgerEvents(place: CampaignContext): AsyncGenerator<LedgerEvent, void> {
  const { repository, refs } = place
  const tip = await requireLedger(place, (await repository.remoteRefs([refs.state])).refs)
  await repository.fetch([{ ref: refs.state, oid: tip }])
  yield* readEvents(repository, tip, 0)
}
