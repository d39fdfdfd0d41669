import { join } from 'node:path'
import { UserError } from '../../errors.ts'
import { listTreeFiles } from '../../git/tree.ts'
import { isCheckedWithLabels, LABELS, parseLabels } from '../../judge/labels.ts'
import { isSecretName } from '../../measure/environment.ts'
import { runDryRun } from '../../measure/isolation/dry-run.ts'
import {
  findSideUsers,
  type MissingUsers,
  type SideUsers,
  toMissingUsersError,
} from '../../measure/isolation/side-users.ts'
import { readJobAge } from '../../measure/machine.ts'
import { buildUnmeasuredReport, measureOrder } from '../../measure/measure.ts'
import type { Item } from '../../measure/output/harness-output.ts'
import { buildUserWorkspace, type MeasureInput, type Workspace } from '../../measure/session.ts'
import type { OrderId } from '../../model/ids.ts'
import { MAX_REPORT_BYTES } from '../../model/job-file.ts'
import { isJudgedOrder } from '../../model/order.ts'
import type { PartialReport } from '../../model/pairs.ts'
import { markSideBroken, type Report } from '../../model/report.ts'
import type { Clock, ProgressReporter } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import { findScoreScale } from '../../spec/spec-facts.ts'
import { FIRST_ATTEMPT } from './github-runs.ts'
import {
  explainLaterAttempt,
  fetchOrderedTrees,
  type JobEnvironment,
  loadOrder,
  withJobClone,
} from './job-clone.ts'
import { measureWithLock } from './machine-lock.ts'

interface MeasureJob extends JobEnvironment {
  isolation: JobIsolation
  order: OrderId
  machineDir: string
  /** Awaited with all measurements so far; called first before any code of the order runs. */
  onPartial: (partial: PartialReport) => Promise<void>
}

export type MeasureJobResult =
  /** `items`: printed items by side, if models score them. */
  | { report: Report; items: Record<string, Item[]> | null; spec: Spec }
  | { idle: string }
  | { handedBack: string; spec: Spec }

export async function runMeasureJob(job: MeasureJob): Promise<MeasureJobResult> {
  const later = explainLaterAttempt(job)
  if (later !== null) return { idle: later }
  return withJobClone(job, async ({ repository, loaded: campaign, topLevel }): Promise<MeasureJobResult> => {
    const { isolation, progress, clock, env, signal } = job
    const loaded = await loadOrder(repository, campaign, { id: job.order, now: clock.now() })
    if (!loaded.wanted) return { idle: loaded.why }
    const { order, spec } = loaded
    refuseSecrets(spec)
    await fetchOrderedTrees(repository, order, spec)
    const input: MeasureInput = {
      order,
      spec,
      runId: `${job.runId}/${FIRST_ATTEMPT}`,
      repository,
      workDir: join(job.workDir, 'work'),
      sharedRoot: topLevel,
      env,
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      signal,
      onPartial: job.onPartial,
      onStart: async () => {},
      laterCode: isolation.laterCode,
      mostReportBytes: MAX_REPORT_BYTES,
    }
    await job.onPartial({ report: buildUnmeasuredReport(input), begun: null })
    const request = { order, spec, what: `campaign ${job.campaign}` }
    try {
      const done = await measureWithLock(job, request, signal, async ({ beside }) => {
        signal.throwIfAborted()
        const before = loaded.isolatedBefore
        const workspace = await chooseIsolatedWorkspace(input, isolation, { before, progress })
        progress.say(describeIsolation(workspace))
        return measureWithItems({ ...input, ...workspace, beside })
      })
      signal.throwIfAborted()
      if (done === null) throw new Error('an order was given up without an interruption')
      const items = isJudgedOrder(order, spec) ? done.items : null
      return { report: withPreparation(done.report, clock), items, spec }
    } catch (error) {
      if (!(error instanceof MeasurementDeclined)) throw error
      return { handedBack: error.message, spec }
    }
  })
}

/** Adds the minutes that the job spent on its tool chain and clones. */
function withPreparation(report: Report, clock: Clock): Report {
  const age = readJobAge()
  if (age === null) return report
  const since = (clock.now() - Date.parse(report.started_at)) / 1000
  return { ...report, prepared_seconds: Math.max(0, age - since) }
}

