import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import { createWebFetch } from '../../github/web.ts'
import type { PrintedOrder } from '../../judge/judging-task.ts'
import { openHarnessModels, type OpenMeteredModels } from '../../judge/metered-models.ts'
import { chooseWorkspace, isUserIsolated, type MeasureInput, type Workspace } from '../../measure/session.ts'
import { readMachineFingerprint } from '../../measure/machine.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import type { OrderId } from '../../model/ids.ts'
import { isJudgedOrder, type Order } from '../../model/order.ts'
import { buildMachineKey, type Report } from '../../model/report.ts'
import { NO_COST } from '../../plan/money.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { isMetered } from '../../spec/spec-facts.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { IdeaSource } from '../campaign/ideas.ts'
import { refuseDamagedCache } from '../campaign/open.ts'
import { explainDiskError } from '../controller/tick.ts'
import { restoreProbeTrees } from '../observe/probe-facts.ts'
import { createLocalJudges, type Judges } from './judging.ts'
import {
  isRunAlive,
  type MachineLockState,
  measureWithLock,
  readLocalRunId,
  readRunFact,
} from './machine-lock.ts'
import {
  chooseIsolatedWorkspace,
  findLocalIsolation,
  type JobIsolation,
  type JobWorkspace,
  measureWithItems,
} from './measure-job.ts'
import { openOrderFiles, type OrderFiles } from './order-files.ts'
import type { Runner } from './runner.ts'
import {
  chooseSlotRequest,
  claimFreeWorkDir,
  removeHoldouts,
  TaskGroup,
  WorkerSlots,
} from './worker-slots.ts'

interface LocalRunnerOptions {
  ideas: Pick<IdeaSource, 'ask'>
  interrupt: AbortSignal
}

/** Proposers share worker slots with measurements: they never run beside a timed order. */
export async function createLocalRunner(
  context: CampaignContext,
  { ideas, interrupt }: LocalRunnerOptions,
): Promise<Runner> {
  const files = openOrderFiles(join(context.dataDir, 'orders'), line => context.progress.say(line))
  const runId = await readLocalRunId()
  const tasks = new TaskGroup()
  const slots = new WorkerSlots()
  const judges = createLocalJudges(context, files)
  const begun = new Set<OrderId>()
  const proposers = new Map<string, { who: string; mayCostUsd: number | null }>()
  let requests = 0
  const runner: LocalRunnerContext = {
    context,
    slots,
    files,
    runId,
    judges,
    begun,
    cleanup: null,
    isolated: {},
  }

  function doing(order: OrderId): 'running' | 'waiting' | null {
    if (!tasks.has(order)) return null
    return begun.has(order) ? 'running' : 'waiting'
  }

  return {
    runId,
    machine: buildMachineKey(readMachineFingerprint(context.env)),
    asks: 'here',
    async facts(campaign) {
      tasks.surface()
      const proposing = [...proposers.values()].map(({ who }) => who)
      const setAsideUsd = [...proposers.values()].reduce((sum, one) => sum + (one.mayCostUsd ?? 0), 0)
      const runs = new Map<OrderId, RunFacts>()
      for (const { order, run_id } of listAwaitedOrders(campaign)) {
        const fact = await readRunFact(await files.read(order.id), run_id, doing(order.id), runId)
        if (fact) runs.set(order.id, fact)
      }
      return { runs, proposing, answers: [], scores: [], lost: [], setAsideUsd, judgeJob: false }
    },
    async tidy(campaign) {
      runner.isolated = campaign.isolated
      const live = new Set(listAwaitedOrders(campaign).map(({ order }) => order.id))
      for (const key of tasks.keys) if (!live.has(key) && !proposers.has(key)) tasks.abort(key)
      // Only its own process may drop an order that this ledger does not know yet.
      await files.prune(live, async holder => holder.runId === runId || (await isRunAlive(holder)) === false)
    },
    async dispatch(order, spec, campaign) {
      runner.isolated = campaign.isolated
      if (!tasks.has(order.id)) tasks.begin(order.id, signal => runOrder(runner, { order, spec }, signal))
    },
    propose(who, request) {
      requests += 1
      const key = `proposer ${requests}`
      proposers.set(key, { who, mayCostUsd: request.mayCostUsd })
      tasks.begin(key, signal => {
        const ended = AbortSignal.any([signal, interrupt])
        return runProposer({ ...runner, ideas }, who, request, ended).finally(() => proposers.delete(key))
      })
    },
    cancel: order => tasks.cancel(order),
    async cancelProposers() {
      await Promise.all([...proposers.keys()].map(key => tasks.cancel(key)))
    },
    holds: order => tasks.has(order),
    doing,
    get proposing() {
      return [...proposers.values()].map(({ who }) => who)
    },
    get busy() {
      return tasks.busy
    },
    settled: () => tasks.settled(),
    finished: () => tasks.finished(),
    close: () => tasks.close(),
  }
}

