import { toCanonicalJson } from '../model/canonical.ts'
import { type EventAuthor, type EventDraft, computeEventId, type LedgerEvent } from '../model/event.ts'
import { type ChainHead, checkEventFile } from './event-file.ts'

export interface ChainedEvent {
  event: LedgerEvent
  /** Exactly the bytes of its file. */
  bytes: string
  sha256: string
}

export interface EventChain {
  addEvent(draft: EventDraft): ChainedEvent
}

/** Gives drafts their place: seq, id and prev. What it seals is, by construction, what reading accepts. */
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
