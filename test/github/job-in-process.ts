import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { summary } from '@actions/core'
import { buildJobEnvironment, type JobContext, readGithubJob } from '../../src/action/github-job.ts'
import { readInputs } from '../../src/action/inputs.ts'
import { reportFailure } from '../../src/action/outputs.ts'
import type { Task } from '../../src/action/root-pipe.ts'
import { settleCampaigns } from '../../src/action/settle.ts'
import { tickCampaigns } from '../../src/action/tick.ts'
import type { Call } from '../../src/cli/verb.ts'
import type { EndedRun } from '../../src/engine/jobs/github-runs.ts'
import { createGithubClock } from '../../src/github/github-clock.ts'
import { createGithubForge } from '../../src/github/github-forge.ts'
import { toShortRef } from '../../src/model/ids.ts'
import type { Clock } from '../../src/ports.ts'
import { jobClone } from '../action/a-job.ts'
import { ENV } from '../support/campaign-client.ts'
import { scratch } from '../git/scratch.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import { defaultBranch, type RunRecord } from './emulator/world.ts'
import type { RunJobs } from './measuring-job.ts'
import { IMPATIENT } from './temp-github.ts'

export interface Waking {
  github: EmulatedGithub
  token: string
  /** Of an App, beside the job's own. */
  appToken?: string
  /** Where the job finds GitHub; a proxy may stand before it. */
  url?: string
  env?: Record<string, string>
  /** The run whose tick it is; the default branch's unless told. */
  run?: Pick<RunRecord, 'id' | 'branch'>
  /** The orders that its tick put out, and what their jobs left: it is the settling job. */
  ended?: EndedRun
  /** The clock of the job's machine, which then goes by GitHub's. */
  machineClock?: Clock
  /** Other surroundings than those of a job: its clock, chance, and points at which it is cut off. */
  around?: Partial<Pick<Call['environment'], 'clock' | 'random' | 'faults' | 'by'>>
  patience?: object
  /** Hears what each job of a run printed. */
  hear?: (out: string) => void
}

export interface Woken {
  code: number
  /** Everything it printed, as a runner reads it. */
  out: string
  outputs: Record<string, string>
}

/**
 * The job that ticks, in this process: a fresh clone, nothing remembered, the code of the action itself, and no
 * waiting between requests. What ends it ends it as it would end the job.
 */
export async function woken(waking: Waking): Promise<Woken> {
  const { github, token, url = github.url } = waking
  const { dir, git } = jobClone(github.bare, await defaultBranch(github.world))
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const temp = scratch('winnow-wake-')
  const output = join(temp, 'outputs')
  const env: Record<string, string> = {
    ...ENV,
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTOR: 'ada',
    GITHUB_WORKSPACE: dir,
    RUNNER_TEMP: join(temp, 'temp'),
    GITHUB_OUTPUT: output,
    GITHUB_EVENT_NAME: 'schedule',
    INPUT_COMMAND: waking.ended === undefined ? 'tick' : 'settle',
    'INPUT_GITHUB-TOKEN': token,
    'INPUT_APP-TOKEN': waking.appToken ?? '',
    'INPUT_NEXT-JOBS': 'measure',
    INPUT_JOBS: waking.ended === undefined ? '' : JSON.stringify(needsOf(waking.ended)),
    ...(waking.run === undefined ? {} : runEnvironment(waking.run)),
    ...waking.env,
  }
  const { code, out } = await heard(env, async () => {
    try {
      const task: Task = { inputs: readInputs(), env }
      const given = jobOf(task, waking)
      return await (task.inputs.command === 'settle'
        ? settleCampaigns(task, ...given)
        : tickCampaigns(task, ...given))
    } catch (error) {
      return reportFailure(error)
    }
  })
  return { code, out, outputs: outputsIn(env['GITHUB_OUTPUT'] ?? output) }
}

function runEnvironment({ id, branch }: Pick<RunRecord, 'id' | 'branch'>): Record<string, string> {
  return {
    GITHUB_RUN_ID: String(id),
    GITHUB_EVENT_NAME: 'workflow_dispatch',
    GITHUB_REF: `refs/heads/${branch}`,
  }
}

/** The toolkit reads this once a process. Several jobs share this one. */
function readContext(env: Readonly<Record<string, string>>): JobContext {
  const { GITHUB_API_URL: apiUrl = '', GITHUB_SERVER_URL: serverUrl = '' } = env
  const { GITHUB_EVENT_NAME: eventName = '', GITHUB_EVENT_PATH: file } = env
  return { apiUrl, serverUrl, eventName, payload: file ? JSON.parse(readFileSync(file, 'utf8')) : {} }
}

