import { z } from 'zod'
import { canonicalJson, sha256 } from './canonical.ts'
import { payloads } from './event-payloads.ts'
import { digest } from './ids.ts'

const text = z.string()
const natural = z.number().int().nonnegative()

const by = z.strictObject({ run_id: text, attempt: natural, actor: text })
export type By = z.infer<typeof by>

const envelope = {
  seq: natural,
  id: digest,
  at: z.iso.datetime(),
  by,
  /** The event or order this answers, or a person's nonce: what makes a repeat the same id. */
  cause: text,
  prev: digest.nullable(),
}

export type EventKind = keyof typeof payloads
type Payload<K extends EventKind> = z.output<z.ZodObject<(typeof payloads)[K], z.core.$strict>>
export type EventDraft<K extends EventKind = EventKind> = {
  [P in K]: { kind: P; cause: string } & Payload<P>
}[K]
export type LedgerEvent<K extends EventKind = EventKind> = {
  [P in K]: {
    kind: P
    seq: number
    id: string
    at: string
    by: By
    cause: string
    prev: string | null
  } & Payload<P>
}[K]

const schemas = Object.fromEntries(
  Object.entries(payloads).map(([kind, payload]) => [
    kind,
    z.strictObject({ kind: z.literal(kind), ...envelope, ...payload }),
  ]),
)

/** Events that mean the same whatever came before them: a lost race re-numbers them and tries again. */
export const COMMUTING: ReadonlySet<EventKind> = new Set([
  'measured',
  'steered',
  'note',
  'alert',
  'spent',
  'hypothesis-added',
  'hypothesis-updated',
  'approved',
  'approval-withdrawn',
  'knob-changed',
  'measure-allowed',
  'comments-read',
  'campaign-paused',
  'campaign-resumed',
  'campaign-stopped',
])

export function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(payloads, kind)
}

const named = z.looseObject({ kind: text })

export function parseEvent(value: unknown): LedgerEvent {
  const { kind } = named.parse(value)
  const schema = isEventKind(kind) ? schemas[kind] : undefined
  if (!schema) throw new TypeError(`unknown event kind ${JSON.stringify(kind)}`)
  return schema.parse(value) as LedgerEvent
}

/** What the event was before the ledger had it. */
export function envelopeOff<K extends EventKind>(event: LedgerEvent<K>): EventDraft<K> {
  const { seq: _seq, id: _id, at: _at, by: _by, prev: _prev, ...draft } = event
  return draft as unknown as EventDraft<K>
}

/** sha256 over kind, payload and cause: the same decision or command made twice is the same event. */
export function eventId(draft: EventDraft): string {
  return sha256(canonicalJson(draft))
}