/** An error that is no report, such as a missing shared file, goes to the caller that waits. */
async function runOrder(
  runner: LocalRunnerContext,
  { order, spec }: SpecifiedOrder,
  signal: AbortSignal,
): Promise<void> {
  const { context, files, begun } = runner
  try {
    const known = isJudgedOrder(order, spec) ? files.printed(order.id) : null
    const printed = known ?? (await measureInSlot(runner, { order, spec }, signal))
    if (printed === null) return
    const answer = await judgePrinted(runner, { order, spec }, printed, signal)
    context.faults.reach('measure:before-report')
    await files.report(order.id, answer)
  } catch (error) {
    throw explainDiskError(context, error)
  } finally {
    begun.delete(order.id)
  }
}

async function runProposer(
  { context, slots, ideas }: LocalRunnerContext & Pick<LocalRunnerOptions, 'ideas'>,
  who: string,
  request: { campaign: Campaign; spec: Spec; mayCostUsd: number | null },
  signal: AbortSignal,
): Promise<void> {
  // Run alone as a separate user, because ending an execution ends every process of its user.
  const alone = context.isolation?.asRoot === true
  const slot = await slots.enter({ limit: request.spec.execution.max_concurrent, alone }, signal)
  if (slot === null) return
  try {
    const { ok, reason } = await ideas.ask(who, { ...request, slot, signal })
    context.progress.say(ok ? `${who}: one idea` : `No idea from ${who}: ${reason}`)
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    slots.leave(slot)
  }
}

interface LocalRunnerContext {
  context: CampaignContext
  slots: WorkerSlots
  files: OrderFiles
  runId: string
  judges: Judges
  begun: Set<OrderId>
  cleanup: Promise<void> | null
  isolated: Campaign['isolated']
}

type SpecifiedOrder = { order: Order; spec: Spec }

/** Returns null when the order is no longer needed. */
async function measureInSlot(
  runner: LocalRunnerContext,
  { order, spec }: SpecifiedOrder,
  signal: AbortSignal,
): Promise<PrintedOrder | null> {
  const { context, slots, files, runId, begun } = runner
  const users = isUserIsolated(spec) || findIsolation(context, spec) !== null
  const slotRequest = chooseSlotRequest(order, spec, users)
  const slot = await slots.enter(slotRequest, signal)
  if (slot === null) return null
  try {
    const request = { order, spec, users, what: `campaign ${context.name}` }
    return await measureWithLock(context, request, signal, async lockState => {
      begun.add(order.id)
      await (runner.cleanup ??= removeHoldouts(join(context.dataDir, 'work')))
      await files.claim(order.id, runId, { waitedSeconds: lockState.waitedSeconds })
      return measureInWorkspace(runner, { order, spec }, { slot, lockState }, signal)
    })
  } finally {
    slots.leave(slot)
  }
}

/** The printed items are stored first, so that an interrupted order is not measured again. */
async function judgePrinted(
  { context, files, runId, judges, begun }: LocalRunnerContext,
  asked: SpecifiedOrder,
  printed: PrintedOrder,
  signal: AbortSignal,
): Promise<Report> {
  const { order, spec } = asked
  if (!isJudgedOrder(order, spec)) return printed.report
  begun.add(order.id)
  await files.print(order.id, printed)
  await files.claim(order.id, runId)
  context.faults.reach('judge:before')
  return judges.report(asked, printed, signal)
}

