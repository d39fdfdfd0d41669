import type { ForgeError } from '../../errors.ts'
import { appendCommuting } from '../../ledger/append.ts'
import { DISPATCH_REFUSED } from '../../model/alerts.ts'
import { computeEventId, type EventDraft, type LedgerEvent } from '../../model/event.ts'
import { type CampaignContext, createPacing, type Memory } from '../campaign/context.ts'

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

interface RefusalContext {
  place: CampaignContext
  memory: Memory
}

/** Said once for each reason; however a tick ends, whoever began it hears that not everything was done. */
export function reportRefusal({ place, memory }: RefusalContext, error: ForgeError): void {
  if (memory.refusals.has(error.message)) return
  memory.refusals.set(error.message, error)
  place.progress.say(error.message)
}

/** Nothing can be measured: that stands in the ledger, once for each reason, until something is. */
export async function recordRefusalAlert(
  { place, memory }: RefusalContext,
  { message }: ForgeError,
): Promise<void> {
  const alerts = memory.loaded?.campaign.alerts ?? []
  if (alerts.some(alert => alert.code === DISPATCH_REFUSED && alert.message === message)) return
  await recordEvents(place, [{ kind: 'alert', code: DISPATCH_REFUSED, message, about: null }])
  memory.refs = null
}

type UnwrittenContext = Pick<CampaignContext, 'name' | 'refs' | 'by' | 'keepUnwritten'>

/** More of one failure is read by nobody; a report alone may have half of it. */
const MOST_BYTES = 8 * 1024 * 1024

/** Invariant 8, as far as it goes without a ledger: what could not be written into it is a file for a person. */
export async function saveUnwrittenEvents(
  place: UnwrittenContext,
  drafts: readonly EventDraft[],
  why: string,
): Promise<string> {
  const many = drafts.length === 1 ? 'the event that was' : `the ${drafts.length} events that were`
  const [first] = drafts
  // Planned again it begins with the same: one file for it, however often it fails.
  const name = `${place.name}-${first === undefined ? 'nothing' : computeEventId(first).slice(0, 12)}.json`
  try {
    return `${many} to be recorded: ${await place.keepUnwritten(name, formatUnwrittenFile(place, drafts, why))}`
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return `${many} to be recorded could not be kept in a file either: ${reason}`
  }
}

/** The error itself, whose words say where its events are. */
export async function withSavedEvents(
  place: UnwrittenContext,
  drafts: readonly EventDraft[],
  error: unknown,
): Promise<unknown> {
  if (drafts.length > 0 && error instanceof Error)
    error.message += `; ${await saveUnwrittenEvents(place, drafts, error.message)}`
  return error
}

/** As many events as there is room for, in their order; of the others what they were. */
function formatUnwrittenFile(place: UnwrittenContext, drafts: readonly EventDraft[], why: string): string {
  const { name, refs, by } = place
  const kept: object[] = []
  const leftOut: object[] = []
  let room = MOST_BYTES
  for (const draft of drafts) {
    const id = computeEventId(draft)
    const bytes = Buffer.byteLength(JSON.stringify(draft, null, 2))
    if (bytes > room) leftOut.push({ id, kind: draft.kind, bytes })
    else {
      kept.push({ id, ...draft })
      room -= bytes
    }
  }
  const file = { campaign: name, ledger: refs.state, by, why, events: kept, left_out: leftOut }
  return `${JSON.stringify(file, null, 2)}\n`
}
