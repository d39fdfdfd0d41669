/** What was begun in this process and ends by itself, or is ended. */
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

  /** What it fails with is told to whoever waits or asks next; what was ended on purpose does not fail. */
  begin(key: string, task: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController()
    const done = task(abort.signal)
      .catch((error: unknown) => {
        if (!abort.signal.aborted) this.#failures.push(error)
      })
      .finally(() => this.#tasks.delete(key))
    this.#tasks.set(key, { done, abort })
  }

  /** Throws what a task failed with, once. */
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

  /** When one of them ends; at once when there is none. */
  async settled(): Promise<void> {
    if (this.busy) await Promise.race([...this.#tasks.values()].map(({ done }) => done))
    this.surface()
  }

  /** When there is none any more, whatever became of them. */
  async finished(): Promise<void> {
    while (this.busy) await Promise.all([...this.#tasks.values()].map(({ done }) => done))
  }

  close(): Promise<void> {
    for (const key of this.#tasks.keys()) this.abort(key)
    return this.finished()
  }
}
