import { rmSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { requireHome } from '../engine/campaign/context.ts'
import { refuseDamagedCache, type RepositoryContext } from '../engine/campaign/open.ts'
import { startOrder } from '../engine/controller/apply.ts'
import { openController, requireCampaign } from '../engine/controller/run.ts'
import { fetchOrderedTrees } from '../engine/jobs/job-clone.ts'
import { type MachineLockState, measureWithLock } from '../engine/jobs/machine-lock.ts'
import {
  chooseIsolatedWorkspace,
  describeIsolation,
  findLocalIsolation,
  type JobWorkspace,
} from '../engine/jobs/measure-job.ts'
import { type ControllerContext, type Observation, observe } from '../engine/observe/observe.ts'
import { HarnessError, UserError } from '../errors.ts'
import { readStoredJson, writeStoredJson } from '../measure/file-system.ts'
import { measureOrder } from '../measure/measure.ts'
import {
  buildUserWorkspace,
  chooseWorkspace,
  isUserIsolated,
  type MeasureInput,
  type Workspace,
} from '../measure/session.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import { digestSchema, type OrderId } from '../model/ids.ts'
import { type Order, orderTermsSchema } from '../model/order.ts'
import { formatRunnerError, type ModelCost, modelCostSchema, type Report } from '../model/report.ts'
import { NO_COST } from '../plan/money.ts'
import { type ModelSpending, renderModelSpending } from '../report/check-trial.ts'
import { toShortId } from '../report/event-log.ts'
import { parseSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { isMetered } from '../spec/spec-facts.ts'
import { allowMeasuring } from './comment-command.ts'
import { readGivenFile, withCampaign, withRepository } from './context.ts'
import { chooseSpendingCap, openCommandModels, SPENDING_OPTIONS, toModelSpending } from './harness-models.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'
import type { MeasuringTime } from './live.ts'
import { type Call, type CommandContext, refuseOptions, type Verb } from './verb.ts'

export const measureVerb: Verb = {
  name: 'measure',
  group: 'more',
  summary: 'measure open orders of the campaign on this machine; the next tick records the reports',
  access: 'write',
  arguments: [
    {
      name: 'order',
      summary: 'the id of one order, or the first characters of it; by default all',
    },
  ],
  options: [
    { name: 'order', value: 'file', summary: 'measure the order in this file, without a ledger' },
    { name: 'spec', value: 'file', summary: 'with --order: the spec of the order' },
    { name: 'report', value: 'file', summary: 'with --order: where to write the report' },
    ...SPENDING_OPTIONS.map(option => ({ ...option, summary: `with --order, ${option.summary}` })),
  ],
  examples: [
    'winnow measure',
    'winnow measure --order order.json --spec .winnow/parser.yaml --report report.json',
  ],
  exits: {
    13: 'with --order: the machine failed; the report says how',
    14: 'an order is being measured elsewhere',
    130: 'interrupted',
  },
  comment: { options: [], run: allowMeasuring },
  async run(call) {
    if (call.given.text('order') !== undefined) return measureFile(call)
    refuseOptions(call, FILE_OPTIONS, 'needs --order', 'give --order FILE as well')
    return withCampaign(call, { access: 'write', startedOnly: true }, context => measureLive(call, context))
  },
}

const FILE_OPTIONS = ['spec', 'report', 'spend', 'allow-uncapped']

async function measureLive(call: Call, context: CommandContext): Promise<number> {
  const { terminal, given, interrupt } = call
  requireHome(context.campaignContext, (await requireCampaign(context.campaignContext)).loaded.campaign)
  const controller = await openController(context.campaignContext, interrupt)
  const observation = await observe(controller)
  const open = observation === null ? [] : listOpenOrders(observation, given.positionals[0])
  if (observation === null || open.length === 0) {
    terminal.out('No order is waiting to be measured.')
    return 0
  }
  const { ready, elsewhere } = selectReadyOrders(observation, open)
  for (const line of elsewhere) terminal.out(line)
  if (context.dryRun) {
    for (const id of ready) {
      terminal.out(`would measure order ${toShortId(id)} and write its report for the next tick`)
      context.dryRun.files.push(
        `the report on order ${toShortId(id)}, below ${context.campaignContext.dataDir}`,
      )
    }
    return 0
  }
  await measureOrders(controller, observation, ready, interrupt)
  if (interrupt.aborted) return 130
  for (const id of ready)
    terminal.out(`order ${toShortId(id)} is measured; the next winnow tick records the report`)
  return elsewhere.length > 0 ? 14 : 0
}

function listOpenOrders({ world }: Observation, idPrefix: string | undefined): OrderId[] {
  const open = Object.values(world.campaign.orders).filter(({ report }) => report === null)
  const ids = open.map(({ order }) => order.id)
  if (idPrefix === undefined) return ids
  const [found, another] = ids.filter(id => id.startsWith(idPrefix))
  if (found === undefined) {
    const fix = ids.length === 0 ? 'no order is waiting' : `waiting orders: ${ids.map(toShortId).join(', ')}`
    throw new UserError(`no order that is waiting begins with ${idPrefix}`, { fix })
  }
  if (another !== undefined)
    throw new UserError(`several orders begin with ${idPrefix}`, { fix: 'give more characters of its id' })
  return [found]
}

/** Skips orders that another run has taken: a second report would be discarded. */
function selectReadyOrders({ world }: Observation, open: readonly OrderId[]) {
  const ready: OrderId[] = []
  const elsewhere: string[] = []
  for (const id of open) {
    const run = world.runs.get(id)
    const dispatched = world.campaign.orders[id]?.run_id ?? null
    if (run?.state === 'reported')
      elsewhere.push(`order ${toShortId(id)} is measured already; the next winnow tick records it`)
    else if (run?.state === 'running')
      elsewhere.push(`order ${toShortId(id)} is being measured by another process`)
    else if (run === undefined && dispatched === null) ready.push(id)
    else if (run?.state === 'gone' && !run.started && dispatched === null) ready.push(id)
    else elsewhere.push(`order ${toShortId(id)} belongs to a run that ended; winnow run continues it`)
  }
  return { ready, elsewhere }
}

async function measureOrders(
  controller: ControllerContext,
  observation: Observation,
  orders: readonly OrderId[],
  interrupt: AbortSignal,
): Promise<void> {
  const { campaign } = controller.memory.loaded ?? observation.loaded
  const stop = () => {
    for (const order of orders) void controller.runner.cancel(order)
  }
  interrupt.addEventListener('abort', stop, { once: true })
  try {
    for (const order of orders) await startOrder(controller, campaign, order)
    while (orders.some(order => controller.runner.holds(order))) await controller.runner.settled()
  } finally {
    interrupt.removeEventListener('abort', stop)
  }
}

interface MeasureRequest {
  order: Order
  spec: Spec
  workspaceName: string
  /** Name of the command, shown to processes that wait for the lock. */
  what: string
  /** Options that only a person may use, never the engine. */
  more?: Pick<MeasureInput, 'onExecution' | 'onItems' | 'unpinned' | 'models'>
  /** Counts while measuring, but not while waiting for the lock. */
  time?: MeasuringTime
}

/** Measures an order in a separate work directory, without a ledger. */
export async function measureHere(
  call: Call,
  repositoryContext: RepositoryContext,
  request: MeasureRequest,
): Promise<Report> {
  if (isMetered(request.spec) && request.more?.models === undefined)
    throw new Error('a harness that asks models is measured without them')
  const { environment, interrupt } = call
  const machine = { ...environment, machineDir: repositoryContext.machineDir }
  const users = isUserIsolated(request.spec) || findLocalIsolation(request.spec) !== null
  const done = await measureWithLock(machine, { ...request, users }, interrupt, async lock => {
    interrupt.throwIfAborted()
    request.time?.begins()
    try {
      const input = buildMeasureInput(call, repositoryContext, request, lock)
      const workspace = await chooseWorkspaceHere(call, repositoryContext, input)
      const report = await measureOrder({ ...input, ...workspace })
      return { report: await refuseDamagedCache(repositoryContext.repository, environment.env, report) }
    } finally {
      request.time?.ends()
    }
  })
  interrupt.throwIfAborted()
  if (done === null) throw new Error('a measurement was given up without an interruption')
  return done.report
}

/** Whether the orders of a command were isolated, by harness: all of them are measured like the first one. */
const isolatedBefore = new WeakMap<RepositoryContext, Map<string, boolean>>()

async function chooseWorkspaceHere(
  { environment: { progress } }: Call,
  repositoryContext: RepositoryContext,
  input: MeasureInput,
): Promise<Workspace | JobWorkspace> {
  const { spec, workDir, order } = input
  const isolation = findLocalIsolation(spec)
  if (isolation === null) return chooseWorkspace(spec, workDir)
  const known = isolatedBefore.get(repositoryContext) ?? new Map<string, boolean>()
  isolatedBefore.set(repositoryContext, known)
  const before = known.get(order.harness) ?? null
  const workspace = await chooseIsolatedWorkspace(input, isolation, { before, progress })
  known.set(order.harness, 'users' in workspace)
  if (before === null) progress.say(describeIsolation(workspace))
  return workspace
}

/** The directories in which an order may be measured: where sides have users of their own, it is another one. */
export function listWorkDirs(
  { dataDir }: Pick<RepositoryContext, 'dataDir'>,
  spec: Spec,
  workspaceName: string,
): string[] {
  const workDir = join(dataDir, 'work', workspaceName)
  const users = findLocalIsolation(spec)?.users
  if (users === undefined || !('owners' in users)) return [chooseWorkspace(spec, workDir).workDir]
  return [workDir, buildUserWorkspace(users, workDir).workDir]
}

function buildMeasureInput(
  { environment, interrupt }: Call,
  { repository, dataDir, checkout }: RepositoryContext,
  { order, spec, workspaceName, more = {} }: MeasureRequest,
  { beside }: MachineLockState,
): MeasureInput {
  return {
    ...more,
    beside,
    order,
    spec,
    runId: environment.by.run_id,
    repository,
    workDir: join(dataDir, 'work', workspaceName),
    sharedRoot: checkout.topLevel,
    env: environment.env,
    now: () => environment.clock.now(),
    monotonic: () => environment.clock.monotonic(),
    signal: interrupt,
    onStart: async () => {},
  }
}

const orderSchema = orderTermsSchema.extend({ id: digestSchema })

/** Reads the order and writes the report as files, without a ledger. */
async function measureFile(call: Call): Promise<number> {
  const [id] = call.given.positionals
  if (id !== undefined)
    throw new UserError(`${id} names an open order, and --order a file with one`, {
      fix: 'give one of the two',
    })
  refuseOptions(call, ['campaign'], 'has no effect with --order, which needs no campaign')
  const specFile = requireOption(call, 'spec')
  const reportFile = resolve(call.environment.directory, requireOption(call, 'report'))
  const order = await readOrder(call, requireOption(call, 'order'))
  const yaml = await readGivenFile(call, specFile)
  const { spec, sha256: hash } = parseSpec(yaml, { file: specFile })
  if (hash !== order.spec_sha256) {
    throw new UserError(`${specFile} is not the spec that the order was issued under`, {
      place: { file: specFile },
      fix: `give the file whose sha256 is ${order.spec_sha256}`,
    })
  }
  return withRepository(call, DEFAULT_PREFIX, async repositoryContext => {
    await fetchOrderedTrees(repositoryContext.repository, order, spec)
    if (call.given.flag('dry-run')) {
      call.terminal.out(`would measure order ${order.id} and write ${reportFile}`)
      return 0
    }
    const keep = async (measured: Report) => {
      const part = `${reportFile}.${call.environment.random.hex(8)}.part`
      await writeFile(part, `${JSON.stringify(measured)}\n`)
      await rename(part, reportFile)
    }
    const { report, spending } = await measureOrderFile(call, repositoryContext, { order, spec, keep })
    call.terminal.out(`report written to ${reportFile}`)
    if (spending !== null) call.terminal.out(renderModelSpending(spending))
    if (report.runner_error === null) return 0
    throw new HarnessError(formatRunnerError(report.runner_error), {
      fix: 'mend this machine or the order, and repeat the command: this report decides nothing',
    })
  })
}

/** The cost of model calls is stored until the report is kept, so that a repeated command counts all of it. */
async function measureOrderFile(
  call: Call,
  repositoryContext: RepositoryContext,
  { order, spec, keep }: { order: Order; spec: Spec; keep: (report: Report) => Promise<void> },
): Promise<{ report: Report; spending: ModelSpending | null }> {
  const what = 'winnow measure'
  const workspaceName = `file-${hashSha256(order.id).slice(0, 12)}`
  const request = { order, spec, workspaceName, what }
  const cap = chooseSpendingCap(call, spec, { what, setAsideUsd: order.may_cost_usd ?? null })
  if (cap === null) {
    const report = await measureHere(call, repositoryContext, request)
    await keep(report)
    return { report, spending: null }
  }
  const spentFile = join(repositoryContext.dataDir, 'spent', `${workspaceName}.json`)
  const before = modelCostSchema.safeParse(readStoredJson(spentFile)).data ?? NO_COST
  const record = (cost: ModelCost) => writeStoredJson(spentFile, cost)
  const models = await openCommandModels(call, spec, cap, { before, record })
  try {
    const report = await measureHere(call, repositoryContext, { ...request, more: { models } })
    await keep(report)
    rmSync(spentFile, { force: true })
    return { report, spending: toModelSpending(models, cap) }
  } finally {
    await models.close()
  }
}

function requireOption({ given }: Call, name: string): string {
  const value = given.text(name)
  if (value !== undefined) return value
  throw new UserError(`--order needs --${name} as well`, {
    fix: 'winnow measure --order FILE --spec FILE --report FILE',
  })
}

async function readOrder(call: Call, file: string): Promise<Order> {
  const parsed = orderSchema.safeParse(parseJsonFile(await readGivenFile(call, file), file))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new UserError(`${file} is not an order: ${issue?.path.join('.')} ${issue?.message}`, {
    place: { file },
  })
}

function parseJsonFile(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UserError(`${file} is not JSON`, { place: { file }, cause })
  }
}
