import { z } from 'zod'
import { LedgerError } from '../errors.ts'
import { hashSha256, joinMembers, listCanonicalMembers, toCanonicalJson } from '../model/canonical-json.ts'
import {
  computeEventId,
  type EventAuthor,
  type EventDraft,
  isEventKind,
  type LedgerEvent,
  parseEvent,
} from '../model/event.ts'

/** The end of a chain: the seq of the next event, and the sha256 of the last event's file. */
export interface ChainHead {
  seq: number
  head: string | null
}

export interface ChainedEvent {
  event: LedgerEvent
  bytes: string
  sha256: string
}

export interface EventChain {
  addEvent(draft: EventDraft): ChainedEvent
}

interface CheckedFile {
  event: LedgerEvent
  sha256: string
}

const utf8 = new TextDecoder()

const kindSchema = z.looseObject({ kind: z.string() })

const ENVELOPE_KEYS: ReadonlySet<string> = new Set(['seq', 'id', 'at', 'by', 'prev'])

/** Invariant 2, append-only: accepts a file only if its seq, its chain and its id all fit. */
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

/** Gives drafts their seq, id and prev. Each event passes the same check that readers apply. */
export function openChain(start: ChainHead, stamp: { at: string; by: EventAuthor }): EventChain {
  let { seq, head } = start
  return {
    addEvent(draft) {
      const envelope = { seq, id: computeEventId(draft), at: stamp.at, by: stamp.by, prev: head }
      const bytes = `${toCanonicalJson({ ...draft, ...envelope })}\n`
      const checked = checkEventFile(new TextEncoder().encode(bytes), { seq, head })
      seq += 1
      head = checked.sha256
      return { ...checked, bytes }
    },
  }
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

/** Recomputes the file and the event's id (without its envelope) in one pass. */
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

// Paths of event files

/** Events per directory. Small directories keep an append cheap. */
export const SHARD_SIZE = 1_000

interface EventPath {
  shard: string
  file: string
  path: string
}

export function buildEventPath(seq: number): EventPath {
  return buildNumberedPath('events', seq)
}

export function buildNumberedPath(root: string, number: number): EventPath {
  const shard = formatShardName(Math.floor(number / SHARD_SIZE))
  const file = `${String(number).padStart(6, '0')}.json`
  return { shard, file, path: `${root}/${shard}/${file}` }
}

function formatShardName(shard: number): string {
  return String(shard).padStart(4, '0')
}

/** null: not a name that winnow writes. */
export function parseShardName(name: string): number | null {
  const shard = /^\d{4,}$/.test(name) ? Number(name) : null
  return shard !== null && formatShardName(shard) === name ? shard : null
}

export function parseEventSeq(shard: number, name: string): number | null {
  const seq = /^\d{6,}\.json$/.test(name) ? Number.parseInt(name, 10) : null
  if (seq === null || Math.floor(seq / SHARD_SIZE) !== shard) return null
  return buildEventPath(seq).file === name ? seq : null
}
