import { availableParallelism } from 'node:os'
import type { Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'

/** Timing is measured one at a time; what is deterministic as many at once as there are cores. */
export function lanesFor(order: Order, spec: Spec): number {
  const parallel = spec.execution.mode === 'parallel' && spec.parallel.exclusive_resources.length === 0
  if (order.stop.rule !== 'once' || !parallel) return 1
  return Math.max(1, Math.min(spec.execution.max_concurrent, availableParallelism()))
}

/**
 * Places to work in on this machine, taken in turn; whoever finds none free waits. `most` is how many may be
 * taken beside oneself and oneself: who takes a place for itself alone gets no company later either.
 */
export class Lanes {
  readonly #taken = new Map<number, number>()
  #waiting = new Set<() => void>()

  /** null: not wanted any more. */
  async enter(most: number, signal: AbortSignal): Promise<number | null> {
    while (!signal.aborted) {
      if (this.#taken.size < Math.min(most, ...this.#taken.values())) {
        const lane = firstFree(this.#taken)
        this.#taken.set(lane, most)
        return lane
      }
      await this.#change(signal)
    }
    return null
  }

  leave(lane: number): void {
    this.#taken.delete(lane)
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake, { once: true })
    })
  }
}

function firstFree(taken: ReadonlyMap<number, number>): number {
  let lane = 0
  while (taken.has(lane)) lane += 1
  return lane
}
