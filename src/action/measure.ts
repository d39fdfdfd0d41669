import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatCount } from '../decide/wording.ts'
import { type MeasurementAnswer, runMeasurementJob } from '../engine/jobs/measurement-job.ts'
import { UserError } from '../errors.ts'
import { makeAccessible } from '../measure/isolation/access-check.ts'
import { CLOSED_DIR, findSideUsers, SIDES_DIR } from '../measure/isolation/side-users.ts'
import { formatRunnerError } from '../model/report.ts'
import {
  formatActionsRunId,
  getArtifactFileName,
  getReportArtifactName,
  serializePrintedItems,
  serializeReport,
} from '../model/report-artifact.ts'
import { dropRoot } from './drop-secrets.ts'
import { type ActionEnv, omitUndefined } from './inputs.ts'
import {
  getTempDir,
  RECORDED_LATER,
  requireMeasuringBranch,
  resolveInWorkspace,
  SYSTEM_CLOCK,
  SYSTEM_RANDOM,
} from './job.ts'
import { appendSummary, type Outputs, reportFailure, setOutputs, toLogLine, writeSummary } from './outputs.ts'
import {
  type MeasureTask,
  type RootPipeMessage,
  readRootPipe,
  taskSchema,
  writeReturnReason,
} from './root-pipe.ts'
import { clearRunnerFiles, LaterCode, LaterCodeChanged, listLaterCodeFolders } from './sandbox.ts'
import { createPartialFile, type PartialFile } from './saved-files.ts'
import { AS_ROOT } from './start-modes.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
const root = process.argv[2] === AS_ROOT ? await readRootPipe(() => interrupted.abort()) : null
const env = root?.env ?? omitUndefined(process.env)
// The toolkit reads the environment of its process.
process.env = { ...env }
/** Partial results of a measurement that is under way. Null before and after it. */
let openPartial: PartialFile | null = null
const programs = { program: fileURLToPath(import.meta.url), node: process.execPath }
try {
  const task = taskSchema.safeParse(root ? root.task : JSON.parse(process.argv[2] ?? 'null'))
  if (!task.success) throw new UserError('the input order is not the id of an order: 64 hexadecimal digits')
  process.exitCode = await measureOne(task.data)
} catch (error) {
  // Experiment code that changed later steps could have changed the partial results too.
  if (error instanceof LaterCodeChanged) openPartial = null
  const isCancelled = interrupted.signal.aborted && !(error instanceof LaterCodeChanged)
  process.exitCode = isCancelled ? handleCancelledMeasurement() : reportFailure(error, getPartialOutput())
}
await writeSummary()

function handleCancelledMeasurement(): number {
  console.log('Cancelled: the order is not measured to its end. What was measured until now is kept.')
  setOutputs(getPartialOutput())
  return 130
}

function getPartialOutput(): Outputs {
  return openPartial === null ? {} : { partial: openPartial.path }
}

async function measureOne(task: MeasureTask): Promise<number> {
  const { campaign, order, directory } = task
  const runId = readFirstAttempt(env)
  const { prefix } = requireMeasuringBranch(env, campaign)
  const tempDir = getTempDir(env)
  const clone = resolveInWorkspace(env, directory)
  // The ledger is in the clone and names the base tree, so only root may write there.
  if (root) chmodSync(clone, 0o700)
  const partialFile = createPartialFile(tempDir, order, root?.runner ?? null)
  openPartial = partialFile
  // A killed job has no later chance to set this output.
  setOutputs(getPartialOutput())
  const answer = await measureAndClose(root, {
    directory: clone,
    campaign,
    prefix,
    order,
    ...prepareWorkspace(task, tempDir),
    machineDir: join(homedir(), '.cache', 'winnow'),
    runId,
    env: root ? { ...env, SUDO_UID: String(statSync(clone).uid) } : env,
    laterCode: listLaterCodeFolders(env, programs),
    onPartial: async partial => partialFile.write(partial),
    clock: SYSTEM_CLOCK,
    random: SYSTEM_RANDOM,
    progress: { say: line => console.log(toLogLine(line)) },
    signal: interrupted.signal,
  })
  openPartial = null
  if ('handedBack' in answer) return returnOrder(root, answer)
  reportMeasurement(order, answer, tempDir)
  return 0
}

