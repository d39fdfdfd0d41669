import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatCount } from '../decide/wording.ts'
import { type MeasureJobResult, runMeasureJob } from '../engine/jobs/measure-job.ts'
import { UserError } from '../errors.ts'
import { findSideUsers } from '../measure/isolation/side-users.ts'
import { formatRunnerError } from '../model/report.ts'
import { serializePartialReport, serializePrintedItems, serializeReport } from '../model/job-file.ts'
import { AS_ROOT, dropRoot } from './drop-secrets.ts'
import { omitUndefined } from './inputs.ts'
import { readJobEnvironment, requireMeasuringBranch, watchForInterrupt } from './job.ts'
import { type Outputs, reportFailure, setOutputs, writeSummary } from './outputs.ts'
import {
  type MeasureTask,
  prepareClosedDir,
  readRootPipe,
  type RootPipeMessage,
  taskSchema,
  writeReturnReason,
} from './root-pipe.ts'
import { clearRunnerFiles, LaterCode, LaterCodeChanged, listLaterCodeFolders } from './sandbox.ts'
import { createJobFile, reportJobEnd } from './saved-files.ts'

const interrupted = watchForInterrupt()
const root = process.argv[2] === AS_ROOT ? await readRootPipe(() => interrupted.abort()) : null
const env = root?.env ?? omitUndefined(process.env)
// The toolkit reads the environment of its process.
process.env = { ...env }
/** Names the partial report of a measurement that is under way. Empty before and after it. */
let partialOutput: Outputs = {}
const programs = { program: fileURLToPath(import.meta.url), node: process.execPath }
try {
  const task = taskSchema.safeParse(root ? root.task : JSON.parse(process.argv[2] ?? 'null'))
  if (!task.success) throw new UserError('the input order is not the id of an order: 64 hexadecimal digits')
  await measureOne(task.data)
} catch (error) {
  // Experiment code that changed later steps could have changed the partial report too.
  const isChanged = error instanceof LaterCodeChanged
  if (isChanged) partialOutput = {}
  if (interrupted.signal.aborted && !isChanged) {
    console.log('Cancelled: winnow saved the measurements that it had finished.')
    setOutputs(partialOutput)
    process.exitCode = 130
  } else process.exitCode = reportFailure(error, partialOutput)
}

await writeSummary()

async function measureOne({ campaign, order, directory, noUsers }: MeasureTask): Promise<void> {
  const { prefix } = requireMeasuringBranch(env, campaign)
  const job = readJobEnvironment(env, { campaign, directory }, interrupted.signal)
  const owner = root?.runner ?? null
  const partialFile = createJobFile(env, { content: 'partial', order, owner })
  partialOutput = { partial: partialFile.path }
  // A killed job has no later chance to set this output.
  setOutputs(partialOutput)
  const workDir = root && prepareClosedDir(job.directory)
  // git reads a clone that belongs to the user whom sudo names.
  const asRoot = workDir && { workDir, env: { ...env, SUDO_UID: String(statSync(job.directory).uid) } }
  const users = noUsers ?? findSideUsers()
  const result = await measureAndClose(root, {
    ...job,
    ...asRoot,
    prefix,
    order,
    isolation: { users, asRoot: root !== null, laterCode: listLaterCodeFolders(env, programs) },
    machineDir: join(homedir(), '.cache', 'winnow'),
    onPartial: async partial => partialFile.write(serializePartialReport(partial)),
  })
  partialOutput = {}
  if ('handedBack' in result) {
    if (root === null) throw new Error('no parent process can measure the order that this one declined')
    return writeReturnReason(root.room, result.handedBack)
  }
  const name = `order ${order.slice(0, 12)}`
  if ('idle' in result) {
    const line = `Did not measure ${name}: ${result.idle}.`
    return setOutputs(reportJobEnd({ line, result: { order, stale: result.idle } }))
  }
  const { report, items } = result
  const content = items === null ? 'report' : 'printed'
  const file = createJobFile(env, { content, order, owner })
  file.write(items === null ? serializeReport(report) : serializePrintedItems(report, items))
  const { executions, runner_error, tampered, flags, unisolated_because: why } = report
  const isolated = !flags.includes('unisolated')
  const summary = {
    line: `Measured ${name} with ${formatCount(executions.length, 'execution')}.`,
    details: [
      ...(runner_error === null ? [] : [`The machine failed: ${formatRunnerError(runner_error)}`]),
      ...(why === undefined ? [] : [`Without isolation, because ${why}.`]),
    ],
    result: { order, executions: executions.length, runner_error, tampered: tampered !== null, isolated },
    file,
  }
  setOutputs(reportJobEnd(summary))
}

/** Runs after every measurement, also after a failed one. */
async function measureAndClose(
  rootPipe: RootPipeMessage | null,
  job: Parameters<typeof runMeasureJob>[0],
): Promise<MeasureJobResult> {
  let services: Parameters<typeof dropRoot>[2] = null
  // With root, side users cannot write to that code. `runMeasureJob` checks this before it starts
  // experiment code.
  const laterCode = rootPipe === null ? new LaterCode(env, programs) : null
  try {
    const result = await runMeasureJob(job)
    if ('spec' in result) services = result.spec.execution.services
    return result
  } finally {
    if (rootPipe !== null) dropRoot(env, rootPipe.runner.uid, services)
    clearRunnerFiles(env)
    laterCode?.requireUnchanged()
  }
}
