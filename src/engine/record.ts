import { appendCommuting } from '../ledger/append.ts'
import type { EventDraft, LedgerEvent } from '../model/event.ts'
import { createPacing, type CampaignContext } from './place.ts'
import { withSavedEvents } from './unwritten.ts'

type WithoutCause<T> = T extends unknown ? Omit<T, 'cause'> : never

/**
 * Appends what a person or a proposer did: events that mean the same wherever they land. The nonce is drawn
 * once, before the first attempt, so that every retry is the same event.
 */
export async function recordEvents(
  place: CampaignContext,
  drafts: readonly WithoutCause<EventDraft>[],
): Promise<LedgerEvent[]> {
  const nonce = place.nonce ?? place.random.hex(16)
  const caused = drafts.map(draft => ({ ...draft, cause: nonce }) as EventDraft)
  return appendCommuting(
    {
      repo: place.repository,
      refs: place.refs,
      ...createPacing(place),
      failed: (unwritten, error) => withSavedEvents(place, unwritten, error),
    },
    caused,
    place.by,
  )
}
