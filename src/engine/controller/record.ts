import { formatCount } from '../../decide/wording.ts'
import type { ForgeError } from '../../errors.ts'
import { appendCommuting } from '../../ledger/append.ts'
import type { Campaign } from '../../model/campaign.ts'
import { computeEventId, type EventDraft, type LedgerEvent } from '../../model/event.ts'
import { type CampaignContext, createPacing, type Memory } from '../campaign/context.ts'

type WithoutCause<T> = T extends unknown ? Omit<T, 'cause'> : never

/** The nonce is drawn once, so that every retry writes the same event. */
export async function recordEvents(
  context: CampaignContext,
  drafts: readonly WithoutCause<EventDraft>[],
): Promise<LedgerEvent[]> {
  const nonce = context.nonce ?? context.random.hex(16)
  const caused = drafts.map(draft => ({ ...draft, cause: nonce }) as EventDraft)
  return appendCommuting(
    {
      repo: context.repository,
      refs: context.refs,
      now: () => context.clock.now(),
      ...createPacing(context),
      failed: (unwritten, error) => withSavedEvents(context, unwritten, error),
    },
    caused,
    context.by,
  )
}

interface RefusalContext {
  context: CampaignContext
  memory: Memory
}

/** Reports each reason once. The memory keeps it, so that the caller can report it after the tick. */
export function reportRefusal({ context, memory }: RefusalContext, error: ForgeError): void {
  if (memory.refusals.has(error.message)) return
  memory.refusals.set(error.message, error)
  context.progress.say(error.message)
}

/** Records each alert once. Returns false when the ledger has it already. */
export async function recordAlert(
  context: CampaignContext,
  alerts: Campaign['alerts'],
  alert: Omit<Campaign['alerts'][number], 'at'>,
): Promise<boolean> {
  if (alerts.some(({ code, message }) => code === alert.code && message === alert.message)) return false
  await recordEvents(context, [{ kind: 'alert', ...alert }])
  return true
}

type UnwrittenContext = Pick<CampaignContext, 'name' | 'refs' | 'by' | 'keepUnwritten'>

/** A larger file helps no reader. A single report may take up half of it. */
const MOST_BYTES = 8 * 1024 * 1024

/** Invariant 8 without a ledger: saves events that could not be written in a file for a person. */
export async function saveUnwrittenEvents(
  context: UnwrittenContext,
  drafts: readonly EventDraft[],
  why: string,
): Promise<string> {
  const subject = formatCount(drafts.length, 'unwritten event')
  const [first] = drafts
  // A retried plan begins with the same event and gets the same file name.
  const name = `${context.name}-${first === undefined ? 'nothing' : computeEventId(first).slice(0, 12)}.json`
  try {
    return `winnow saved ${subject} in ${await context.keepUnwritten(name, formatUnwrittenFile(context, drafts, why))}`
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return `winnow could not save ${subject} in a file either: ${reason}`
  }
}

export async function withSavedEvents(
  context: UnwrittenContext,
  drafts: readonly EventDraft[],
  error: unknown,
): Promise<unknown> {
  if (drafts.length > 0 && error instanceof Error)
    error.message += `\n${await saveUnwrittenEvents(context, drafts, error.message)}`
  return error
}

/** Keeps events in order while there is room, and lists the id and size of the others. */
function formatUnwrittenFile(context: UnwrittenContext, drafts: readonly EventDraft[], why: string): string {
  const { name, refs, by } = context
  const kept: object[] = []
  const omitted: object[] = []
  let room = MOST_BYTES
  for (const draft of drafts) {
    const id = computeEventId(draft)
    const bytes = Buffer.byteLength(JSON.stringify(draft, null, 2))
    if (bytes > room) omitted.push({ id, kind: draft.kind, bytes })
    else {
      kept.push({ id, ...draft })
      room -= bytes
    }
  }
  const file = { campaign: name, ledger: refs.state, by, why, events: kept, left_out: omitted }
  return `${JSON.stringify(file, null, 2)}\n`
}
