import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { isSecretName } from '../../measure/environment.ts'
import { runDryRun } from '../../measure/isolation/dry-run.ts'
import { type MissingUsers, type SideUsers, toMissingUsersError } from '../../measure/isolation/side-users.ts'
import { readJobAge } from '../../measure/machine.ts'
import { buildUnmeasuredReport, measureOrder } from '../../measure/measure.ts'
import type { Item } from '../../measure/output/harness-output.ts'
import { buildUserWorkspace, type MeasureInput, type Workspace } from '../../measure/session.ts'
import type { OrderId } from '../../model/ids.ts'
import { isJudgedOrder } from '../../model/order.ts'
import type { PartialReport } from '../../model/pairs.ts'
import type { Report } from '../../model/report.ts'
import { MAX_REPORT_BYTES } from '../../model/report-artifact.ts'
import type { Clock, ProgressReporter, RandomSource } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import { fetchOrderedTrees, findLedgerTip, type JobClone, loadOrder, openJobClone } from './load-order.ts'
import { measureWithLock } from './machine-lock.ts'

/** One order in a job of its own, which reads a clone and cannot write to it. */
interface MeasurementJob extends JobClone {
  /** The users for sides, or the reason why there are none. */
  users: SideUsers | MissingUsers
  /** As root, measure only with isolated users; hand back every other order with the reason. */
  onlyUsers: boolean
  laterCode: readonly string[]
  campaign: string
  prefix: string
  order: OrderId
  machineDir: string
  runId: string
  /** Awaited with all measurements so far; called first before any code of the order runs. */
  onPartial: (partial: PartialReport) => Promise<void>
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
  signal: AbortSignal
}

export type MeasurementAnswer =
  /** `items`: printed items by side, if models score them. */
  | { report: Report; items: Record<string, Item[]> | null; spec: Spec }
  | { stale: string }
  | { handedBack: string; spec: Spec }

export async function runMeasurementJob(job: MeasurementJob): Promise<MeasurementAnswer> {
  const { repository, topLevel } = await openJobClone(job, job.prefix)
  try {
    const tip = await findLedgerTip(repository, job)
    const loaded = await loadOrder(repository, { tip, id: job.order, now: job.clock.now() })
    if (!loaded.wanted) return { stale: loaded.why }
    refuseSecrets(loaded.spec)
    await fetchOrderedTrees(repository, loaded.order)
    const { order, spec } = loaded
    const request = { order, spec, what: `campaign ${job.campaign}` }
    const input = buildMeasureInput(job, repository, topLevel, loaded)
    await job.onPartial({ report: buildUnmeasuredReport(input), begun: null })
    let handedBack: string | null = null
    const done = await measureWithLock(job, request, job.signal, async ({ beside }) => {
      job.signal.throwIfAborted()
      const workspace = await chooseJobWorkspace(input.workDir, {
        users: job.users,
        before: loaded.isolatedBefore,
        spec,
        runDryRun: userWorkspace => {
          job.progress.say('Trying whether the pinned commit can be measured as a user of its own.')
          return retryDryRun({ ...input, ...userWorkspace })
        },
      })
      if ('unisolatedBecause' in workspace && job.onlyUsers)
        throw new MeasurementDeclined(workspace.unisolatedBecause)
      job.progress.say(describeIsolation(workspace))
      return measureWithItems({ ...input, ...workspace, beside })
    }).catch((error: unknown) => {
      if (!(error instanceof MeasurementDeclined)) throw error
      handedBack = error.message
      return null
    })
    if (handedBack !== null) return { handedBack, spec }
    job.signal.throwIfAborted()
    if (done === null) throw new Error('an order was given up without an interruption')
    return { ...done, report: withPreparation(done.report, job.clock), spec }
  } finally {
    await repository.close()
  }
}

/** Adds the minutes that the job spent on its tool chain and clones. */
function withPreparation(report: Report, clock: Clock): Report {
  const age = readJobAge()
  if (age === null) return report
  const since = (clock.now() - Date.parse(report.started_at)) / 1000
  return { ...report, prepared_seconds: Math.max(0, age - since) }
}

