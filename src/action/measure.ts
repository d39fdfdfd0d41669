import { plural } from '../decide/wording.ts'
import { randomBytes } from 'node:crypto'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { type Answer, measureOrdered } from '../engine/ordered-measurement.ts'
import { UserError } from '../errors.ts'
import { CLOSED_DIR, findSideUsers, SIDES_DIR } from '../measure/users/side-users.ts'
import { makeEnterable } from '../measure/users/enterable.ts'
import { actionsRunId, parcelFile, parcelled, parcelledItems, reportArtifact } from '../model/parcel.ts'
import { runnerErrorText } from '../model/runner-error.ts'
import { giveUpRoot } from './give-up-root.ts'
import { handBack, type Handed, handedOver, type MeasureTask, taskSchema } from './handed-over.ts'
import { AS_ROOT } from './start-words.ts'
import { definedIn, type Env } from './inputs.ts'
import { LaterCode, LaterCodeChanged, laterCodeFolders } from './later-code.ts'
import { measuringBranch } from './measuring-branch.ts'
import { type PartialFile, partialFile } from './partial-file.ts'
import { emptyRunnerFiles } from './runner-files.ts'
import { RECORDED_LATER } from './recorded-later.ts'
import { failed, type Outputs, said, setOutputs, summarise } from './runner-protocol.ts'
import { waiting } from './waiting.ts'

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
const root = process.argv[2] === AS_ROOT ? await handedOver(() => interrupted.abort()) : null
const env = root?.env ?? definedIn(process.env)
/** Where an interrupted measurement leaves what it had; null before and after it. */
let rescue: PartialFile | null = null
const programs = { program: fileURLToPath(import.meta.url), node: process.execPath }
try {
  const task = taskSchema.safeParse(root ? root.task : JSON.parse(process.argv[2] ?? 'null'))
  if (!task.success) throw new UserError('the input order is not the id of an order: 64 hexadecimal digits')
  process.exitCode = await measureOne(task.data)
} catch (error) {
  // What it left could be as changed as that code.
  if (error instanceof LaterCodeChanged) rescue = null
  const isCancelled = interrupted.signal.aborted && !(error instanceof LaterCodeChanged)
  process.exitCode = isCancelled ? cancelled() : failed(env, error, leftOver())
}

function cancelled(): number {
  console.log('Cancelled: the order is not measured to its end. What was measured until now is kept.')
  setOutputs(env, leftOver())
  return 130
}

function leftOver(): Outputs {
  return rescue === null ? {} : { partial: rescue.path }
}

async function measureOne(task: MeasureTask): Promise<number> {
  const { campaign, order, directory } = task
  const runId = runIdIn(env)
  const { prefix } = measuringBranch(env, campaign)
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const clone = resolve(env['GITHUB_WORKSPACE'] ?? '.', directory)
  // The ledger lies in it, and says which tree is the base.
  if (root) chmodSync(clone, 0o700)
  const kept = partialFile(room, order, root?.runner ?? null)
  rescue = kept
  // A job that is ended by force gets no other chance to say where it is.
  setOutputs(env, leftOver())
  const answer = await closingAfter(root, {
    directory: clone,
    campaign,
    prefix,
    order,
    ...placeOf(task, room),
    machineDir: join(homedir(), '.cache', 'winnow'),
    runId,
    env: root ? { ...env, SUDO_UID: String(statSync(clone).uid) } : env,
    laterCode: laterCodeFolders(env, programs),
    onPartial: async partial => kept.write(partial),
    clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: waiting },
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    progress: { say: line => console.log(said(line)) },
    signal: interrupted.signal,
  })
  rescue = null
  if ('handedBack' in answer) return goneBack(root, answer)
  tell(order, answer, room)
  return 0
}

/**
 * However a measurement ends, what comes after it in this job has no way to root any more, gets nothing that the experiment
 * wrote into the runner's files, and runs the code that it would have run without the experiment.
 */
async function closingAfter(from: Handed | null, job: Parameters<typeof measureOrdered>[0]): Promise<Answer> {
  let services: Parameters<typeof giveUpRoot>[2] = null
  // Users of sides cannot write to it, which is tried before anything runs.
  const later = from === null ? new LaterCode(env, programs) : null
  try {
    const answer = await measureOrdered(job)
    if ('spec' in answer) services = answer.spec.execution.services
    return answer
  } finally {
    if (from !== null) giveUpRoot(env, from.runner.uid, services)
    emptyRunnerFiles(env)
    later?.requireUnchanged()
  }
}

function placeOf({ noUsers }: MeasureTask, room: string) {
  const users = noUsers ?? findSideUsers()
  if (root === null) return { users, workDir: join(room, 'winnow'), onlyUsers: false }
  makeEnterable(SIDES_DIR)
  mkdirSync(CLOSED_DIR, { recursive: true, mode: 0o700 })
  chmodSync(CLOSED_DIR, 0o700)
  return { users, workDir: CLOSED_DIR, onlyUsers: true }
}

function goneBack(to: Handed | null, { handedBack: why }: Extract<Answer, { handedBack: string }>): number {
  if (to === null) throw new Error('nobody is there to hand an order back to')
  handBack(to.room, why)
  return 0
}

/** The file gets its name when nothing of the experiment is alive any more, in a directory that nobody knew. */
function tell(order: string, answer: Exclude<Answer, { handedBack: string }>, room: string): void {
  if ('stale' in answer) {
    const line = `Did not measure order ${order.slice(0, 12)}: ${answer.stale}.`
    console.log(said(line))
    summarise(env, line)
    return setOutputs(env, { 'result-json': JSON.stringify({ order, stale: answer.stale }) })
  }
  const file = join(mkdtempSync(join(room, 'winnow-report-')), parcelFile(order))
  const { report, items } = answer
  writeFileSync(`${file}.part`, items === null ? parcelled(report) : parcelledItems(report, items))
  renameSync(`${file}.part`, file)
  if (root) for (const path of [file, resolve(file, '..')]) chownSync(path, root.runner.uid, root.runner.gid)
  const { executions, runner_error, tampered, flags, unisolated_because: why } = answer.report
  const isolated = !flags.includes('unisolated')
  const result = { order, executions: executions.length, runner_error, tampered: tampered !== null, isolated }
  const line = `Measured order ${order.slice(0, 12)} with ${plural(executions.length, 'execution')}. ${RECORDED_LATER}`
  console.log(said(runner_error === null ? line : `${line} But ${runnerErrorText(runner_error)}`))
  summarise(env, said(why === undefined ? line : `${line} Without isolation, because ${why}.`))
  setOutputs(env, { 'result-json': JSON.stringify(result), report: file, artifact: reportArtifact(order) })
}

/** A second attempt would be a second roll of the dice; a tick issues an order again where that is fair. */
function runIdIn({ GITHUB_RUN_ID: run = '', GITHUB_RUN_ATTEMPT: attempt = '1' }: Env): string {
  if (!/^\d+$/.test(run))
    throw new UserError('GITHUB_RUN_ID is not set: measure runs in a job of GitHub Actions')
  if (attempt === '1') return actionsRunId(run, attempt)
  throw new UserError('this run was started again, and an order is measured by the first attempt alone', {
    fix: 'nothing to do: the next tick issues the order again where its report was lost',
  })
}
