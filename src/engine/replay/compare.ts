import { toCanonicalJson } from '../../model/canonical.ts'
import type { EventDraft, LedgerEvent } from '../../model/event.ts'

export interface FieldDifference {
  field: string
  recorded: unknown
  recomputed: unknown
}

const NO_PART = new Set(['kind', 'cause'])

/** Where what an event says and what should have been said are not the same JSON; null stands for missing. */
export function compareFields(event: LedgerEvent, draft: EventDraft): FieldDifference[] {
  const recorded = new Map<string, unknown>(Object.entries(event))
  return Object.entries(draft).flatMap(([field, recomputed]) => {
    const was = recorded.get(field) ?? null
    if (NO_PART.has(field) || toCanonicalJson(was) === toCanonicalJson(recomputed ?? null)) return []
    return [{ field, recorded: was, recomputed: recomputed ?? null }]
  })
}