async function measureWithItems(
  input: MeasureInput,
): Promise<Pick<Extract<MeasurementAnswer, { report: Report }>, 'report' | 'items'>> {
  if (!isJudgedOrder(input.order, input.spec)) return { report: await measureOrder(input), items: null }
  const items: Record<string, Item[]> = {}
  const onItems = (side: string, printed: readonly Item[]) => {
    items[side] = [...printed]
  }
  return { report: await measureOrder({ ...input, onItems }), items }
}

function describeIsolation(workspace: JobWorkspace): string {
  return 'users' in workspace
    ? 'Isolation: each side runs as a user of its own.'
    : `Isolation: none, because ${workspace.unisolatedBecause}.`
}

/** Refuses a secret: leaving it out silently would look like a failure of the experiment. */
function refuseSecrets({ measurement }: Spec): void {
  const secret = measurement.env.find(isSecretName)
  if (secret === undefined) return
  throw new UserError(`measurement.env asks for ${secret}, and a measuring job holds no secret`, {
    place: { path: 'measurement.env' },
    fix: 'remove it, or give it another name if it is none: experiment code could read it',
  })
}

type WantedOrder = Extract<Awaited<ReturnType<typeof loadOrder>>, { wanted: true }>

function buildMeasureInput(
  job: MeasurementJob,
  repository: Repository,
  sharedRoot: string | null,
  { order, spec }: WantedOrder,
): MeasureInput {
  const { runId, env, clock, signal, workDir } = job
  return {
    order,
    spec,
    runId,
    repository,
    workDir: join(workDir, 'work'),
    sharedRoot,
    env,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    signal,
    onPartial: job.onPartial,
    onStart: async () => {},
    laterCode: job.laterCode,
    mostReportBytes: MAX_REPORT_BYTES,
  }
}

/** The workspace of a job: with users, or without them and the reason. */
export type JobWorkspace = Required<Workspace> | { workDir: string; unisolatedBecause: string }

/** How a job with a token isolates the code of others. */
export interface JobIsolation {
  users: SideUsers | MissingUsers
  /** As root, measure only with isolated users; hand back every other order. */
  asRoot: boolean
  /** Folders of code that later steps of the job run. */
  laterCode: readonly string[]
}

/** Root declined the order because it cannot isolate it. Another process has to measure it. */
export class MeasurementDeclined extends Error {}

interface WorkspaceRequest {
  users: SideUsers | MissingUsers
  /** Whether orders of the same harness ran isolated; null without any. */
  before: boolean | null
  spec: Spec
  /** Tries the pinned commit as one of the users. Returns the reason why that fails, or null. */
  runDryRun: (workspace: Required<Workspace>) => Promise<string | null>
}

/**
 * All orders that a campaign compares run the same way, because isolation is part of the harness. The first
 * report with `auto` decides, and later jobs follow it.
 */
export async function chooseJobWorkspace(workDir: string, request: WorkspaceRequest): Promise<JobWorkspace> {
  const { users, spec } = request
  const { isolation } = spec.measurement
  const toUnisolated = (unisolatedBecause: string) => ({ workDir, unisolatedBecause })
  if (isolation === 'none') return toUnisolated('the spec says isolation: none')
  const before = isolation === 'auto' ? request.before : true
  if (before === false) return toUnisolated('what it is compared with was measured without isolation')
  if (!('owners' in users)) {
    if (before === null) return toUnisolated(users.what)
    throw toMissingUsersError(users)
  }
  const workspace = buildUserWorkspace(users, workDir)
  if (before === true) return workspace
  const why = await request.runDryRun(workspace)
  return why === null ? workspace : toUnisolated(why)
}

/** Tries twice, because a registry may fail once. */
export async function retryDryRun(input: MeasureInput): Promise<string | null> {
  return (await runDryRun(input)) && (await runDryRun(input))
}
