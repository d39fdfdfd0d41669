import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HarnessError } from '../errors.ts'
import type { Execution, ModelCost, Side as Label } from '../model/report.ts'
import { findSuiteTask, type SuiteTask } from '../model/tasks.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { BENCHMARK_COUNT, isBenchmarkFormat } from '../spec/schema-values.ts'
import { buildCommonEnvironment, buildHarnessEnvironment } from './environment.ts'
import { prepareCounts, readCounts } from './counter.ts'
import { removeAll } from './file-system.ts'
import { refuseMachine, runGuarded } from './guarded-run.ts'
import { changeOwner, copyForUser, isFolder } from './isolation/side-users.ts'
import { clearOutputs, layOutTrusted } from './layout.ts'
import { countPrintedLines, readFailed } from './output/failure-output.ts'
import {
  type HarnessOutput,
  listTextMetrics,
  NO_OUTPUT,
  refuseBooleans,
  refuseOtherDirections,
} from './output/harness-output.ts'
import { readHarnessOutput, readScore } from './output/read-output.ts'
import { type Ended, lowerPriority } from './process/launch.ts'
import type { Owner } from './process/reaper.ts'
import { prepareHome } from './private-home.ts'
import { restoreStart } from './same-start.ts'
import {
  getSidePaths,
  type MeasureInput,
  type MeteredEnd,
  type OrderSide,
  type Session,
  type SidePaths,
} from './session.ts'
import { buildFailedTask, buildTaskCommand, buildTaskEnvironment, scoreTask } from './suite-runs.ts'
import { snapshotEverything } from './tamper-check.ts'

/** `task`: of the suite; undefined without one. */
export type ExecutionRequest = Pick<Execution, 'role' | 'seed'> & { task?: string | undefined }

type ExecutionResult = Pick<
  Execution,
  'status' | 'metrics' | 'tasks' | 'tasks_meta' | 'artifacts' | 'feedback' | 'error' | 'output'
>

/** Runs a side once and records the result. A side that failed too often is not run again. */
export async function execute(session: Session, side: OrderSide, turn: ExecutionRequest): Promise<void> {
  if (side.ended) return
  const { paths, input, slots, draft } = session
  await slots.bring(side.slot)
  await clearOutputs(paths, side.owner)
  if (!session.started) {
    session.started = true
    // Precedes `onStart`, so that every started order has a partial report.
    await session.keepPartial()
    await input.onStart()
  }
  const { owner } = side
  const task = findTask(session, turn)
  const own = {
    ...buildHarnessEnvironment(session.allowed, paths, { owner, seed: turn.seed }),
    ...(task === null ? {} : buildTaskEnvironment(task)),
  }
  const hidden = session.holdout === null ? {} : { WINNOW_HOLDOUT_DIR: session.holdout.dir }
  const timeoutSeconds = getTimeout(session, task)
  const { counter } = session
  const counts = counter === null ? null : await prepareCounts(paths.root, owner)
  const selected = selectCommand(session, turn.role, task)
  const command = counter === null || counts === null ? selected : counter.wrap(selected, counts)
  const { ended, models } = await runMetered(session, side, {
    command,
    env: { ...own, ...hidden },
    timeoutSeconds,
  })
  if (models !== null && models.failed !== null)
    throw new Error(`the models of the harness could not be asked: ${models.failed}`)
  const counted = counter === null || counts === null ? {} : readCounts(counter, counts)
  const measured = { ...ended, counted: { ...counted, ...toModelMetrics(models) } }
  const failed = toFailedResult(session, measured, {
    role: turn.role,
    task,
    overrun: models?.overrun ?? null,
  })
  const result = failed ?? (await readResult(session, measured, turn, side.label))
  const works = result.status === 'ok' && failed === null
  const output = works ? null : (result.output ?? readFailed(paths))
  const execution: Execution = {
    side: side.label,
    role: turn.role,
    build: side.build,
    seed: turn.seed,
    ...(task === null ? {} : { task: task.name }),
    exit_code: ended.exitCode,
    signal: ended.signal,
    wall_seconds: ended.wallSeconds,
    ...result,
    ...(works && !input.unpinned ? { printed_lines: countPrintedLines(paths) } : {}),
    ...(output === null ? {} : { output }),
  }
  const recorded = limitToRoom(side, hideHoldoutDetails(input, execution))
  draft.executions.push(recorded)
  await input.onExecution?.(draft.executions)
  await session.keepPartial()
  if (recorded.status !== 'ok') {
    side.chances -= 1
    if (side.chances <= 0) side.ended = true
  }
  if (recorded.status !== 'ok' || failed !== null) await refuseMachine(session)
  await restoreStart(session, side)
}

