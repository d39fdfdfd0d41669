import { availableParallelism } from 'node:os'
import { isUserIsolated } from '../measure/users/lodging.ts'
import type { Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'

/** What an order may be measured beside, or a program be asked beside. */
export interface SlotRequest {
  /** As many at once, in this process. */
  limit: number
  /** Nothing else may run meanwhile. */
  alone: boolean
}

/** Timing is measured one at a time; what is deterministic as many at once as there are cores. */
export function chooseSlotRequest(
  order: Pick<Order, 'stop'>,
  spec: Spec,
  users = isUserIsolated(spec),
): SlotRequest {
  // Whoever ends one execution ends everything of its user.
  if (order.stop.rule !== 'once' || users) return { limit: 1, alone: true }
  const parallel = spec.execution.mode === 'parallel' && spec.parallel.exclusive_resources.length === 0
  const most = parallel ? Math.min(spec.execution.max_concurrent, availableParallelism()) : 1
  return { limit: Math.max(1, most), alone: false }
}

interface WaitingTask extends SlotRequest {
  enter: (lane: number) => void
}

/** Places to work in on this machine, taken in turn: whoever wants one alone is not passed by those who come later. */
export class WorkerSlots {
  /** Lanes that are taken, and by whom. */
  readonly #taken = new Map<number, SlotRequest>()
  #waiting: WaitingTask[] = []

  /** null: not wanted any more. */
  enter(berth: SlotRequest, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null)
    return new Promise(resolve => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter(each => each !== own)
        resolve(null)
        this.#admit()
      }
      const enter = (lane: number) => {
        signal.removeEventListener('abort', giveUp)
        resolve(lane)
      }
      const own = { ...berth, enter }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(own)
      this.#admit()
    })
  }

  leave(lane: number): void {
    this.#taken.delete(lane)
    this.#admit()
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next); next = this.#waiting[0]) {
      this.#waiting.shift()
      const lane = findFreeSlot(this.#taken)
      this.#taken.set(lane, next)
      next.enter(lane)
    }
  }

  #fits({ limit, alone }: SlotRequest): boolean {
    const inside = [...this.#taken.values()]
    if (alone) return inside.length === 0
    return (
      inside.every(each => !each.alone) && inside.length < Math.min(limit, ...inside.map(each => each.limit))
    )
  }
}

function findFreeSlot(taken: ReadonlyMap<number, SlotRequest>): number {
  let lane = 0
  while (taken.has(lane)) lane += 1
  return lane
}
