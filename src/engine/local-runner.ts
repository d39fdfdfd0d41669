import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { machineFingerprint } from '../measure/machine.ts'
import { measure } from '../measure/measure.ts'
import { reapLeftovers } from '../measure/process/leftovers.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { OrderId } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { machineKey } from '../model/report.ts'
import type { RunFacts } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { refuseFullDisk } from './full-disk.ts'
import { Lanes, lanesFor } from './lanes.ts'
import { factOf, livesOn, ownRunId } from './local-run.ts'
import { type OrderFiles, orderFiles } from './order-files.ts'
import type { Place } from './place.ts'
import type { Runner } from './runner.ts'
import { orUnwritable } from './unwritable.ts'

interface Run {
  done: Promise<void>
  abort: AbortController
  /** It has a lane; until then nothing of it was begun. */
  begun: boolean
}

/** Runs orders in this process, in as many lanes as they allow. */
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

  async function execute(order: Order, spec: Spec, run: Omit<Run, 'done'>): Promise<void> {
    const { signal } = run.abort
    const lane = await lanes.enter(lanesFor(order, spec), signal)
    if (lane === null) return
    run.begun = true
    try {
      await files.claim(order.id, runId)
      const answer = await measureIn({ place, runId, lane, files }, order, spec, signal)
      place.faults.reach('measure:before-report')
      await files.report(order.id, answer)
    } catch (error) {
      if (!signal.aborted) failures.push(error)
    } finally {
      lanes.leave(lane)
    }
  }

  async function finished(): Promise<void> {
    while (running.size > 0) await Promise.all([...running.values()].map(({ done }) => done))
  }

  return {
    runId,
    machine: machineKey(machineFingerprint(place.env)),
    async facts(campaign) {
      surface()
      const live = waitedFor(campaign)
      const facts = new Map<OrderId, RunFacts>()
      for (const { order, run_id } of live) {
        const mine = running.get(order.id)
        const state = mine === undefined ? null : mine.begun ? 'running' : 'waiting'
        const fact = await factOf(await files.read(order.id), run_id, state, runId)
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
      const run = { abort: new AbortController(), begun: false }
      const done = execute(order, spec, run).finally(() => running.delete(order.id))
      running.set(order.id, Object.assign(run, { done }))
    },
    async cancel(order) {
      const run = running.get(order)
      run?.abort.abort()
      await run?.done
    },
    holds: order => running.has(order),
    get busy() {
      return running.size > 0
    },
    async settled() {
      if (running.size > 0) await Promise.race([...running.values()].map(({ done }) => done))
      surface()
    },
    finished,
    close() {
      for (const { abort } of running.values()) abort.abort()
      return finished()
    },
  }
}

interface Berth {
  place: Place
  runId: string
  lane: number
  files: OrderFiles
}

async function measureIn(
  { place, runId, lane, files }: Berth,
  order: Order,
  spec: Spec,
  signal: AbortSignal,
) {
  const workDir = await freeWorkDir(join(place.dataDir, 'work'), lane)
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

function waitedFor(campaign: Campaign): LiveOrder[] {
  return Object.values(campaign.orders).filter(({ report }) => report === null)
}

const MOST_PROCESSES = 64

/** A directory that another living winnow on this cache measures in is passed over. */
async function freeWorkDir(under: string, lane: number): Promise<string> {
  for (let process = 0; ; process++) {
    const workDir = join(under, process === 0 ? String(lane) : `${lane}-${process}`)
    try {
      await reapLeftovers(workDir)
      return workDir
    } catch (error) {
      if (!(error instanceof UserError) || process === MOST_PROCESSES) throw error
    }
  }
}
