import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { withDeadline } from './deadline.ts'
import type { Ended, Launch, Supervisor } from './launch.ts'
import { findDescendants, endProcess, type ProcessEntry, listProcesses } from './process-table.ts'

const FOLLOW_MS = 250
const SETTLE_MS = 5_000

/**
 * Where nothing can reap: a process group, and every descendant seen while it ran. A process that left both
 * between two looks may survive, so whatever is measured this way is marked `unreaped`, and processor time
 * and memory stay missing.
 */
export function createGroupSupervisor(monotonic: () => number): Supervisor {
  return {
    strategy: 'group',
    async run(launch, onSpawn) {
      const started = monotonic()
      const child = startGroup(launch)
      const followed = new ProcessFollower(child.pid)
      const ended = new Promise<Pick<Ended, 'exitCode' | 'signal' | 'wallSeconds'>>((resolve, reject) => {
        child.once('error', reject)
        child.once('exit', (exitCode, signal) =>
          resolve({ exitCode, signal, wallSeconds: (monotonic() - started) / 1000 }),
        )
      })
      // The caller is told only when the process exists; a failure to start comes through `ended`.
      if (child.pid !== undefined) await onSpawn?.(child.pid)
      const over = new AbortController()
      const watching = followed.watch(over.signal)
      const ending = {
        term: () => followed.signal('SIGTERM'),
        kill: () => followed.signal('SIGKILL'),
        destroy: () => void child.kill('SIGKILL'),
      }
      try {
        const { value, timedOut } = await withDeadline(ended, ending, launch)
        launch.signal.throwIfAborted()
        return { ...value, timedOut, cpuSeconds: null, maxRssMb: null, unreaped: true }
      } finally {
        over.abort()
        await watching
        await followed.endAll()
      }
    },
  }
}

function startGroup(launch: Launch) {
  const out = openSync(launch.stdout, 'w')
  const err = openSync(launch.stderr, 'w')
  try {
    const { cwd, env } = launch
    return spawn('/bin/sh', ['-c', launch.command], { cwd, env, detached: true, stdio: ['ignore', out, err] })
  } finally {
    closeSync(out)
    closeSync(err)
  }
}

class ProcessFollower {
  readonly #seen = new Map<number, string>()
  readonly #group: number | undefined
  constructor(group: number | undefined) {
    this.#group = group
  }

  async watch(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.look()
      await delay(FOLLOW_MS, undefined, { signal: over }).catch((error: unknown) => {
        if (!over.aborted) throw error
      })
    }
  }

  /** Those alive now: the group, what was seen before, and what stems from either. */
  async look(): Promise<ProcessEntry[]> {
    const table = await listProcesses()
    const known = table.filter(
      entry => entry.pgid === this.#group || this.#seen.get(entry.pid) === entry.started,
    )
    const alive = findDescendants(table, new Set(known.map(entry => entry.pid)))
    for (const entry of alive) this.#seen.set(entry.pid, entry.started)
    return alive
  }

  async signal(name: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    for (const entry of await this.look()) endProcess(entry.pid, name)
  }

  async endAll(): Promise<void> {
    for (let waited = 0; waited < SETTLE_MS; waited += 20) {
      const alive = await this.look()
      if (alive.length === 0) return
      for (const entry of alive) endProcess(entry.pid, 'SIGKILL')
      await delay(20)
    }
  }
}
