import { z } from 'zod'
import { LedgerError } from '../errors.ts'
import { canonicalJson, sha256 } from '../model/canonical.ts'
import { eventId, isEventKind, type LedgerEvent, parseEvent } from '../model/event.ts'
import { eventPath } from './layout.ts'

/** Where a chain stands: the seq the next event gets, and the sha256 of the file before it. */
export interface ChainHead {
  seq: number
  head: string | null
}

export interface CheckedFile {
  event: LedgerEvent
  sha256: string
}

/** Invariant 2, append-only: a file is believed only if its place, its chain and its id all fit. */
export function checkEventFile(bytes: Uint8Array, expected: ChainHead): CheckedFile {
  const text = new TextDecoder().decode(bytes)
  const event = parse(text, expected.seq)
  if (event.seq !== expected.seq) throw misfit(expected.seq, `it says seq ${event.seq}`)
  if (event.prev !== expected.head) {
    throw misfit(expected.seq, `its prev is ${event.prev}, the file before it has sha256 ${expected.head}`)
  }
  const id = recomputedId(event)
  if (event.id !== id) throw misfit(expected.seq, `its id is ${event.id}, its content makes it ${id}`)
  if (`${canonicalJson(event)}\n` !== text)
    throw misfit(expected.seq, 'it is not canonical JSON and a newline')
  return { event, sha256: sha256(bytes) }
}

function parse(text: string, seq: number): LedgerEvent {
  const value = json(text, seq)
  const named = z.looseObject({ kind: z.string() }).safeParse(value)
  if (!named.success) throw misfit(seq, 'it has no kind')
  if (!isEventKind(named.data.kind)) {
    throw misfit(
      seq,
      `its kind ${JSON.stringify(named.data.kind)} is unknown: a newer winnow wrote it, upgrade`,
    )
  }
  try {
    return parseEvent(value)
  } catch (error) {
    if (error instanceof z.ZodError) throw misfit(seq, z.prettifyError(error).replaceAll('\n', ' '))
    throw error
  }
}

function json(text: string, seq: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw misfit(seq, `it is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

function recomputedId(event: LedgerEvent): string {
  const { seq: _seq, id: _id, at: _at, by: _by, prev: _prev, ...draft } = event
  return eventId(draft)
}

export function misfit(seq: number, what: string): LedgerError {
  return new LedgerError(`event ${seq} (${eventPath(seq).path}) does not fit: ${what}`, seq)
}
