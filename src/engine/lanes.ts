import { availableParallelism } from 'node:os'
import type { Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'

/** Timing is measured one at a time; what is deterministic as many at once as there are cores. */
export function lanesFor(order: Order, spec: Spec): number {
  const parallel = spec.execution.mode === 'parallel' && spec.parallel.exclusive_resources.length === 0
  if (order.stop.rule !== 'once' || !parallel) return 1
  return Math.max(1, Math.min(spec.execution.max_concurrent, availableParallelism()))
}

/** Places to measure in, taken in turn; whoever finds none free waits. */
export class Lanes {
  readonly #taken = new Set<number>()
  #waiting: (() => void)[] = []

  async enter(limit: number): Promise<number> {
    for (;;) {
      if (this.#taken.size < limit) {
        const lane = firstFree(this.#taken)
        this.#taken.add(lane)
        return lane
      }
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  leave(lane: number): void {
    this.#taken.delete(lane)
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }
}

function firstFree(taken: ReadonlySet<number>): number {
  let lane = 0
  while (taken.has(lane)) lane += 1
  return lane
}