/**
 * Runs after every measurement, also after a failed one: drops root, clears the runner's files, and restores
 * the code of later steps.
 */
async function measureAndClose(
  rootPipe: RootPipeMessage | null,
  job: Parameters<typeof runMeasurementJob>[0],
): Promise<MeasurementAnswer> {
  let services: Parameters<typeof dropRoot>[2] = null
  // With root, side users cannot write to that code. `runMeasurementJob` checks this before it starts
  // experiment code.
  const laterCode = rootPipe === null ? new LaterCode(env, programs) : null
  try {
    const answer = await runMeasurementJob(job)
    if ('spec' in answer) services = answer.spec.execution.services
    return answer
  } finally {
    if (rootPipe !== null) dropRoot(env, rootPipe.runner.uid, services)
    clearRunnerFiles(env)
    laterCode?.requireUnchanged()
  }
}

function prepareWorkspace({ noUsers }: MeasureTask, tempDir: string) {
  const users = noUsers ?? findSideUsers()
  if (root === null) return { users, workDir: join(tempDir, 'winnow'), onlyUsers: false }
  makeAccessible(SIDES_DIR)
  mkdirSync(CLOSED_DIR, { recursive: true, mode: 0o700 })
  chmodSync(CLOSED_DIR, 0o700)
  return { users, workDir: CLOSED_DIR, onlyUsers: true }
}

function returnOrder(
  rootPipe: RootPipeMessage | null,
  { handedBack: why }: Extract<MeasurementAnswer, { handedBack: string }>,
): number {
  if (rootPipe === null) throw new Error('nobody is there to hand an order back to')
  writeReturnReason(rootPipe.room, why)
  return 0
}

/**
 * Writes into a new directory with a random name, after all experiment processes have ended, and renames the
 * file last.
 */
function reportMeasurement(
  order: string,
  answer: Exclude<MeasurementAnswer, { handedBack: string }>,
  tempDir: string,
): void {
  if ('stale' in answer) {
    const line = `Did not measure order ${order.slice(0, 12)}: ${answer.stale}.`
    console.log(toLogLine(line))
    appendSummary(line)
    return setOutputs({ 'result-json': JSON.stringify({ order, stale: answer.stale }) })
  }
  const file = join(mkdtempSync(join(tempDir, 'winnow-report-')), getArtifactFileName(order))
  const { report, items } = answer
  writeFileSync(
    `${file}.part`,
    items === null ? serializeReport(report) : serializePrintedItems(report, items),
  )
  renameSync(`${file}.part`, file)
  if (root) for (const path of [file, resolve(file, '..')]) chownSync(path, root.runner.uid, root.runner.gid)
  const { executions, runner_error, tampered, flags, unisolated_because: why } = answer.report
  const isolated = !flags.includes('unisolated')
  const result = { order, executions: executions.length, runner_error, tampered: tampered !== null, isolated }
  const line = `Measured order ${order.slice(0, 12)} with ${formatCount(executions.length, 'execution')}. ${RECORDED_LATER}`
  console.log(toLogLine(runner_error === null ? line : `${line} But ${formatRunnerError(runner_error)}`))
  appendSummary(toLogLine(why === undefined ? line : `${line} Without isolation, because ${why}.`))
  setOutputs({
    'result-json': JSON.stringify(result),
    report: file,
    artifact: getReportArtifactName(order),
  })
}

/** A second attempt would be a second chance to pass. A tick reissues an order where that is fair. */
function readFirstAttempt({ GITHUB_RUN_ID: run = '', GITHUB_RUN_ATTEMPT: attempt = '1' }: ActionEnv): string {
  if (!/^\d+$/.test(run))
    throw new UserError('GITHUB_RUN_ID is not set: measure runs in a job of GitHub Actions')
  if (attempt === '1') return formatActionsRunId(run, attempt)
  throw new UserError('this run was started again, and an order is measured by the first attempt alone', {
    fix: 'nothing to do: the next tick issues the order again where its report was lost',
  })
}