async function measureInWorkspace(
  { context, runId, files, isolated }: LocalRunnerContext,
  { order, spec }: SpecifiedOrder,
  { slot, lockState }: { slot: number; lockState: MachineLockState },
  signal: AbortSignal,
): Promise<PrintedOrder> {
  const workRoot = join(context.dataDir, 'work')
  await fetchHoldoutRef(context.repository, order)
  // A cache that was deleted since has no tree of the probes.
  if (order.purpose === 'probe') await restoreProbeTrees(context.repository, spec, order)
  const input: MeasureInput = {
    order,
    spec,
    runId,
    repository: context.repository,
    workDir: workRoot,
    sharedRoot: context.checkout,
    env: context.env,
    now: () => context.clock.now(),
    monotonic: () => context.clock.monotonic(),
    signal,
    beside: lockState.beside,
    onStart: async () => {
      await files.claim(order.id, runId, { started: true, waitedSeconds: lockState.waitedSeconds })
      context.faults.reach('measure:started')
    },
    onPartial: async partial => {
      await files.partial(order.id, partial)
      context.faults.reach('measure:partial')
    },
    laterCode: context.isolation?.laterCode ?? [],
    ...(spec.parallel.port_base === null ? {} : { portBase: spec.parallel.port_base + slot }),
  }
  const before = isolated[order.harness] ?? null
  const models = await openOrderModels(context, { order, spec }, files)
  const metered = models === null ? input : { ...input, models }
  try {
    const workspace = await chooseLocalWorkspace(context, metered, { slot, before })
    const { report, items } = await measureWithItems({ ...metered, ...workspace })
    const checked = await refuseDamagedCache(context.repository, context.env, report)
    return { report: refuseFullDisk(workspace.workDir, checked), items }
  } finally {
    await models?.close()
  }
}

/** Null where the harness asks no models. An order that continues after a crash has spent a part already. */
async function openOrderModels(
  { env, random }: CampaignContext,
  { order, spec }: SpecifiedOrder,
  files: OrderFiles,
): Promise<OpenMeteredModels | null> {
  if (!isMetered(spec)) return null
  return openHarnessModels(spec, {
    env,
    random,
    web: createWebFetch(env),
    capUsd: order.may_cost_usd ?? spec.stopping.max_total_cost_usd,
    before: files.metered(order.id) ?? NO_COST,
    record: cost => files.meter(order.id, cost),
  })
}

async function chooseLocalWorkspace(
  context: CampaignContext,
  input: MeasureInput,
  { slot, before }: { slot: number; before: boolean | null },
): Promise<Workspace | JobWorkspace> {
  const { progress } = context
  const isolation = findIsolation(context, input.spec)
  const workspace =
    isolation === null
      ? chooseWorkspace(input.spec, input.workDir)
      : await chooseIsolatedWorkspace(input, isolation, { before, progress })
  if ('users' in workspace) return workspace
  return { ...workspace, workDir: await claimFreeWorkDir(input.workDir, slot) }
}

function findIsolation({ isolation }: CampaignContext, spec: Spec): JobIsolation | null {
  return isolation ?? findLocalIsolation(spec)
}

/** Fetches in the trusted process, because code without a token cannot. The order names the commit. */
async function fetchHoldoutRef(repository: CampaignContext['repository'], { stop }: Order): Promise<void> {
  if (stop.rule !== 'holdout' || stop.source === null || !('ref' in stop.source)) return
  const { ref, commit } = stop.source
  await repository.fetch([{ ref, oid: commit }])
}

function listAwaitedOrders(campaign: Campaign): LiveOrder[] {
  return Object.values(campaign.orders).filter(({ report }) => report === null)
}

const FULL_DISK_ERROR = /\bENOSPC\b|\bEDQUOT\b|No space left on device|Disk quota exceeded/

/** A retry on a full disk would close one idea after the other, unless the idea filled it. */
export function refuseFullDisk(workDir: string, report: Report): Report {
  const { setups, gates, executions, runner_error: why } = report
  if (why === null || !FULL_DISK_ERROR.test(why) || setups.length + gates.length + executions.length > 0)
    return report
  throw new UserError(`no room is left to lay out what is measured in ${workDir}: the disk is full`, {
    place: { file: workDir },
    fix: 'free space, then run again; nothing was measured, and what was recorded stays valid',
    cause: why,
  })
}
