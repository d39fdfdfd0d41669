import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Task } from '../../src/action/commands.ts'
import { githubJob, surroundingsOf } from '../../src/action/github-job.ts'
import { readInputs } from '../../src/action/inputs.ts'
import { failed } from '../../src/action/runner-protocol.ts'
import { wakeUp } from '../../src/action/tick.ts'
import { githubForge } from '../../src/forge/github/forge.ts'
import { shortRef } from '../../src/model/refs.ts'
import type { Call } from '../../src/verbs/call.ts'
import { jobClone } from '../action/a-job.ts'
import { ENV } from '../engine/post.ts'
import { scratch } from '../git/scratch.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import { defaultBranch } from './emulator/world.ts'
import { IMPATIENT } from './temp-github.ts'

export interface Waking {
  github: EmulatedGithub
  token: string
  /** Of an App, beside the job's own. */
  appToken?: string
  /** Where the job finds GitHub; a proxy may stand before it. */
  url?: string
  env?: Record<string, string>
  /** Other surroundings than those of a job: its clock, chance, and points at which it is cut off. */
  around?: Partial<Pick<Call['around'], 'clock' | 'random' | 'faults' | 'by'>>
  patience?: object
}

export interface Woken {
  code: number
  /** Everything it printed, as a runner reads it. */
  out: string
}

/**
 * The job that ticks, in this process: a fresh clone, nothing remembered, the code of the action itself, and no
 * waiting between requests. What ends it ends it as it would end the job.
 */
export async function woken(waking: Waking): Promise<Woken> {
  const { github, token, url = github.url } = waking
  const { dir, git } = jobClone(github.bare, await defaultBranch(github.world))
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const env = {
    ...ENV,
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTOR: 'ada',
    GITHUB_WORKSPACE: dir,
    RUNNER_TEMP: join(scratch('winnow-wake-'), 'temp'),
    ...waking.env,
  }
  const inputs = readInputs({
    INPUT_COMMAND: 'tick',
    'INPUT_GITHUB-TOKEN': token,
    'INPUT_APP-TOKEN': waking.appToken ?? '',
  })
  const task: Task = { inputs, env }
  return heard(async () => {
    try {
      return await wakeUp(task, ...jobOf(task, waking))
    } catch (error) {
      return failed(env, error)
    }
  })
}

function jobOf(
  task: Task,
  { around = {}, patience = {} }: Waking,
): [ReturnType<typeof githubJob>, Call['around']] {
  const job = githubJob(task)
  const usual = surroundingsOf(task, job)
  const clock = around.clock ?? { ...usual.clock, sleep: () => setImmediate() }
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
        githubForge({
          ...job,
          version: '0.0.0',
          say: line => usual.progress.say(line),
          patience: { ...IMPATIENT, ...patience },
          base: shortRef(refs.optimize),
          clock: () => clock.now(),
          sleep: ms => clock.sleep(ms),
          random: () => random.fraction(),
        }),
    },
  ]
}

/** Jobs may run side by side: each hears what it printed itself. */
const heardBy = new AsyncLocalStorage<string[]>()

async function heard(job: () => Promise<number>): Promise<Woken> {
  const lines: string[] = []
  const { log } = console
  if (listening++ === 0) {
    unheard = log
    console.log = (...said: unknown[]) => (heardBy.getStore() ?? { push: log }).push(said.join(' '))
  }
  try {
    return { code: await heardBy.run(lines, job), out: lines.join('\n') }
  } finally {
    if (--listening === 0) console.log = unheard
  }
}

let listening = 0
let unheard = console.log
