import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import type { CommandProposer } from '../../ideas/proposers.ts'
import { loadCampaign, type LoadedCampaign } from '../../ledger/load.ts'
import { listNames, readStoredJson, writeStoredJson } from '../../measure/file-system.ts'
import { endLeftovers } from '../../measure/process/leftovers.ts'
import type { Campaign } from '../../model/campaign.ts'
import { withReason } from '../../model/status.ts'
import type { PlanWaiting } from '../../plan/action.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import { type CampaignContext, createMemory, listRefs } from '../campaign/context.ts'
import { createCampaignIdeas } from '../campaign/ideas.ts'
import { requireLedger } from '../campaign/recover.ts'
import { createLocalRunner } from '../jobs/local-runner.ts'
import { acquireMachineLock, describeHolder, isRunAlive, readLocalRunId } from '../jobs/machine-lock.ts'
import { type ControllerContext, type Observation, rememberRefs } from '../observe/observe.ts'
import { tickCampaign } from './tick.ts'

interface RunOptions {
  signal: AbortSignal
  /** Keep polling while the campaign waits for ideas or a person, instead of returning. */
  watch: boolean
  /** Return as soon as this is true, even while orders are still being measured elsewhere. */
  enough?: (campaign: Campaign) => boolean
}

const WATCH_POLL_MS = 2_000
const INTERRUPTED: PlanWaiting = { for: 'person', what: 'interrupted; run again to continue' }

/** Ticks until nothing is left to do. Between ticks this machine measures; a moved ref wakes the loop up. */
export async function runCampaign(controller: ControllerContext, options: RunOptions): Promise<PlanWaiting> {
  const { signal } = options
  const unregister = await registerRun(controller.context)
  try {
    for (let status = 'running', otherRuns: string[] = []; ; ) {
      await packRepository(controller, signal)
      const { waiting, seen: observation } = await tickCampaign(controller)
      otherRuns = reportOtherRuns(controller, observation, otherRuns)
      if (observation && options.enough?.(observation.world.campaign)) return waiting
      const finished = signal.aborted
        ? INTERRUPTED
        : await waitBetweenTicks(controller, waiting, { ...options, observation, status })
      if (finished) return finished
      status = observation?.world.campaign.status ?? 'none'
    }
  } catch (error) {
    await waitUntilIdle(controller, error, signal)
    throw error
  } finally {
    await controller.runner.close()
    unregister()
  }
}

/** Takes the machine lock, because packing disturbs the timings of this and of other campaigns. */
async function packRepository({ context, runner }: ControllerContext, signal: AbortSignal): Promise<void> {
  if (runner.busy || !(await context.repository.isScattered())) return
  const release = await acquireMachineLock(
    context,
    { alone: false, what: `packing the git objects of ${context.name}` },
    signal,
  )
  if (release === null) return
  try {
    await context.repository.packUp()
  } finally {
    release()
  }
}

/** An error does not invalidate running measurements: their reports are kept for the next run. */
async function waitUntilIdle({ runner, context }: ControllerContext, error: unknown, signal: AbortSignal) {
  if (signal.aborted || !runner.busy) return
  const message = error instanceof Error ? error.message : String(error)
  context.progress.say(`${message}; running measurements end first`)
  const interrupted = new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  await Promise.race([runner.finished(), interrupted])
}

interface TickState extends RunOptions {
  observation: Observation | null
  status: string
}

/** Returns the reason to stop when no tick is needed. */
async function waitBetweenTicks(
  controller: ControllerContext,
  waiting: PlanWaiting,
  state: TickState,
): Promise<PlanWaiting | null> {
  const { signal, watch } = state
  if (waiting.for === 'orders' || waiting.for === 'proposers') {
    reportPaused(controller, state)
    await waitForChange(controller, signal)
  } else if (waiting.for === 'nothing' || !watch) return waiting
  else await controller.context.clock.sleep(WATCH_POLL_MS, signal)
  return signal.aborted ? INTERRUPTED : null
}

/** A pause from another machine is reported here at once, long before the running measurements end. */
function reportPaused({ context }: ControllerContext, { observation, status }: TickState): void {
  const campaign = observation?.world.campaign
  if (campaign?.status !== 'paused' || status === 'paused') return
  context.progress.say(
    `${withReason('paused', campaign.status_reason ?? '')}; running measurements end first`,
  )
}

/** Reports each other run once. Returns the run ids that were reported. */
function reportOtherRuns(
  { context, runner }: ControllerContext,
  observation: Observation | null,
  known: readonly string[],
): string[] {
  const live = Object.values(observation?.world.campaign.orders ?? {}).filter(({ report }) => report === null)
  const holders = new Set(live.flatMap(({ run_id }) => (run_id === null ? [] : [run_id])))
  const others = [...holders].filter(holder => holder !== runner.runId)
  for (const holder of others.filter(each => !known.includes(each))) {
    context.progress.say(
      `${describeHolder(holder)} is already measuring campaign ${context.name}: this run waits until it ends`,
    )
  }
  return others
}