/** As `toJSON(needs)` of the settling job has it. */
function needsOf({ measured }: EndedRun): object {
  const orders = [...measured.keys()].map((order, slot) => ({ slot, order, title: order.slice(0, 7) }))
  const slots = [...measured.values()].map(({ status, digest }, slot) => [
    `slot-${slot}`,
    `${status} ${digest ?? ''}`,
  ])
  const tick = { campaign: 'size', orders: JSON.stringify(orders), propose: '', judge: '' }
  return {
    tick: { result: 'success', outputs: tick },
    measure: { result: 'success', outputs: Object.fromEntries(slots) },
  }
}

function outputsIn(file: string): Record<string, string> {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const all = text.matchAll(/^([\w-]+)<<(\S+)\n([^]*?)\n\2$/gm)
  return Object.fromEntries([...all].map(([, name = '', , value = '']) => [name, value]))
}

/** The jobs of started runs, with the code of the action itself; each has to succeed. */
export function wokenJobs(waking: Waking): RunJobs {
  async function run(more: Partial<Waking>): Promise<Woken> {
    const done = await woken({ ...waking, ...more })
    waking.hear?.(done.out)
    if (done.code !== 0) throw new Error(done.out)
    return done
  }
  return {
    async tick(record) {
      const { outputs } = await run({ run: record })
      const orders: { order: string }[] = JSON.parse(outputs['orders'] || '[]')
      return orders.map(({ order }) => order)
    },
    settle: async (record, ended) => void (await run({ run: record, ended })),
  }
}

function jobOf(
  task: Task,
  { around = {}, patience = {}, machineClock }: Waking,
): [ReturnType<typeof readGithubJob>, Call['environment']] {
  const job = readGithubJob(task, readContext(task.env))
  const usual = buildJobEnvironment(task, job)
  const githubs = machineClock === undefined ? undefined : createGithubClock(machineClock)
  const clock = githubs ?? around.clock ?? { ...usual.clock, sleep: () => setImmediate() }
  const random = around.random ?? usual.random
  return [
    job,
    {
      ...usual,
      ...around,
      clock,
      random,
      machineDir: usual.cacheDir,
      forge: refs =>
        createGithubForge({
          ...job,
          version: '0.0.0',
          say: line => usual.progress.say(line),
          patience: { ...IMPATIENT, ...patience },
          base: toShortRef(refs.optimize),
          ...(githubs === undefined ? {} : { clock: githubs }),
          monotonic: () => clock.monotonic(),
          sleep: ms => clock.sleep(ms),
          random: () => random.fraction(),
        }),
    },
  ]
}

interface HeardJob {
  lines: string[]
  env: Readonly<Record<string, string>>
}

/** Jobs may run side by side: each has an environment of its own and hears what it printed itself. */
const heardBy = new AsyncLocalStorage<HeardJob>()

async function heard(env: HeardJob['env'], job: () => Promise<number>): Promise<Pick<Woken, 'code' | 'out'>> {
  const lines: string[] = []
  if (listening++ === 0) listen()
  try {
    const code = await heardBy.run({ lines, env }, job)
    // A process writes its summary at its end, to one file that the toolkit remembers. These jobs share a process.
    const { GITHUB_STEP_SUMMARY: file = '' } = env
    if (file !== '') appendFileSync(file, summary.stringify())
    return { code, out: lines.join('\n') }
  } finally {
    summary.emptyBuffer()
    if (--listening === 0) stopListening()
  }
}

let listening = 0
let stopListening: () => void = () => undefined

function listen(): void {
  const { env } = process
  const { log } = console
  const write = process.stdout.write.bind(process.stdout)
  Object.defineProperty(process, 'env', { configurable: true, get: () => heardBy.getStore()?.env ?? env })
  console.log = (...said: unknown[]) => (heardBy.getStore()?.lines ?? { push: log }).push(said.join(' '))
  process.stdout.write = (chunk: string | Uint8Array) => {
    const job = heardBy.getStore()
    if (job === undefined) return write(chunk)
    job.lines.push(String(chunk).replace(/\n$/, ''))
    return true
  }
  stopListening = () => {
    Object.defineProperty(process, 'env', { configurable: true, writable: true, value: env })
    console.log = log
    process.stdout.write = write
  }
}
