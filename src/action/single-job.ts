import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { withRepository } from '../cli/context.ts'
import { DEFAULT_PREFIX } from '../cli/known-campaigns.ts'
import { type ResultReporter, type RunResult, runAndReport, tellRunResult } from '../cli/run.ts'
import type { Call, CommandContext } from '../cli/verb.ts'
import { type JobIsolation, MeasurementDeclined } from '../engine/jobs/measure-job.ts'
import { findSideUsers, type MissingUsers } from '../measure/isolation/side-users.ts'
import { toShortRef } from '../model/ids.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { renderRunSummary } from '../report/run-summary.ts'
import { dropRoot } from './drop-secrets.ts'
import {
  buildJobEnvironment,
  createCall,
  type GithubJob,
  isPaused,
  readGithubJob,
  reportPaused,
  requireOwnRemote,
} from './github-job.ts'
import { appendSummary, type Outputs, reportFailure, setOutputs, toLogLine } from './outputs.ts'
import {
  missingUsersSchema,
  prepareClosedDir,
  runAsRoot,
  runThroughPipe,
  type Task,
  writeReturnReason,
} from './root-pipe.ts'
import { clearRunnerFiles, LaterCode, listLaterCodeFolders } from './sandbox.ts'
import { createKeptFiles } from './saved-files.ts'

const programs = { program: fileURLToPath(new URL('action.js', import.meta.url)), node: process.execPath }

const SUMMARY_LENGTH = 1_000

/** Exit codes of verdicts and of waiting. The job fails only when something is broken. */
const WAITING_IS_FINE: ReadonlySet<number> = new Set([0, 10, 11, 12, 14])

/** The task of the process that continues the campaign. Null: it runs as root and has side users. */
const taskSchema = z.strictObject({ noUsers: missingUsersSchema.nullable() })

/**
 * Single-job mode: one job decides and measures. Root holds the token, and experiments run as side users.
 * Where that is not possible, experiments run as the user that holds the token, and winnow measures only
 * those of people with write access.
 */
export async function runOnGithub(task: Task): Promise<number> {
  const { env, pipe } = task
  if (isPaused(env)) return reportPaused({ paused: true })
  const job = readGithubJob(task)
  if (pipe === undefined) return startSingleJob(task, job)
  const { noUsers } = taskSchema.parse(pipe.task)
  return noUsers === null ? continueAsRoot(task, job) : continueAsJobUser(task, job, noUsers)
}

async function startSingleJob(task: Task, job: GithubJob): Promise<number> {
  const { env } = task
  const start = { env, programEnv: env }
  const result = await runAsRoot(programs.program, { noUsers: null }, start)
  if (typeof result === 'number') return result
  console.log(toLogLine(describeNoIsolation(result)))
  if (process.platform === 'linux') return runThroughPipe(programs.program, { noUsers: result }, start)
  return continueAsJobUser(task, job, result)
}

function describeNoIsolation({ what }: MissingUsers): string {
  return `Isolation: none, because ${what}. winnow measures only ideas of people with write access.`
}

async function continueAsRoot(task: Task, job: GithubJob): Promise<number> {
  const { env, pipe } = task
  if (pipe === undefined) throw new Error('the root process got no task from its parent')
  const { runner, room } = pipe
  const unwritten = createKeptFiles(env)
  try {
    const users = findSideUsers()
    if (!('owners' in users)) throw new MeasurementDeclined(users.what)
    const environment = buildJobEnvironment(task, job)
    const cacheDir = prepareClosedDir(environment.directory)
    const gitEnv = { ...environment.env, SUDO_UID: String(statSync(environment.directory).uid) }
    const isolation = { users, asRoot: true, laterCode: listLaterCodeFolders(env, programs) }
    return await continueSingleJob(task, job, {
      environment: { ...environment, env: gitEnv, cacheDir, isolation },
      unwritten,
      reportUnwritten: () => giveToRunner(unwritten.tell(), runner),
    })
  } catch (error) {
    if (!(error instanceof MeasurementDeclined)) throw error
    writeReturnReason(room, error.message)
    return 0
  } finally {
    dropRoot(env, runner.uid, {})
  }
}

/** The step that uploads does not run as root. */
function giveToRunner(outputs: Outputs, { uid, gid }: { uid: number; gid: number }): Outputs {
  const { report = '' } = outputs
  if (report !== '') execFileSync('chown', ['-R', `${uid}:${gid}`, '--', report])
  return outputs
}

async function continueAsJobUser(task: Task, job: GithubJob, users: MissingUsers): Promise<number> {
  const { env } = task
  const unwritten = createKeptFiles(env)
  const laterCode = new LaterCode(env, programs)
  const isolation: JobIsolation = { users, asRoot: false, laterCode: [] }
  const environment = { ...buildJobEnvironment(task, job), isolation }
  const reportUnwritten = (): Outputs => {
    appendSummary(toLogLine(describeNoIsolation(users)))
    laterCode.requireUnchanged()
    return unwritten.tell()
  }
  return continueSingleJob(task, job, { environment, unwritten, reportUnwritten })
}

interface SingleJobRun {
  environment: Call['environment']
  unwritten: ReturnType<typeof createKeptFiles>
  /** Outputs that name the files of unwritten events. */
  reportUnwritten: () => Outputs
}

async function continueSingleJob(
  task: Task,
  job: GithubJob,
  { environment, unwritten, reportUnwritten }: SingleJobRun,
): Promise<number> {
  const { env, inputs, pipe } = task
  let answer = {}
  const closing: string[] = []
  const json = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) answer = value
  }
  const options = { campaign: inputs.campaign, yes: true, json: true } as const
  const oneJob = { ...removeWorkflows(environment), keepUnwritten: unwritten.keep }
  const call = createCall(oneJob, options, pipe?.end)
  try {
    await withRepository(call, DEFAULT_PREFIX, async ({ checkout }) =>
      requireOwnRemote(checkout.remotes, job),
    )
    const reportRun: ResultReporter = async (runCall, command, result) => {
      await tellRunResult(runCall, command, result)
      closing.push(...renderClosingLines(command, result))
    }
    const quiet = { ...call, terminal: { ...call.terminal, json } }
    const code = await runAndReport(quiet, reportRun).finally(() => clearRunnerFiles(env))
    for (const line of closing) console.log(toLogLine(line))
    appendSummary(closing.map(line => escapeMarkdown(line, SUMMARY_LENGTH)).join('\n\n'))
    const result = JSON.stringify({ paused: false, code, ...answer })
    setOutputs({ ...reportUnwritten(), 'result-json': result })
    return WAITING_IS_FINE.has(code) ? 0 : code
  } catch (error) {
    if (error instanceof MeasurementDeclined) throw error
    return reportFailure(error, reportUnwritten())
  }
}

function renderClosingLines(
  { campaignContext: context }: CommandContext,
  { campaign, waiting }: RunResult,
): string[] {
  const branch = toShortRef(context.refs.optimize)
  const bring = waiting.for === 'ideas' ? [`To submit an idea, open a pull request against ${branch}.`] : []
  return [...renderRunSummary(campaign, waiting), ...bring]
}

/** Without `workflows`, winnow rejects a spec that needs measuring jobs instead of ignoring it. */
function removeWorkflows(environment: Call['environment']): Call['environment'] {
  const { forge } = environment
  if (forge === undefined) return environment
  return {
    ...environment,
    forge: refs => {
      const { workflows: _, ...withoutJobs } = forge(refs)
      return withoutJobs
    },
  }
}