/** The processes of the command are dead when its calls end. */
async function runMetered(
  session: Session,
  side: OrderSide,
  command: Parameters<typeof runGuarded>[3],
): Promise<{ ended: Ended; models: MeteredEnd | null }> {
  const calls = session.input.models?.open()
  if (calls === undefined) return { ended: await runGuarded(session, side, 'itself', command), models: null }
  const env = { ...command.env, ...calls.env }
  const running = runGuarded(session, side, 'itself', { ...command, env })
  const models = await running.then(calls.end, calls.end)
  return { ended: await running, models }
}

function selectCommand({ input }: Session, role: ExecutionRequest['role'], task: SuiteTask | null): string {
  const { command, stability } = input.spec.measurement
  const { stop } = input.order
  if (stop.rule === 'holdout') return stop.command
  if (task !== null) return buildTaskCommand(command, task)
  return role === 'smoke' ? (stability?.ladder?.smoke_command ?? command) : command
}

function findTask({ input }: Session, { task }: ExecutionRequest): SuiteTask | null {
  if (task === undefined) return null
  const found = findSuiteTask(input.spec, task)
  if (found === null) throw new Error(`the suite has no task ${JSON.stringify(task)}`)
  return found
}

function getTimeout({ input }: Session, task: SuiteTask | null): number {
  return task?.timeout_seconds ?? input.spec.measurement.timeout_seconds
}

type CountedEnd = Ended & { counted: Record<string, number> }

interface FailureContext {
  role: ExecutionRequest['role']
  task: SuiteTask | null
  /** The limit that its model calls reached. */
  overrun: string | null
}

/**
 * Any exit code but 0 is a failure, also after valid output (invariant 5). With a loss it is a failure of its task,
 * which has the worst loss and is measured, not missing.
 */
function toFailedResult(
  session: Session,
  ended: CountedEnd,
  { role, task, overrun }: FailureContext,
): ExecutionResult | null {
  if (overrun !== null)
    return { status: role === 'smoke' ? 'smoke-failed' : 'crashed', metrics: {}, error: overrun }
  if (ended.exitCode === 0 && !ended.timedOut) return null
  const seconds = getTimeout(session, task)
  const how =
    ended.signal === null ? `ended with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`
  const error = ended.timedOut ? `ran longer than ${seconds} s` : how
  const status = ended.timedOut ? 'timeout' : 'crashed'
  const { spec } = session.input
  const measured = task === null ? null : buildFailedTask({ spec, task, outDir: session.paths.out })
  if (measured !== null) {
    const metrics = { ...measured.metrics, ...collectBuiltInMetrics(ended), ...ended.counted }
    return { status: 'ok', ...measured, metrics, error }
  }
  return { status: role === 'smoke' ? 'smoke-failed' : status, metrics: {}, error }
}

