import { z } from 'zod'
import { LedgerError } from '../errors.ts'
import { canonicalMembers, joined, sha256 } from '../model/canonical.ts'
import { isEventKind, type LedgerEvent, parseEvent } from '../model/event.ts'
import { eventPath } from './layout.ts'

/** Where a chain stands: the seq the next event gets, and the sha256 of the file before it. */
export interface ChainHead {
  seq: number
  head: string | null
}

const utf8 = new TextDecoder()
const named = z.looseObject({ kind: z.string() })

export interface CheckedFile {
  event: LedgerEvent
  sha256: string
}

/** Invariant 2, append-only: a file is believed only if its place, its chain and its id all fit. */
export function checkEventFile(bytes: Uint8Array, expected: ChainHead): CheckedFile {
  const text = utf8.decode(bytes)
  const event = parse(text, expected.seq)
  if (event.seq !== expected.seq) throw misfit(expected.seq, `it says seq ${event.seq}`)
  if (event.prev !== expected.head) {
    throw misfit(expected.seq, `its prev is ${event.prev}, the file before it has sha256 ${expected.head}`)
  }
  const { whole, id } = recomputed(event)
  if (event.id !== id) throw misfit(expected.seq, `its id is ${event.id}, its content makes it ${id}`)
  if (`${whole}\n` !== text) throw misfit(expected.seq, 'it is not canonical JSON and a newline')
  return { event, sha256: sha256(bytes) }
}

function parse(text: string, seq: number): LedgerEvent {
  const value = json(text, seq)
  const found = named.safeParse(value)
  if (!found.success) throw misfit(seq, 'it has no kind')
  const { kind } = found.data
  if (!isEventKind(kind)) {
    throw misfit(seq, `its kind ${JSON.stringify(kind)} is unknown: a newer winnow wrote it, upgrade`)
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

const ENVELOPE: ReadonlySet<string> = new Set(['seq', 'id', 'at', 'by', 'prev'])

/** The file as it must be, and the id of what it holds beside its place in the chain: one walk for both. */
function recomputed(event: LedgerEvent): { whole: string; id: string } {
  const members = canonicalMembers(event)
  const draft = members.filter(([name]) => !ENVELOPE.has(name))
  return {
    whole: joined(members.map(([, member]) => member)),
    id: sha256(joined(draft.map(([, member]) => member))),
  }
}

export function misfit(seq: number, what: string): LedgerError {
  return new LedgerError(`event ${seq} (${eventPath(seq).path}) does not fit: ${what}`, seq)
}