export interface ControllerOptions {
  targetBranch?: string
  /** Additional proposers for this process only. The spec does not name them. */
  extraProposers?: readonly CommandProposer[]
  runComments?: ControllerContext['runComments']
}

export async function openController(
  context: CampaignContext,
  signal: AbortSignal,
  options: ControllerOptions = {},
): Promise<ControllerContext> {
  const ideas = createCampaignIdeas(context, options.extraProposers)
  return {
    context,
    memory: createMemory(),
    runner: await createLocalRunner(context, { ideas, interrupt: signal }),
    ideas,
    targetBranch: options.targetBranch ?? null,
    ...(options.runComments ? { runComments: options.runComments } : {}),
  }
}

export async function requireCampaign(
  context: CampaignContext,
): Promise<{ loaded: LoadedCampaign; spec: Spec }> {
  const { repository, refs } = context
  const tip = await requireLedger(context, (await repository.remoteRefs([refs.state])).refs)
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const loaded = await loadCampaign(repository, tip)
  return { loaded, spec: getCampaignSpec(loaded.campaign) }
}

const CHANGE_CHECK_MS = 2_000
const LONGEST_MS = 10_000

/** Resolves when a local job ends or when a ref of the campaign moved on the remote. */
async function waitForChange(controller: ControllerContext, interrupt: AbortSignal): Promise<void> {
  const { runner, context } = controller
  if (!runner.busy) return context.clock.sleep(CHANGE_CHECK_MS, interrupt)
  const finished = new AbortController()
  const watching = waitUntilMoved(controller, AbortSignal.any([finished.signal, interrupt]))
  try {
    await Promise.race([watching, runner.settled()])
  } finally {
    finished.abort()
    await watching
  }
}

async function waitUntilMoved(controller: ControllerContext, finished: AbortSignal): Promise<void> {
  for (let wait = CHANGE_CHECK_MS; !finished.aborted; wait = Math.min(wait * 1.25, LONGEST_MS)) {
    await controller.context.clock.sleep(wait, finished)
    if (!finished.aborted && (await hasMoved(controller))) return
  }
}

/** Stores the refs that it read, so that the next observation does not ask the remote again. */
async function hasMoved({ context, memory }: ControllerContext): Promise<boolean> {
  const known = memory.refs
  const refs = await readRefsOrNull(context)
  if (refs === null) return false
  const moved = known?.size !== refs.size || [...refs].some(([ref, oid]) => known.get(ref) !== oid)
  if (!moved) return false
  rememberRefs({ context, memory }, refs)
  return true
}

/** An unreachable remote does not stop running measurements. The next poll tries again. */
async function readRefsOrNull(context: CampaignContext) {
  try {
    return (await listRefs(context)).refs
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error
    context.progress.say(`winnow cannot read the remote at the moment: ${error.message}`)
    return null
  }
}

const entry = z.strictObject({ run_id: z.string(), pid: z.number().int().positive() })

/** Other processes can see this run, also while it only waits. Returns a function that unregisters it. */
async function registerRun({
  dataDir,
  random,
}: Pick<CampaignContext, 'dataDir' | 'random'>): Promise<() => void> {
  const file = join(getRunLockDir(dataDir), `${process.pid}-${random.hex(4)}.json`)
  writeStoredJson(file, { run_id: await readLocalRunId(), pid: process.pid })
  return () => rmSync(file, { force: true })
}

function getRunLockDir(campaignDir: string): string {
  return join(campaignDir, 'present')
}

/** Returns the live process that runs a campaign on this machine. Removes the files of killed processes. */
export async function findRegisteredRun(dataDir: string): Promise<{ campaign: string; pid: number } | null> {
  for (const campaign of listNames(join(dataDir, 'campaigns'))) {
    const directory = getRunLockDir(join(dataDir, 'campaigns', campaign))
    for (const name of listNames(directory).filter(each => each.endsWith('.json'))) {
      const { success, data } = entry.safeParse(readStoredJson(join(directory, name)))
      if (success && (await isRunAlive({ runId: data.run_id, here: true })) !== false)
        return { campaign, pid: data.pid }
      rmSync(join(directory, name), { force: true })
    }
  }
  return null
}

/** Throws when a live measurement uses one of the directories. */
export async function endLeftoversBelow(dataDir: string): Promise<void> {
  const campaigns = listNames(join(dataDir, 'campaigns')).map(name => join(dataDir, 'campaigns', name))
  for (const home of [dataDir, ...campaigns]) {
    for (const name of listNames(join(home, 'work'))) await endLeftovers(join(home, 'work', name))
  }
}