async function readResult(
  session: Session,
  ended: CountedEnd,
  turn: ExecutionRequest,
  label: Label,
): Promise<ExecutionResult> {
  const score = getScoreSpec(session)
  try {
    const { metrics, items, feedback, ...rest } = await readTurnOutput(session, turn)
    if (items !== undefined) session.input.onItems?.(label, items)
    return {
      status: 'ok',
      metrics: { ...metrics, ...collectBuiltInMetrics(ended), ...ended.counted },
      ...rest,
      ...(feedback === undefined || session.input.spec.epochs === null ? {} : { feedback }),
    }
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error
    // Of a judged metric, `score-failed` is an item without a score.
    const status = score === null || isJudgedMetric(session.input.spec) ? 'bad-output' : 'score-failed'
    const { line, example, output } = error.detail
    const excerpt = line === undefined || line === '' ? '' : `\nin: ${line}`
    const valid = example === undefined ? '' : `\nvalid: ${example}`
    const why = `${error.message}${excerpt}${valid}`
    return { status, metrics: {}, error: why, ...(output === undefined ? {} : { output }) }
  }
}

async function readTurnOutput(session: Session, turn: ExecutionRequest): Promise<HarnessOutput> {
  const { spec } = session.input
  if (turn.role === 'smoke') return NO_OUTPUT
  const score = getScoreSpec(session)
  const task = findTask(session, turn)
  const env = task === null ? {} : buildTaskEnvironment(task)
  const printed =
    score === null
      ? readHarnessOutput(session.paths, spec)
      : await runScore(session, score, { seed: turn.seed, env })
  const checked = refuseOtherDirections(refuseBooleans(printed, spec), spec)
  return task === null ? checked : scoreTask(checked, { spec, task, outDir: session.paths.out })
}

/** A holdout's command prints its metric itself. */
function getScoreSpec({ input }: Session): Spec['measurement']['score'] {
  return input.order.stop.rule === 'holdout' ? null : input.spec.measurement.score
}

/** Proposers can read reports, so a holdout report holds only the judged metrics. */
function hideHoldoutDetails({ order: { stop }, spec }: MeasureInput, execution: Execution): Execution {
  if (stop.rule !== 'holdout') return execution
  const { side, role, build, seed, status, exit_code, signal, wall_seconds } = execution
  const counted = isBenchmarkFormat(spec.measurement.output) ? [BENCHMARK_COUNT] : []
  const judged = [...stop.metrics, ...counted].filter(name => Object.hasOwn(execution.metrics, name))
  const metrics = Object.fromEntries(judged.map(name => [name, execution.metrics[name] ?? null]))
  return { side, role, build, seed, status, exit_code, signal, wall_seconds, metrics }
}

/** Metrics that could not be measured stay missing. */
function collectBuiltInMetrics(ended: Ended): Record<string, number> {
  return {
    wall_seconds: ended.wallSeconds,
    ...(ended.cpuSeconds === null ? {} : { cpu_seconds: ended.cpuSeconds }),
    ...(ended.maxRssMb === null ? {} : { max_rss_mb: ended.maxRssMb }),
  }
}

function toModelMetrics(models: { cost: ModelCost } | null): Record<string, number> {
  return models === null ? {} : { model_cost_usd: models.cost.usd, model_tokens: models.cost.tokens }
}

// Report size

/** Metrics get this share of the report, fixed fields the rest. Logs that do not fit are left out. */
const METRICS_SHARE = 0.8
/** If all sides print alike, the base fails first and no candidate is blamed. */
const BASE_SHARE = 0.8

/** Each side has a share of the report: an oversized one would count as a runner failure. */
export function computeSideRoom(
  { mostReportBytes }: Pick<MeasureInput, 'mostReportBytes'>,
  { label, of }: { label: OrderSide['label']; of: number },
): number {
  if (mostReportBytes === undefined) return Number.POSITIVE_INFINITY
  const share = (mostReportBytes * METRICS_SHARE) / of
  return Math.floor(label === 'base' ? share * BASE_SHARE : share)
}

