import type { LedgerEvent } from '../../model/event.ts'
import type { Oid, OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'

/** What the ledger has shown up to one event. A gap is what is missing for a proof, in words. */
export interface AuditEvidence {
  orders: Map<OrderId, OrderRecord>
  /** Heads that a report is there for, as `exp-001 <commit>`. */
  measuredHeads: Set<string>
  /** Verdicts that land something, by seq. */
  verdicts: Map<number, LandedVerdict>
  /** The events that say why a commit became the incumbent, by that commit. */
  incumbentEvents: Map<Oid, IncumbentEvent>
  /** Whether the default branch's spec changed the harness since the last sync. */
  harnessAmended: boolean
  /** Syncs that brought another harness. */
  harnessChanges: Set<Oid>
}

export interface OrderRecord {
  order: Order
  seq: number
  gaps: string[]
  report: Report | null
}

export interface LandedVerdict {
  event: LedgerEvent<'decided'>
  /** Of the file that holds it. */
  sha256: string
  /** The spec in force when it was recorded. */
  spec_sha256: string
  order: OrderRecord | null
  gaps: string[]
}

export type IncumbentEvent = LedgerEvent<'merged' | 'synced' | 'reverted' | 'foreign-tip'>

export function createEvidence(): AuditEvidence {
  return {
    orders: new Map(),
    measuredHeads: new Set(),
    verdicts: new Map(),
    incumbentEvents: new Map(),
    harnessAmended: false,
    harnessChanges: new Set(),
  }
}
