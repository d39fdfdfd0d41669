import { join } from 'node:path'
import { machineFingerprint } from '../measure/machine.ts'
import type { PrintedOrder } from '../judge/judged-report.ts'
import { measure } from '../measure/measure.ts'
import { asksForUsers, type Lodging, lodgingFor } from '../measure/users/lodging.ts'
import type { MeasureInput } from '../measure/input.ts'
import type { Item } from '../measure/output/items.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { OrderId } from '../model/ids.ts'
import { isJudgedOrder } from '../model/judged-order.ts'
import type { Order } from '../model/order.ts'
import { machineKey, type Report } from '../model/report.ts'
import type { RunFacts } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { refuseDamagedCache } from './damaged-cache.ts'
import { refuseFullDisk } from './full-disk.ts'
import { berthFor, type Lanes } from './lanes.ts'
import { HandedBack, type JobLodging, jobLodging, rehearseTwice } from './job-lodging.ts'
import { type Judges, judgesHere } from './judging.ts'
import { factOf, livesOn, ownRunId } from './local-run.ts'
import { measureInTurn, type Turn } from './measuring-turn.ts'
import { type OrderFiles, orderFiles } from './order-files.ts'
import type { Place } from './place.ts'
import type { Runner } from './runner.ts'
import { UnderWay } from './under-way.ts'
import { orUnwritable } from './unwritable.ts'
import { freeWorkDir, sweepHoldouts } from './work-dirs.ts'

/** Runs orders in this process, in as many lanes as they allow. */
export async function localRunner(place: Place, lanes: Lanes): Promise<Runner> {
  const files = orderFiles(join(place.dataDir, 'orders'), line => place.progress.say(line))
  const runId = await ownRunId()
  const runs = new UnderWay()
  const judges = judgesHere(place, files)
  /** Those that have a lane; of the others nothing was begun. */
  const begun = new Set<OrderId>()
  const bench: Bench = { place, lanes, files, runId, judges, begun, swept: null, isolated: {} }

  async function execute(order: Order, spec: Spec, signal: AbortSignal): Promise<void> {
    try {
      const known = isJudgedOrder(order, spec) ? files.printed(order.id) : null
      const printed = known ?? (await measured(bench, { order, spec }, signal))
      if (printed === null) return
      const answer = await judged(bench, { order, spec }, printed, signal)
      place.faults.reach('measure:before-report')
      await files.report(order.id, answer)
    } catch (error) {
      // What cannot be answered as a report (a missing shared file, say) is told to whoever waits for it.
      throw orUnwritable(place, error)
    } finally {
      begun.delete(order.id)
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
      judges.see(campaign)
      runs.surface()
      const facts = new Map<OrderId, RunFacts>()
      for (const { order, run_id } of waitedFor(campaign)) {
        const fact = await factOf(await files.read(order.id), run_id, doing(order.id), runId)
        if (fact) facts.set(order.id, fact)
      }
      return facts
    },
    async tidy(campaign) {
      judges.see(campaign)
      bench.isolated = campaign.isolated
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

interface Bench {
  place: Place
  lanes: Lanes
  files: OrderFiles
  runId: string
  judges: Judges
  begun: Set<OrderId>
  swept: Promise<void> | null
  /** How earlier orders were measured, by harness. */
  isolated: Campaign['isolated']
}

type Asked = { order: Order; spec: Spec }

/** Null: nobody waits for it any more. */
async function measured(
  bench: Bench,
  { order, spec }: Asked,
  signal: AbortSignal,
): Promise<PrintedOrder | null> {
  const { place, lanes, files, runId, begun } = bench
  const berth = berthFor(order, spec, asksForUsers(spec) || place.isolation !== undefined)
  const lane = await lanes.enter(berth, signal)
  if (lane === null) return null
  try {
    const wanted = { order, spec, what: `campaign ${place.name}` }
    return await measureInTurn(place, wanted, signal, async turn => {
      begun.add(order.id)
      await (bench.swept ??= sweepHoldouts(join(place.dataDir, 'work')))
      await files.claim(order.id, runId, turn.waitedSeconds)
      const before = bench.isolated[order.harness] ?? null
      return measureIn({ place, runId, lane, files, turn, before }, order, spec, signal)
    })
  } finally {
    lanes.leave(lane)
  }
}

/** While models are asked others may measure; whoever is cut off here has nothing to measure again. */
async function judged(
  { place, files, runId, judges, begun }: Bench,
  asked: Asked,
  printed: PrintedOrder,
  signal: AbortSignal,
): Promise<Report> {
  const { order, spec } = asked
  if (!isJudgedOrder(order, spec)) return printed.report
  begun.add(order.id)
  await files.print(order.id, printed)
  await files.claim(order.id, runId)
  place.faults.reach('judge:before')
  return judges.report(asked, printed, signal)
}

interface Quarters {
  place: Place
  runId: string
  lane: number
  files: OrderFiles
  turn: Turn
  /** How earlier orders of the same harness were measured. */
  before: boolean | null
}

async function measureIn(
  { place, runId, lane, files, turn, before }: Quarters,
  order: Order,
  spec: Spec,
  signal: AbortSignal,
): Promise<PrintedOrder> {
  const under = join(place.dataDir, 'work')
  await bringHoldout(place.repository, order)
  const items: Record<string, Item[]> = {}
  const input: MeasureInput = {
    order,
    spec,
    runId,
    repository: place.repository,
    workDir: under,
    sharedRoot: place.checkout,
    env: place.env,
    now: () => place.clock.now(),
    monotonic: () => place.clock.monotonic(),
    signal,
    beside: turn.beside,
    onStart: async () => {
      await files.started(order.id, runId, turn.waitedSeconds)
      place.faults.reach('measure:started')
    },
    onPartial: async partial => {
      await files.partial(order.id, partial)
      place.faults.reach('measure:partial')
    },
    onItems: (side, printed) => {
      items[side] = [...printed]
    },
    laterCode: place.isolation?.laterCode ?? [],
    ...(spec.parallel.port_base === null ? {} : { portBase: spec.parallel.port_base + lane }),
  }
  const lodging = await lodgingHere(place, input, { lane, before })
  const answer = await measure({ ...input, ...lodging })
  const sound = await refuseDamagedCache(place.repository, place.env, answer)
  return { report: refuseFullDisk(lodging.workDir, sound), items }
}

/** A machine of a person gives sides users where the spec asks for them; a job does where it can. */
async function lodgingHere(
  { isolation, progress }: Place,
  input: MeasureInput,
  { lane, before }: Pick<Quarters, 'lane' | 'before'>,
): Promise<Lodging | JobLodging> {
  const { spec, workDir: under } = input
  if (isolation === undefined)
    return asksForUsers(spec) ? lodgingFor(spec, under) : { workDir: await freeWorkDir(under, lane) }
  const lodging = await jobLodging(under, {
    users: isolation.users,
    before,
    spec,
    rehearse: lodged => {
      progress.say('Trying whether the pinned commit can be measured as a user of its own.')
      return rehearseTwice({ ...input, ...lodged })
    },
  })
  if (!('unisolatedBecause' in lodging)) return lodging
  if (isolation.asRoot) throw new HandedBack(lodging.unisolatedBecause)
  return { ...lodging, workDir: await freeWorkDir(under, lane) }
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