export async function measureWithItems(
  input: MeasureInput,
): Promise<{ report: Report; items: Record<string, Item[]> }> {
  const items: Record<string, Item[]> = {}
  // A side that runs several times shows what it printed first.
  const onItems = (side: string, printed: readonly Item[]) => {
    items[side] ??= [...printed]
  }
  const report = await measureOrder({ ...input, onItems })
  const labels = await readPinnedLabels(input)
  if ('unreadable' in labels) return { report: markSideBroken(report, 'base', labels.unreadable), items }
  return { report, items: labels.read.length === 0 ? items : { ...items, [LABELS]: labels.read } }
}

/** The labels of the harness, and not those of a candidate. */
async function readPinnedLabels({
  repository,
  order,
  spec,
}: MeasureInput): Promise<{ read: Item[] } | { unreadable: string }> {
  const { judge } = spec.metric
  const calibration = judge?.calibration ?? null
  if (judge === null || calibration === null || !isCheckedWithLabels({ order, spec })) return { read: [] }
  const file = calibration.labels
  const entry = (await listTreeFiles(repository, order.pin.tree)).find(({ path }) => path === file)
  if (entry === undefined)
    return { unreadable: `metric.judge.calibration.labels: ${file} is not in the pinned commit` }
  try {
    const scale = findScoreScale(judge) ?? [0, 0]
    const text = (await repository.blob(entry.oid)).toString('utf8')
    const labels = parseLabels(text, { file, scale })
    return { read: labels.map(({ id, content, score }) => ({ id, bucket: null, content, score })) }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { unreadable: `metric.judge.calibration.labels: ${formatUserError(error)}` }
  }
}

function formatUserError({ message, place, fix }: UserError): string {
  const where = [place?.file, place?.line ?? place?.path].filter(part => part !== undefined).join(':')
  return `${where}: ${message}${fix === undefined ? '' : `; ${fix}`}`
}

export function describeIsolation(workspace: JobWorkspace): string {
  return 'users' in workspace
    ? 'Isolation: each side runs as a separate user.'
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

/** The workspace of a job: with users, or without them and the reason. */
export type JobWorkspace = Required<Workspace> | { workDir: string; unisolatedBecause: string }

export interface JobIsolation {
  users: SideUsers | MissingUsers
  /** As root, measure only with isolated users; hand back every other order with the reason. */
  asRoot: boolean
  /** Folders of code that later steps of the job run. */
  laterCode: readonly string[]
}

/** Root declined the order because it cannot isolate it. Another process has to measure it. */
export class MeasurementDeclined extends Error {}

/**
 * winnow isolates sides wherever it can: it makes no accounts, and uses those that are there for them. Null on a
 * person's machine that has no users of sides for a spec that leaves the choice.
 */
export function findLocalIsolation({ measurement }: Pick<Spec, 'measurement'>): JobIsolation | null {
  if (measurement.isolation !== 'auto') return null
  const users = findSideUsers()
  return 'owners' in users ? { users, asRoot: false, laterCode: [] } : null
}

/** Tries the pinned commit as one of the users where no earlier order decides. Root declines every other order. */
export async function chooseIsolatedWorkspace(
  input: MeasureInput,
  { users, asRoot }: JobIsolation,
  { before, progress }: { before: boolean | null; progress: ProgressReporter },
): Promise<JobWorkspace> {
  const tryUsers = (workspace: Required<Workspace>) => {
    progress.say('Checking whether the pinned commit can be measured as a separate user.')
    return retryDryRun({ ...input, ...workspace })
  }
  const request = { users, before, spec: input.spec, runDryRun: tryUsers }
  const workspace = await chooseJobWorkspace(input.workDir, request)
  if ('unisolatedBecause' in workspace && asRoot) throw new MeasurementDeclined(workspace.unisolatedBecause)
  return workspace
}

interface WorkspaceRequest {
  users: SideUsers | MissingUsers
  before: boolean | null
  spec: Spec
  /** Tries the pinned commit as one of the users. Returns the reason why that fails, or null. */
  runDryRun: (workspace: Required<Workspace>) => Promise<string | null>
}

/** Isolation is part of the harness, so the first report decides how all orders run. */
export async function chooseJobWorkspace(workDir: string, request: WorkspaceRequest): Promise<JobWorkspace> {
  const { users, spec } = request
  const { isolation } = spec.measurement
  const toUnisolated = (unisolatedBecause: string) => ({ workDir, unisolatedBecause })
  if (isolation === 'none') return toUnisolated('the spec says isolation: none')
  const before = isolation === 'auto' ? request.before : true
  if (before === false) return toUnisolated('the earlier measurements were made without isolation')
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
