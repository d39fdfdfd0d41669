import { randomBytes } from 'node:crypto'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { type Answer, measureOrdered } from '../engine/ordered-measurement.ts'
import { UserError } from '../errors.ts'
import { digest } from '../model/ids.ts'
import { actionsRunId, parcelFile, parcelled, parcelName } from '../model/parcel.ts'
import { definedIn, type Env } from './inputs.ts'
import { measuringBranch } from './measuring-branch.ts'
import { failed, said, setOutputs, summarise } from './runner-protocol.ts'
import { waiting } from './waiting.ts'

/** What the clean process is told, beside an environment without secrets. */
const taskSchema = z.strictObject({ campaign: z.string(), order: digest, directory: z.string() })

const env = definedIn(process.env)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
try {
  const task = taskSchema.safeParse(JSON.parse(process.argv[2] ?? 'null'))
  if (!task.success) throw new UserError('the input order is not the id of an order: 64 hexadecimal digits')
  process.exitCode = await measureOne(task.data)
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? cancelled() : failed(env, error)
}

/** What was measured until then is no answer: tick finds the order without a report. */
function cancelled(): number {
  console.log('Cancelled: order not measured, nothing is reported.')
  return 130
}

async function measureOne({ campaign, order, directory }: z.infer<typeof taskSchema>): Promise<number> {
  const runId = runIdIn(env)
  const { prefix } = measuringBranch(env, campaign)
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const answer = await measureOrdered({
    directory: resolve(env['GITHUB_WORKSPACE'] ?? '.', directory),
    campaign,
    prefix,
    order,
    workDir: join(room, 'winnow'),
    machineDir: join(homedir(), '.cache', 'winnow'),
    runId,
    env,
    clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: waiting },
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    progress: { say: line => console.log(said(line)) },
    signal: interrupted.signal,
  })
  tell(order, answer, room)
  return 0
}

/** The file gets its name when nothing of the experiment is alive any more, in a directory that nobody knew. */
function tell(order: string, answer: Answer, room: string): void {
  if ('stale' in answer) {
    const line = `Order ${order.slice(0, 12)} is not measured: ${answer.stale}.`
    console.log(said(line))
    summarise(env, line)
    return setOutputs(env, { 'result-json': JSON.stringify({ order, stale: answer.stale }) })
  }
  const file = join(mkdtempSync(join(room, 'winnow-report-')), parcelFile(order))
  writeFileSync(`${file}.part`, parcelled(answer.report))
  renameSync(`${file}.part`, file)
  const { executions, runner_error, tampered } = answer.report
  const result = { order, executions: executions.length, runner_error, tampered: tampered !== null }
  const line = `Order ${order.slice(0, 12)} is measured: ${executions.length} executions. The next tick judges them.`
  console.log(said(runner_error === null ? line : `${line} The runner failed: ${runner_error}`))
  summarise(env, line)
  setOutputs(env, { 'result-json': JSON.stringify(result), report: file, artifact: parcelName(order) })
}

/** A second attempt would be a second roll of the dice; tick dispatches an order again where that is fair. */
function runIdIn({ GITHUB_RUN_ID: run = '', GITHUB_RUN_ATTEMPT: attempt = '1' }: Env): string {
  if (!/^\d+$/.test(run))
    throw new UserError('GITHUB_RUN_ID is not set: measure runs in a job of GitHub Actions')
  if (attempt === '1') return actionsRunId(run, attempt)
  throw new UserError('this run was started again, and an order is measured by the first attempt alone', {
    fix: 'nothing to do: tick dispatches the order anew where its report was lost',
  })
}
