import type { Place } from '../engine/place.ts'
import { UserError } from '../errors.ts'
import { readEvents } from '../ledger/read-events.ts'
import type { LedgerEvent } from '../model/event.ts'

/** Every event of the campaign, from the first. */
export async function* ledgerEvents({ repository, refs, name }: Place): AsyncGenerator<LedgerEvent, void> {
  const tip = (await repository.remoteRefs([refs.state])).refs.get(refs.state)
  if (tip === undefined) throw new UserError(`no campaign ${name} was started`, { fix: 'winnow run' })
  await repository.fetch([{ ref: refs.state, oid: tip }])
  yield* readEvents(repository, tip, 0)
}
