import type { Campaign } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'

/** What turns orders into reports: processes of this machine, or jobs somewhere else. */
export interface Runner {
  /** Known before anything is dispatched where the runs are this process's own; else null. */
  readonly runId: string | null
  /** What stored scores made here may be compared with; null where the runs are not of this machine. */
  readonly machine: string | null
  facts(campaign: Campaign): Promise<Map<OrderId, RunFacts>>
  /** Drops what is kept for orders that the ledger, as it was accepted, waits for no more. */
  tidy(campaign: Campaign): Promise<void>
  /** `campaign`: as the ledger has it once the order is issued. */
  dispatch(order: Order, spec: Spec, campaign: Campaign): Promise<void>
  cancel(order: OrderId): Promise<void>
  /** Whether a run of this order is under way in this process. */
  holds(order: OrderId): boolean
  /** The same more exactly, for people who watch: whether it is measured already, or waits for its turn. */
  doing(order: OrderId): 'running' | 'waiting' | null
  /** Whether any run is under way in this process. */
  readonly busy: boolean
  /** Resolves when a run that is under way here ends; at once when none is. */
  settled(): Promise<void>
  /** Resolves when no run is under way here any more, whatever became of them. */
  finished(): Promise<void>
  /** Ends every run of this process; resolves when no process of theirs is left. */
  close(): Promise<void>
}

/** Of a runner whose runs are none of this process. */
export const NOTHING_HERE = {
  runId: null,
  machine: null,
  holds: () => false,
  doing: () => null,
  busy: false,
  settled: async () => {},
  finished: async () => {},
  close: async () => {},
} satisfies Partial<Runner>
