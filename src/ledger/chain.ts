import { canonicalJson } from '../model/canonical.ts'
import { type By, type EventDraft, eventId, type LedgerEvent } from '../model/event.ts'
import { type ChainHead, checkEventFile } from './event-file.ts'

export interface SealedEvent {
  event: LedgerEvent
  /** Exactly the bytes of its file. */
  bytes: string
  sha256: string
}

export interface Chain {
  seal(draft: EventDraft): SealedEvent
}

/** Gives drafts their place: seq, id and prev. What it seals is, by construction, what reading accepts. */
export function openChain(start: ChainHead, stamp: { at: string; by: By }): Chain {
  let { seq, head } = start
  return {
    seal(draft) {
      const envelope = { seq, id: eventId(draft), at: stamp.at, by: stamp.by, prev: head }
      const bytes = `${canonicalJson({ ...draft, ...envelope })}\n`
      const checked = checkEventFile(new TextEncoder().encode(bytes), { seq, head })
      seq += 1
      head = checked.sha256
      return { ...checked, bytes }
    },
  }
}
