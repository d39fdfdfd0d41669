import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { bootId } from '../measure/boot-id.ts'
import { machineFingerprint } from '../measure/machine.ts'
import { measure } from '../measure/measure.ts'
import { reapLeftovers } from '../measure/process/leftovers.ts'
import { findProcess } from '../measure/process/process-table.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { OrderId } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { machineKey } from '../model/report.ts'
import type { RunFacts } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { refuseFullDisk } from './full-disk.ts'
import { type Claim, type OrderFile, orderFiles } from './order-files.ts'
import type { Place } from './place.ts'
import type { Runner } from './runner.ts'
import { orUnwritable } from './unwritable.ts'

interface Run {
  done: Promise<void>
  abort: AbortController
}

/** Runs orders in this process: timing one at a time, what is deterministic as many at once as there are cores. */
export async function localRunner(place: Place): Promise<Runner> {
  const files = orderFiles(join(place.dataDir, 'orders'))
  const runId = await ownRunId()
  const running = new Map<OrderId, Run>()
  const lanes = new Lanes()
  const failures: unknown[] = []

  /** What a run could not answer as a report (a missing shared file, say) is told to whoever waits for it. */
  function surface(): void {
    if (failures.length > 0) throw orUnwritable(place, failures.shift())
  }

  async function execute(order: Order, spec: Spec, abort: AbortController): Promise<void> {
    const lane = await lanes.enter(lanesFor(order, spec))
    try {
      if (abort.signal.aborted) return
      await files.claim(order.id, runId)
      const answer = await measureIn(lane, order, spec, abort.signal)
      place.faults.reach('measure:before-report')
      await files.report(order.id, answer)
    } catch (error) {
      if (!abort.signal.aborted) failures.push(error)
    } finally {
      lanes.leave(lane)
    }
  }

  async function measureIn(lane: number, order: Order, spec: Spec, signal: AbortSignal) {
    const workDir = join(place.dataDir, 'work', String(lane))
    await reapLeftovers(workDir)
    const answer = await measure({
      order,
      spec,
      runId,
      repository: place.repository,
      workDir,
      sharedRoot: place.checkout,
      env: place.env,
      now: () => place.clock.now(),
      monotonic: () => place.clock.monotonic(),
      signal,
      onStart: async () => {
        await files.started(order.id, runId)
        place.faults.reach('measure:started')
      },
      ...(spec.parallel.port_base === null ? {} : { portBase: spec.parallel.port_base + lane }),
    })
    return refuseFullDisk(workDir, answer)
  }

  return {
    runId,
    machine: machineKey(machineFingerprint(place.env)),
    async facts(campaign) {
      surface()
      const live = waitedFor(campaign)
      const facts = new Map<OrderId, RunFacts>()
      for (const { order, run_id } of live) {
        const fact = await factOf(await files.read(order.id), run_id, running.has(order.id), runId)
        if (fact) facts.set(order.id, fact)
      }
      return facts
    },
    async tidy(campaign) {
      const live = new Set(waitedFor(campaign).map(({ order }) => order.id))
      for (const [order, run] of running) if (!live.has(order)) run.abort.abort()
      // An order that only another living process knows of yet is its own to forget.
      await files.prune(live, async holder => holder.runId === runId || (await livesOn(holder)) === false)
    },
    async dispatch(order, spec) {
      if (running.has(order.id)) return
      const abort = new AbortController()
      const done = execute(order, spec, abort).finally(() => running.delete(order.id))
      running.set(order.id, { done, abort })
    },
    async cancel(order) {
      const run = running.get(order)
      run?.abort.abort()
      await run?.done
    },
    holds: order => running.has(order),
    async settled() {
      if (running.size > 0) await Promise.race([...running.values()].map(({ done }) => done))
      surface()
    },
  }
}

function waitedFor(campaign: Campaign): LiveOrder[] {
  return Object.values(campaign.orders).filter(({ report }) => report === null)
}

async function factOf(
  file: OrderFile | null,
  recorded: string | null,
  mine: boolean,
  runId: string,
): Promise<RunFacts | null> {
  if (file?.report) {
    if ('unreadable' in file.report)
      return { state: 'unreadable', runId: file.runId, reason: file.report.unreadable }
    return { state: 'reported', runId: file.runId, report: file.report }
  }
  if (mine) return { state: 'running' }
  const holder = file?.runId ?? recorded
  if (holder === null) return null
  if (holder === runId) return { state: 'gone', started: file?.started ?? false, runId: holder }
  const alive = await livesOn({ runId: holder, here: file?.here ?? false })
  if (alive === null) return null
  return alive ? { state: 'running' } : { state: 'gone', started: file?.started ?? false, runId: holder }
}

/** Local run id = boot id + pid + start time: unique, and anybody on this machine can tell whether it lives. */
async function ownRunId(): Promise<string> {
  const own = await findProcess(process.pid)
  return ['local', bootId(), process.pid, own?.started ?? ''].join(':')
}

/** A run claimed on this host before its last start is over, whatever its process id is now. */
async function livesOn({ runId, here }: Pick<Claim, 'runId' | 'here'>): Promise<boolean | null> {
  return (await isAlive(runId)) ?? (here ? false : null)
}

/** null: a run of another machine, about which nothing can be known here. */
async function isAlive(runId: string): Promise<boolean | null> {
  const [kind, boot, pid, ...rest] = runId.split(':')
  const started = rest.join(':')
  if (kind !== 'local' || boot !== bootId()) return null
  const found = await findProcess(Number(pid))
  return found !== null && found.started === started
}

function lanesFor(order: Order, spec: Spec): number {
  const parallel = spec.execution.mode === 'parallel' && spec.parallel.exclusive_resources.length === 0
  if (order.stop.rule !== 'once' || !parallel) return 1
  return Math.max(1, Math.min(spec.execution.max_concurrent, availableParallelism()))
}

/** Places to measure in, taken in turn; whoever finds none free waits. */
class Lanes {
  readonly #taken = new Set<number>()
  #waiting: (() => void)[] = []

  async enter(limit: number): Promise<number> {
    for (;;) {
      if (this.#taken.size < limit) {
        const lane = [...this.#taken.keys()].length === 0 ? 0 : firstFree(this.#taken)
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
