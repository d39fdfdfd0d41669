import { mkdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import { listNames, removeAll } from '../../measure/file-system.ts'
import { getHoldoutDir } from '../../measure/holdout.ts'
import { claimWorkDir, endLeftovers, releaseWorkDir } from '../../measure/process/leftovers.ts'
import { isUserIsolated } from '../../measure/session.ts'
import type { Order } from '../../model/order.ts'
import type { Spec } from '../../spec/schema.ts'

interface SlotRequest {
  limit: number
  alone: boolean
}

export function chooseSlotRequest(
  order: Pick<Order, 'stop' | 'attempt'>,
  spec: Spec,
  users = isUserIsolated(spec),
): SlotRequest {
  // Ending one execution ends every process of its user, so isolated orders run alone. So does a repeated attempt,
  // because another order may have disturbed the first one.
  if (order.stop.rule !== 'once' || order.attempt > 1 || users) return { limit: 1, alone: true }
  const parallel = spec.execution.mode === 'parallel' && spec.parallel.exclusive_resources.length === 0
  const most = parallel ? Math.min(spec.execution.max_concurrent, availableParallelism()) : 1
  return { limit: Math.max(1, most), alone: false }
}

interface WaitingTask extends SlotRequest {
  enter: (slot: number) => void
}

/** First come, first served: a later request never passes one that waits for exclusive use. */
export class WorkerSlots {
  readonly #taken = new Map<number, SlotRequest>()
  #waiting: WaitingTask[] = []

  /** Resolves with the slot number; null when the signal came first. */
  enter(slotRequest: SlotRequest, signal: AbortSignal): Promise<number | null> {
    if (signal.aborted) return Promise.resolve(null)
    return new Promise(resolve => {
      const giveUp = () => {
        this.#waiting = this.#waiting.filter(each => each !== own)
        resolve(null)
        this.#admit()
      }
      const enter = (slot: number) => {
        signal.removeEventListener('abort', giveUp)
        resolve(slot)
      }
      const own = { ...slotRequest, enter }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#waiting.push(own)
      this.#admit()
    })
  }

  leave(slot: number): void {
    this.#taken.delete(slot)
    this.#admit()
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next); next = this.#waiting[0]) {
      this.#waiting.shift()
      let slot = 0
      while (this.#taken.has(slot)) slot += 1
      this.#taken.set(slot, next)
      next.enter(slot)
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

export class TaskGroup {
  readonly #tasks = new Map<string, { done: Promise<void>; abort: AbortController }>()
  readonly #failures: unknown[] = []

  get busy(): boolean {
    return this.#tasks.size > 0
  }

  has(key: string): boolean {
    return this.#tasks.has(key)
  }

  get keys(): string[] {
    return [...this.#tasks.keys()]
  }

  /** The next `surface` or `settled` throws its error. An aborted task does not fail. */
  begin(key: string, task: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController()
    const done = task(abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#failures.push(error)
      })
      .finally(() => this.#tasks.delete(key))
    this.#tasks.set(key, { done, abort })
  }

  surface(): void {
    if (this.#failures.length > 0) throw this.#failures.shift()
  }

  abort(key: string): void {
    this.#tasks.get(key)?.abort.abort()
  }

  async cancel(key: string): Promise<void> {
    const task = this.#tasks.get(key)
    task?.abort.abort()
    await task?.done
  }

  /** Resolves when one task ends; immediately without tasks. */
  async settled(): Promise<void> {
    if (this.busy) await Promise.race([...this.#tasks.values()].map(({ done }) => done))
    this.surface()
  }

  async finished(): Promise<void> {
    while (this.busy) await Promise.all([...this.#tasks.values()].map(({ done }) => done))
  }

  close(): Promise<void> {
    for (const key of this.#tasks.keys()) this.abort(key)
    return this.finished()
  }
}

const MOST_PROCESSES = 64

/** Skips directories of other live winnow processes on this cache. */
export async function claimFreeWorkDir(parent: string, slot: number): Promise<string> {
  for (let process = 0; ; process++) {
    const workDir = join(parent, process === 0 ? String(slot) : `${slot}-${process}`)
    await mkdir(workDir, { recursive: true })
    if ((await tryUnlessInUse(() => claimWorkDir(workDir))) || process === MOST_PROCESSES) return workDir
  }
}

/** Ends processes that killed runs left in any of these directories, not only in the next one to be used. */
export async function endAllLeftovers(parent: string): Promise<void> {
  for (const name of listNames(parent)) await tryUnlessInUse(() => endLeftovers(join(parent, name)))
}

/** Removes holdout data that killed processes left in any slot, before the first measurement. */
export async function removeHoldouts(parent: string): Promise<void> {
  for (const name of listNames(parent)) {
    const workDir = join(parent, name)
    await tryUnlessInUse(async () => {
      await claimWorkDir(workDir)
      await removeAll(getHoldoutDir(workDir))
      await releaseWorkDir(workDir)
    })
  }
}

/** Returns false when a live process uses the directory. */
async function tryUnlessInUse(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    return true
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}
