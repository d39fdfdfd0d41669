import type { Campaign } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import type { Order } from '../../model/order.ts'
import type { JobFacts, World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'

/** Starts, reads and cancels jobs: processes of this machine, or jobs on GitHub. */
export interface Runner {
  /** The run id of this process when it runs orders itself; null when remote runs have their own ids. */
  readonly runId: string | null
  /** Stored measurements are comparable on one machine only. Null for remote runs. */
  readonly machine: string | null
  readonly asks: World['asks']
  facts(campaign: Campaign): Promise<JobFacts>
  /** Drops data of orders that the accepted ledger no longer waits for. */
  tidy(campaign: Campaign): Promise<void>
  /** `campaign`: its state after the order was issued. */
  dispatch(order: Order, spec: Spec, campaign: Campaign): Promise<void>
  /** A later observation finds its answer. */
  propose(who: string, request: { campaign: Campaign; spec: Spec; mayCostUsd: number | null }): void
  cancel(order: OrderId): Promise<void>
  /** Resolves when none of the processes of local proposers is left. */
  cancelProposers(): Promise<void>
  holds(order: OrderId): boolean
  /** Returns whether the order runs already or waits for a slot, for display. */
  doing(order: OrderId): 'running' | 'waiting' | null
  readonly proposing: readonly string[]
  readonly busy: boolean
  /** Resolves when a local job ends; immediately when none is running. */
  settled(): Promise<void>
  /** Resolves when no local job is left, also after failures. */
  finished(): Promise<void>
  close(): Promise<void>
}

/** For a runner whose jobs are all remote: a process that holds a token starts no program. */
export const NOTHING_HERE = {
  runId: null,
  machine: null,
  propose: who => {
    throw new Error(`this process starts no proposer, and ${who} was to be started`)
  },
  cancelProposers: async () => {},
  holds: () => false,
  doing: () => null,
  proposing: [],
  busy: false,
  settled: async () => {},
  finished: async () => {},
  close: async () => {},
} satisfies Partial<Runner>
