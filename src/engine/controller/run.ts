import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import type { Pull } from '../../github/pull.ts'
import type { CommandProposer } from '../../ideas/proposers.ts'
import { loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import { listNames } from '../../measure/file-system.ts'
import { endLeftovers } from '../../measure/process/leftovers.ts'
import type { Campaign } from '../../model/campaign.ts'
import { withReason } from '../../model/describe-status.ts'
import type { Oid } from '../../model/ids.ts'
import type { PlanWaiting } from '../../plan/action.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import { type CampaignContext, createMemory, listRefs } from '../campaign/context.ts'
import { createCampaignIdeas } from '../campaign/ideas.ts'
import { requireLedger } from '../campaign/recover.ts'
import { createLocalRunner } from '../jobs/local-runner.ts'
import { acquireMachineLock, describeHolder, isRunAlive, readLocalRunId } from '../jobs/machine-lock.ts'
import { createLocalProposerTasks } from '../jobs/read-proposals.ts'
import { WorkerSlots } from '../jobs/worker-slots.ts'
import type { Observation } from '../observe/observe.ts'
import type { ControllerContext } from './effects.ts'
import { tickCampaign } from './tick.ts'

interface RunOptions {
  signal: AbortSignal
  /** Keep looking when ideas or a person are waited for, instead of returning. */
  watch: boolean
  /** Return as soon as this holds, whatever others are still measuring. */
  enough?: (campaign: Campaign) => boolean
}

const LOOK_AGAIN_MS = 2_000
const INTERRUPTED: PlanWaiting = { for: 'person', what: 'interrupted; run again to go on' }

/**
 * `run` is `tick` again and again, with this machine measuring in between, and a look whenever somebody else
 * moved something. However it ends, nothing that it began is left running.
 */
export async function runCampaign(hands: ControllerContext, options: RunOptions): Promise<PlanWaiting> {
  const { signal } = options
  const leave = await registerRun(hands.place)
  try {
    for (let status = 'running', elsewhere: string[] = []; ; ) {
      await packUpRepository(hands, signal)
      const { waiting, seen } = await tickCampaign(hands)
      elsewhere = reportOtherRuns(hands, seen, elsewhere)
      if (seen && options.enough?.(seen.world.campaign)) return waiting
      const over = signal.aborted
        ? INTERRUPTED
        : await waitBetweenTicks(hands, waiting, { ...options, seen, status })
      if (over) return over
      status = seen?.world.campaign.status ?? 'none'
    }
  } catch (error) {
    await waitUntilIdle(hands, error, signal)
    throw error
  } finally {
    await Promise.all([hands.runner.close(), hands.asking.close()])
    leave()
  }
}

/** Years of events and trees are many small files; packing them must not disturb what is timed, here or next door. */
async function packUpRepository(
  { place, runner, asking }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (runner.busy || asking.busy || !(await place.repository.isScattered())) return
  const leave = await acquireMachineLock(
    place,
    { alone: false, what: `packing the objects of ${place.name}` },
    signal,
  )
  if (leave === null) return
  try {
    await place.repository.packUp()
  } finally {
    leave()
  }
}

/** What is under way does not depend on what went wrong: its report or answer is there for the next run. */
async function waitUntilIdle(
  { runner, asking, place }: ControllerContext,
  error: unknown,
  signal: AbortSignal,
) {
  if (signal.aborted || !(runner.busy || asking.busy)) return
  const what = error instanceof Error ? error.message : String(error)
  place.progress.say(`${what}; what is under way ends first`)
  const interrupted = new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  await Promise.race([Promise.all([runner.finished(), asking.finished()]), interrupted])
}

interface RunStanding extends RunOptions {
  seen: Observation | null
  /** Of the campaign at the last look. */
  status: string
}

/** The time until another look is worth it; what is waited for when none is. */
async function waitBetweenTicks(
  hands: ControllerContext,
  waiting: PlanWaiting,
  standing: RunStanding,
): Promise<PlanWaiting | null> {
  const { signal, watch } = standing
  if (waiting.for === 'orders' || waiting.for === 'proposers') {
    reportPaused(hands, standing)
    await waitForChange(hands, signal)
  } else if (waiting.for === 'nothing' || !watch) return waiting
  else await hands.place.clock.sleep(LOOK_AGAIN_MS, signal)
  return signal.aborted ? INTERRUPTED : null
}

/** A person who pauses a run from elsewhere sees here that it was heard, long before it ends. */
function reportPaused({ place }: ControllerContext, { seen, status }: RunStanding): void {
  const campaign = seen?.world.campaign
  if (campaign?.status !== 'paused' || status === 'paused') return
  place.progress.say(`${withReason('paused', campaign.status_reason ?? '')}; what is being measured ends`)
}

/** Who started a second run sees whom it waits for, once each; what to say of them again is the answer. */
function reportOtherRuns(
  { place, runner }: ControllerContext,
  seen: Observation | null,
  known: readonly string[],
): string[] {
  const live = Object.values(seen?.world.campaign.orders ?? {}).filter(({ report }) => report === null)
  const holders = new Set(live.flatMap(({ run_id }) => (run_id === null ? [] : [run_id])))
  const others = [...holders].filter(holder => holder !== runner.runId)
  for (const holder of others.filter(each => !known.includes(each))) {
    place.progress.say(
      `${describeHolder(holder)} is measuring campaign ${place.name} already: this run waits for it, and goes on when it ends`,
    )
  }
  return others
}

export interface ControllerOptions {
  /** The branch of the one idea that this process measures. */
  targetBranch?: string
  /** Asked besides the proposers of the spec, by this process alone. */
  guests?: readonly CommandProposer[]
  runComments?: ControllerContext['runComments']
}

/** Everything `tick` and `run` need on one machine. */
export async function openController(
  place: CampaignContext,
  signal: AbortSignal,
  staffing: ControllerOptions = {},
): Promise<ControllerContext> {
  const lanes = new WorkerSlots()
  const ideas = createCampaignIdeas(place, staffing.guests)
  return {
    place,
    memory: createMemory(),
    runner: await createLocalRunner(place, lanes),
    ideas,
    asking: createLocalProposerTasks(place, ideas, lanes, signal),
    targetBranch: staffing.targetBranch ?? null,
    ...(staffing.runComments ? { runComments: staffing.runComments } : {}),
  }
}

interface CampaignView {
  loaded: LoadedCampaign
  spec: Spec
  pulls: Pull[]
}

async function readLedgerRefs({ repository, refs }: CampaignContext): Promise<ReadonlyMap<string, Oid>> {
  return (await repository.remoteRefs([refs.state])).refs
}

async function readCampaignView(place: CampaignContext, tip: Oid): Promise<CampaignView> {
  const { repository, refs } = place
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const loaded = await loadCampaign(repository, tip)
  const spec = getCampaignSpec(loaded.campaign)
  return { loaded, spec, pulls: await place.forge.list() }
}

export async function requireCampaign(place: CampaignContext): Promise<CampaignView> {
  return readCampaignView(place, await requireLedger(place, await readLedgerRefs(place)))
}

const CHANGE_CHECK_MS = 2_000
/** A measurement that takes hours is not disturbed every other second of them. */
const LONGEST_MS = 10_000

/**
 * Resolves when something that is under way here ends, or when somebody else moved a ref of the campaign. That
 * is found by one question to the remote; whoever wants to know what it means has to observe.
 */
async function waitForChange(hands: ControllerContext, interrupt: AbortSignal): Promise<void> {
  const { runner, asking, place } = hands
  const busy = [runner, asking].filter(each => each.busy)
  if (busy.length === 0) return place.clock.sleep(CHANGE_CHECK_MS, interrupt)
  const over = new AbortController()
  const looking = lookUntilMoved(hands, AbortSignal.any([over.signal, interrupt]))
  try {
    await Promise.race([looking, ...busy.map(each => each.settled())])
  } finally {
    over.abort()
    await looking
  }
}

async function lookUntilMoved(hands: ControllerContext, over: AbortSignal): Promise<void> {
  for (let wait = CHANGE_CHECK_MS; !over.aborted; wait = Math.min(wait * 1.25, LONGEST_MS)) {
    await hands.place.clock.sleep(wait, over)
    if (!over.aborted && (await hasMoved(hands))) return
  }
}

/** What was found is what the next look begins with: it asks no second time. */
async function hasMoved({ place, memory }: ControllerContext): Promise<boolean> {
  const known = memory.refs
  const refs = await readRefsOrNull(place)
  if (refs === null) return false
  const moved = known?.size !== refs.size || [...refs].some(([ref, oid]) => known.get(ref) !== oid)
  if (!moved) return false
  memory.refs = refs
  memory.askedAt = place.clock.monotonic()
  return true
}

/** A remote that does not answer is no reason to give up what is being measured: it is asked again. */
async function readRefsOrNull(place: ControllerContext['place']) {
  try {
    return (await listRefs(place)).refs
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    place.progress.say(`the remote cannot be looked at meanwhile: ${error.message}`)
    return null
  }
}

const entry = z.strictObject({ run_id: z.string(), pid: z.number().int().positive() })

/** While a run lasts it can be seen here, also when it only waits. The answer takes it back. */
async function registerRun({
  dataDir,
  random,
}: Pick<CampaignContext, 'dataDir' | 'random'>): Promise<() => void> {
  const directory = getRunLockDir(dataDir)
  const file = join(directory, `${process.pid}-${random.hex(4)}.json`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(file, JSON.stringify({ run_id: await readLocalRunId(), pid: process.pid }))
  return () => rmSync(file, { force: true })
}

function getRunLockDir(campaignDir: string): string {
  return join(campaignDir, 'present')
}

/** The living process that runs one of these campaigns on this machine; what a killed one left is taken away. */
export async function findRegisteredRun(dataDir: string): Promise<{ campaign: string; pid: number } | null> {
  for (const campaign of listNames(join(dataDir, 'campaigns'))) {
    const directory = getRunLockDir(join(dataDir, 'campaigns', campaign))
    for (const name of listNames(directory)) {
      const { success, data } = entry.safeParse(parseOrNull(readFileSync(join(directory, name), 'utf8')))
      if (success && (await isRunAlive({ runId: data.run_id, here: true })) !== false)
        return { campaign, pid: data.pid }
      rmSync(join(directory, name), { force: true })
    }
  }
  return null
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** Ends what killed measurements left running below here; throws where a living one is at work. */
export async function endLeftoversBelow(dataDir: string): Promise<void> {
  const campaigns = listNames(join(dataDir, 'campaigns')).map(name => join(dataDir, 'campaigns', name))
  for (const home of [dataDir, ...campaigns]) {
    for (const name of listNames(join(home, 'work'))) await endLeftovers(join(home, 'work', name))
  }
}
