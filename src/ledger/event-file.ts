import { z } from 'zod'
import { LedgerError } from '../errors.ts'
import { listCanonicalMembers, joinMembers, hashSha256 } from '../model/canonical.ts'
import { isEventKind, type LedgerEvent, parseEvent } from '../model/event.ts'
import { buildEventPath } from './layout.ts'

/** Where a chain stands: the seq the next event gets, and the sha256 of the file before it. */
export interface ChainHead {
  seq: number
  head: string | null
}

const utf8 = new TextDecoder()
const kindSchema = z.looseObject({ kind: z.string() })

export interface CheckedFile {
  event: LedgerEvent
  sha256: string
}

/** Invariant 2, append-only: a file is believed only if its place, its chain and its id all fit. */
export function checkEventFile(bytes: Uint8Array, expected: ChainHead): CheckedFile {
  const text = utf8.decode(bytes)
  const event = parseEventFile(text, expected.seq)
  if (event.seq !== expected.seq) throw createChainError(expected.seq, `it says seq ${event.seq}`)
  if (event.prev !== expected.head) {
    throw createChainError(
      expected.seq,
      `its prev is ${event.prev}, the file before it has sha256 ${expected.head}`,
    )
  }
  const { whole, id } = recomputeEvent(event)
  if (event.id !== id)
    throw createChainError(expected.seq, `its id is ${event.id}, its content makes it ${id}`)
  if (`${whole}\n` !== text) throw createChainError(expected.seq, 'it is not canonical JSON and a newline')
  return { event, sha256: hashSha256(bytes) }
}

function parseEventFile(text: string, seq: number): LedgerEvent {
  const value = parseEventJson(text, seq)
  const found = kindSchema.safeParse(value)
  if (!found.success) throw createChainError(seq, 'it has no kind')
  const { kind } = found.data
  if (!isEventKind(kind)) {
    throw createChainError(
      seq,
      `its kind ${JSON.stringify(kind)} is unknown: a newer winnow wrote it, upgrade`,
    )
  }
  try {
    return parseEvent(value)
  } catch (error) {
    if (error instanceof z.ZodError) throw createChainError(seq, z.prettifyError(error).replaceAll('\n', ' '))
    throw error
  }
}

function parseEventJson(text: string, seq: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw createChainError(seq, `it is not JSON (${error instanceof Error ? error.message : String(error)})`)
  }
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set(['seq', 'id', 'at', 'by', 'prev'])

/** The file as it must be, and the id of what it holds beside its place in the chain: one walk for both. */
function recomputeEvent(event: LedgerEvent): { whole: string; id: string } {
  const members = listCanonicalMembers(event)
  const draft = members.filter(([name]) => !ENVELOPE_KEYS.has(name))
  return {
    whole: joinMembers(members.map(([, member]) => member)),
    id: hashSha256(joinMembers(draft.map(([, member]) => member))),
  }
}

export function createChainError(seq: number, what: string): LedgerError {
  return new LedgerError(`event ${seq} (${buildEventPath(seq).path}) does not fit: ${what}`, seq)
}