/** Metrics and tasks beyond the side's share of the report turn the execution into `bad-output`. */
export function limitToRoom(side: Pick<OrderSide, 'room'>, execution: Execution): Execution {
  const { metrics, tasks, tasks_meta: facts, feedback } = execution
  const printed = [metrics, tasks, facts, feedback].filter(each => each !== undefined)
  const bytes = printed.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0)
  if (bytes <= side.room) {
    side.room -= bytes
    return execution
  }
  const { tasks: _tasks, tasks_meta: _facts, artifacts: _artifacts, feedback: _texts, ...rest } = execution
  const error = `its metrics${tasks === undefined ? '' : ' and tasks'} take ${bytes} bytes, but its side has only ${side.room} left in this report: print fewer of them, or shorter names`
  return { ...rest, status: 'bad-output', metrics: {}, error }
}

// Scorer

type ScoreRunSpec = NonNullable<Spec['measurement']['score']>

/** Lays out the scorer from the pin, in a directory where no experiment code runs (invariant 4). */
export async function prepareScore(session: Session): Promise<void> {
  if (session.input.spec.measurement.score === null) return
  const dir = join(session.input.workDir, 'trusted')
  await layOutTrusted(session, dir)
  if (session.scorer.owner === null)
    await prepareHome(getSidePaths(dir), { real: session.realHome, owner: null })
  session.trusted = { dir, snapshot: snapshotEverything(dir, [], session.input.repository.objectFormat) }
}

/** Runs after every process of the candidate has ended, and reads only the files in its out directory. */
async function runScore(
  session: Session,
  score: ScoreRunSpec,
  { seed, env }: { seed: number; env: Readonly<Record<string, string>> },
): Promise<HarnessOutput> {
  const { trusted, input, paths } = session
  if (trusted === null) throw new Error("the scorer's tree was not laid out")
  const own = getSidePaths(trusted.dir)
  for (const path of [own.tmp, own.stdout, own.stderr]) await removeAll(path)
  await mkdir(own.tmp, { recursive: true })
  const { owner, supervisor } = session.scorer
  const out = owner === null ? await ensureFolder(paths.out) : await giveOutputs(session, own, owner)
  const ended = await supervisor.run({
    command: input.beside ? lowerPriority(score.command) : score.command,
    cwd: join(own.tree, input.spec.measurement.working_directory),
    env: {
      ...buildCommonEnvironment(session.allowed, own, owner),
      ...env,
      WINNOW_OUT_DIR: out,
      WINNOW_SEED: String(seed),
    },
    stdout: own.stdout,
    stderr: own.stderr,
    timeoutSeconds: score.timeout_seconds,
    signal: input.signal,
  })
  trusted.snapshot = snapshotEverything(trusted.dir, [], input.repository.objectFormat)
  if (ended.timedOut) throw toScorerError(`ran longer than ${score.timeout_seconds} s`, own)
  if (ended.exitCode !== 0) throw toScorerError(`ended with ${ended.exitCode ?? ended.signal}`, own)
  const { spec } = input
  const options = { texts: listTextMetrics(spec), judged: isJudgedMetric(spec) }
  return readScore(own.stdout, score, spec.metric.primary.name, options)
}

/** Replaces a missing out directory by an empty one: the scorer decides how to score it. */
async function ensureFolder(out: string): Promise<string> {
  if (isFolder(out)) return out
  await removeAll(out)
  await mkdir(out, { recursive: true })
  return out
}

/** Copies the outputs, so the side's own files keep their owner. Empties the scorer's home and tmp first. */
async function giveOutputs({ input, paths }: Session, own: SidePaths, owner: Owner): Promise<string> {
  await prepareHome(own, { real: null, owner })
  await changeOwner(own.tmp, owner)
  await removeAll(own.out)
  await copyForUser(owner, { from: paths.out, room: join(input.workDir, 'handed'), to: own.out })
  return own.out
}

function toScorerError(how: string, printed: Pick<SidePaths, 'stdout' | 'stderr'>): HarnessError {
  const output = readFailed(printed)
  return new HarnessError(`the scorer ${how}`, output === null ? {} : { output })
}
