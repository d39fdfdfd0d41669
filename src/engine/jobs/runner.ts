import type { Campaign } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'

/** Turns orders into reports: processes of this machine or remote jobs. */
export interface Runner {
  /** The run id of this process when it runs orders itself; null when remote runs have their own ids. */
  readonly runId: string | null
  /**
   * Identifies the machine, because stored measurements are comparable on the same one only. Null for remote
   * runs.
   */
  readonly machine: string | null
  facts(campaign: Campaign): Promise<Map<OrderId, RunFacts>>
  /** Drops data of orders that the accepted ledger no longer waits for. */
  tidy(campaign: Campaign): Promise<void>
  /** `campaign`: its state after the order was issued. */
  dispatch(order: Order, spec: Spec, campaign: Campaign): Promise<void>
  cancel(order: OrderId): Promise<void>
  /** Returns whether this process runs the order. */
  holds(order: OrderId): boolean
  /** Returns whether the order runs already or waits for a slot, for display. */
  doing(order: OrderId): 'running' | 'waiting' | null
  readonly busy: boolean
  /** Resolves when a local run ends; immediately when none is running. */
  settled(): Promise<void>
  /** Resolves when no local run is left, also after failures. */
  finished(): Promise<void>
  /** Ends all local runs. Resolves when none of their processes is left. */
  close(): Promise<void>
}

/** For a runner whose runs are all remote. */
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
