import { z } from 'zod'
import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import { eventPayloads } from './event-schemas.ts'
import { digestSchema } from './ids.ts'

const eventText = z.string()
const eventNumber = z.number().int().nonnegative()

const bySchema = z.strictObject({ run_id: eventText, attempt: eventNumber, actor: eventText })
export type EventAuthor = z.infer<typeof bySchema>

const envelopeSchema = z.strictObject({
  seq: eventNumber,
  id: digestSchema,
  at: z.iso.datetime(),
  by: bySchema,
  /**
   * The id of the event or order that this event answers, or a person's nonce. It gives a repeated event the same id.
   */
  cause: eventText,
  prev: digestSchema.nullable(),
})

export type EventKind = keyof typeof eventPayloads
type EventPayload<K extends EventKind> = z.output<z.ZodObject<(typeof eventPayloads)[K], z.core.$strict>>
export type EventDraft<K extends EventKind = EventKind> = {
  [P in K]: { kind: P; cause: string } & EventPayload<P>
}[K]
export type LedgerEvent<K extends EventKind = EventKind> = {
  [P in K]: { kind: P } & z.infer<typeof envelopeSchema> & EventPayload<P>
}[K]

const eventSchemas = Object.fromEntries(
  Object.entries(eventPayloads).map(([kind, payload]) => [
    kind,
    z.strictObject({ kind: z.literal(kind), ...envelopeSchema.shape, ...payload }),
  ]),
)

/**
 * Events whose meaning does not depend on earlier events. After a lost race they are renumbered and appended again.
 */
export const COMMUTING_KINDS: ReadonlySet<EventKind> = new Set([
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
  'uncapped-allowed',
  'permission-granted',
  'comments-read',
  'campaign-paused',
  'campaign-resumed',
  'campaign-stopped',
])

export function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(eventPayloads, kind)
}

const kindOnlySchema = z.looseObject({ kind: eventText })

export function parseEvent(value: unknown): LedgerEvent {
  const { kind } = kindOnlySchema.parse(value)
  const schema = isEventKind(kind) ? eventSchemas[kind] : undefined
  if (!schema) throw new TypeError(`unknown event kind ${JSON.stringify(kind)}`)
  return schema.parse(value) as LedgerEvent
}

export function removeEnvelope<K extends EventKind>(event: LedgerEvent<K>): EventDraft<K> {
  const { seq: _seq, id: _id, at: _at, by: _by, prev: _prev, ...draft } = event
  return draft as unknown as EventDraft<K>
}

/** Hashes kind, payload and cause with sha256: the same decision or command always has the same id. */
export function computeEventId(draft: EventDraft): string {
  return hashSha256(toCanonicalJson(draft))
}
