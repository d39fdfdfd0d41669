import { HarnessError } from '../errors.ts'
import type { Execution, Side as Label } from '../model/report.ts'
import { BENCHMARK_COUNT, isBenchmarkFormat } from '../spec/benchmark-formats.ts'
import type { Spec } from '../spec/schema.ts'
import { buildHarnessEnvironment } from './environment.ts'
import { runGuarded } from './guarded-run.ts'
import type { MeasureInput } from './input.ts'
import { NO_OUTPUT, type HarnessOutput } from './output/printed.ts'
import { readFailed } from './output/read-failed.ts'
import { readHarnessOutput } from './output/read-printed.ts'
import { refuseBooleans } from './output/refuse-booleans.ts'
import type { Ended } from './process/launch.ts'
import { limitToRoom } from './report-room.ts'
import { runScore } from './score-run.ts'
import { refuseMachine } from './refuse-machine.ts'
import { clearOutputs } from './scrub.ts'
import type { Session, OrderSide } from './session.ts'

export interface ExecutionRequest {
  role: Execution['role']
  seed: number
}

type ExecutionResult = Pick<Execution, 'status' | 'metrics' | 'tasks' | 'artifacts' | 'error' | 'output'>

/** Runs a side once and appends what came of it. A side that failed too often is not run again. */
export async function execute(session: Session, side: OrderSide, turn: ExecutionRequest): Promise<void> {
  if (side.ended) return
  const { paths, input, slots, draft } = session
  await slots.bring(side.slot)
  await clearOutputs(paths, side.owner)
  await announceStart(session)
  const { owner } = side
  const own = buildHarnessEnvironment(session.allowed, paths, { owner, seed: turn.seed })
  const env = { ...own, ...buildHoldoutEnvironment(session) }
  const { timeout_seconds: timeoutSeconds } = input.spec.measurement
  const command = selectCommand(session, turn.role)
  const ended = await runGuarded(session, side, 'itself', { command, env, timeoutSeconds })
  const result =
    toFailedResult(session, ended, turn.role) ?? (await readResult(session, ended, turn, side.label))
  const output = result.status === 'ok' ? null : (result.output ?? readFailed(paths))
  const execution: Execution = {
    side: side.label,
    role: turn.role,
    build: side.build,
    seed: turn.seed,
    exit_code: ended.exitCode,
    signal: ended.signal,
    wall_seconds: ended.wallSeconds,
    ...result,
    ...(output === null ? {} : { output }),
  }
  const told = limitToRoom(side, hideHoldoutDetails(input, execution))
  draft.executions.push(told)
  await input.onExecution?.(draft.executions)
  await session.keepPartial()
  if (told.status === 'ok') return
  side.chances -= 1
  if (side.chances <= 0) side.ended = true
  await refuseMachine(session)
}

async function announceStart(session: Session): Promise<void> {
  if (session.started) return
  session.started = true
  // Before the start is recorded: a run that has started has always left a partial report.
  await session.keepPartial()
  await session.input.onStart()
}

function selectCommand({ input }: Session, role: ExecutionRequest['role']): string {
  const { command, stability } = input.spec.measurement
  const { stop } = input.order
  if (stop.rule === 'holdout') return stop.command
  return role === 'smoke' ? (stability?.ladder?.smoke_command ?? command) : command
}

/** Any exit code but 0 is a failure, whatever was printed (invariant 5). */
function toFailedResult(
  session: Session,
  ended: Ended,
  role: ExecutionRequest['role'],
): ExecutionResult | null {
  if (ended.exitCode === 0 && !ended.timedOut) return null
  const seconds = session.input.spec.measurement.timeout_seconds
  const how =
    ended.signal === null ? `ended with exit code ${ended.exitCode}` : `was ended by ${ended.signal}`
  const error = ended.timedOut ? `ran longer than ${seconds} s` : how
  const status = ended.timedOut ? 'timeout' : 'crashed'
  return { status: role === 'smoke' ? 'smoke-failed' : status, metrics: {}, error }
}

async function readResult(
  session: Session,
  ended: Ended,
  turn: ExecutionRequest,
  label: Label,
): Promise<ExecutionResult> {
  const score = getScoreSpec(session)
  try {
    const { metrics, items, ...rest } = await readTurnOutput(session, turn)
    if (items !== undefined) session.input.onItems?.(label, items)
    return { status: 'ok', metrics: { ...metrics, ...collectBuiltInMetrics(ended) }, ...rest }
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error
    const status = score === null ? 'bad-output' : 'score-failed'
    const { output } = error.detail
    return {
      status,
      metrics: {},
      error: explainOutputError(error),
      ...(output === undefined ? {} : { output }),
    }
  }
}

async function readTurnOutput(session: Session, turn: ExecutionRequest): Promise<HarnessOutput> {
  const { spec } = session.input
  if (turn.role === 'smoke') return NO_OUTPUT
  const score = getScoreSpec(session)
  const printed =
    score === null ? readHarnessOutput(session.paths, spec) : await runScore(session, score, turn.seed)
  return refuseBooleans(printed, spec)
}

/** A holdout's command prints its metric itself. */
function getScoreSpec({ input }: Session): Spec['measurement']['score'] {
  return input.order.stop.rule === 'holdout' ? null : input.spec.measurement.score
}

function buildHoldoutEnvironment({ holdout }: Session): Record<string, string> {
  return holdout === null ? {} : { WINNOW_HOLDOUT_DIR: holdout.dir }
}

/** Reports can be read by those who propose: of a holdout only what is judged may leave. */
function hideHoldoutDetails({ order: { stop }, spec }: MeasureInput, execution: Execution): Execution {
  if (stop.rule !== 'holdout') return execution
  const { side, role, build, seed, status, exit_code, signal, wall_seconds } = execution
  const counted = isBenchmarkFormat(spec.measurement.output) ? [BENCHMARK_COUNT] : []
  const judged = [...stop.metrics, ...counted].filter(name => Object.hasOwn(execution.metrics, name))
  const metrics = Object.fromEntries(judged.map(name => [name, execution.metrics[name] ?? null]))
  return { side, role, build, seed, status, exit_code, signal, wall_seconds, metrics }
}

/** What nobody could measure stays missing. */
function collectBuiltInMetrics(ended: Ended): Record<string, number> {
  return {
    wall_seconds: ended.wallSeconds,
    ...(ended.cpuSeconds === null ? {} : { cpu_seconds: ended.cpuSeconds }),
    ...(ended.maxRssMb === null ? {} : { max_rss_mb: ended.maxRssMb }),
  }
}

function explainOutputError(error: HarnessError): string {
  const { line, example } = error.detail
  const said = line === undefined || line === '' ? '' : `\nin: ${line}`
  const valid = example === undefined ? '' : `\nvalid: ${example}`
  return `${error.message}${said}${valid}`
}
