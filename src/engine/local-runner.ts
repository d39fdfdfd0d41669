import { join } from 'node:path'
import { machineFingerprint } from '../measure/machine.ts'
import { measure } from '../measure/measure.ts'
import { asksForUsers, lodgingFor } from '../measure/users/lodging.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { OrderId } from '../model/ids.ts'
import type { Order } from '../model/order.ts'
import { machineKey } from '../model/report.ts'
import type { RunFacts } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { refuseFullDisk } from './full-disk.ts'
import { berthFor, type Lanes } from './lanes.ts'
import { factOf, livesOn, ownRunId } from './local-run.ts'
import { takeTurn } from './machine-turn.ts'
import { type OrderFiles, orderFiles } from './order-files.ts'
import type { Place } from './place.ts'
import type { Runner } from './runner.ts'
import { UnderWay } from './under-way.ts'
import { orUnwritable } from './unwritable.ts'
import { freeWorkDir, sweepHoldouts } from './work-dirs.ts'

/** Runs orders in this process, in as many lanes as they allow. */
export async function localRunner(place: Place, lanes: Lanes): Promise<Runner> {
  const files = orderFiles(join(place.dataDir, 'orders'))
  const runId = await ownRunId()
  const runs = new UnderWay()
  /** Those that have a lane; of the others nothing was begun. */
  const begun = new Set<OrderId>()
  let swept: Promise<void> | null = null

  async function execute(order: Order, spec: Spec, signal: AbortSignal): Promise<void> {
    const berth = berthFor(order, spec)
    const lane = await lanes.enter(berth, signal)
    if (lane === null) return
    let leave: (() => void) | null = null
    try {
      leave = await takeTurn(place, { ...berth, what: `campaign ${place.name}` }, signal)
      if (leave === null) return
      begun.add(order.id)
      await (swept ??= sweepHoldouts(join(place.dataDir, 'work')))
      await files.claim(order.id, runId)
      const answer = await measureIn({ place, runId, lane, files }, order, spec, signal)
      place.faults.reach('measure:before-report')
      await files.report(order.id, answer)
    } catch (error) {
      // What cannot be answered as a report (a missing shared file, say) is told to whoever waits for it.
      throw orUnwritable(place, error)
    } finally {
      begun.delete(order.id)
      leave?.()
      lanes.leave(lane)
    }
  }

  function doing(order: OrderId): 'running' | 'waiting' | null {
    if (!runs.has(order)) return null
    return begun.has(order) ? 'running' : 'waiting'
  }

  return {
    runId,
    machine: machineKey(machineFingerprint(place.env)),
    async facts(campaign) {
      runs.surface()
      const facts = new Map<OrderId, RunFacts>()
      for (const { order, run_id } of waitedFor(campaign)) {
        const fact = await factOf(await files.read(order.id), run_id, doing(order.id), runId)
        if (fact) facts.set(order.id, fact)
      }
      return facts
    },
    async tidy(campaign) {
      const live = new Set(waitedFor(campaign).map(({ order }) => order.id))
      for (const order of runs.keys) if (!live.has(order)) runs.abort(order)
      // An order that only another living process knows of yet is its own to forget.
      await files.prune(live, async holder => holder.runId === runId || (await livesOn(holder)) === false)
    },
    async dispatch(order, spec) {
      if (!runs.has(order.id)) runs.begin(order.id, signal => execute(order, spec, signal))
    },
    cancel: order => runs.cancel(order),
    holds: order => runs.has(order),
    doing,
    get busy() {
      return runs.busy
    },
    settled: () => runs.settled(),
    finished: () => runs.finished(),
    close: () => runs.close(),
  }
}

interface Quarters {
  place: Place
  runId: string
  lane: number
  files: OrderFiles
}

async function measureIn(
  { place, runId, lane, files }: Quarters,
  order: Order,
  spec: Spec,
  signal: AbortSignal,
) {
  const under = join(place.dataDir, 'work')
  await bringHoldout(place.repository, order)
  const lodging = asksForUsers(spec) ? lodgingFor(spec, under) : { workDir: await freeWorkDir(under, lane) }
  const answer = await measure({
    order,
    spec,
    runId,
    repository: place.repository,
    ...lodging,
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
  return refuseFullDisk(lodging.workDir, answer)
}

/** The trusted step: what has no token cannot fetch it, and the order says which commit it is. */
async function bringHoldout(repository: Place['repository'], { stop }: Order): Promise<void> {
  if (stop.rule !== 'holdout' || stop.source === null || !('ref' in stop.source)) return
  const { ref, commit } = stop.source
  await repository.fetch([{ ref, oid: commit }])
}

function waitedFor(campaign: Campaign): LiveOrder[] {
  return Object.values(campaign.orders).filter(({ report }) => report === null)
}
