import type { EndedRun } from '../../src/engine/jobs/github-runs.ts'
import {
  type ActionsRun,
  type ActionsTick,
  type AskingJobs,
  runActionsTick,
} from '../../src/engine/controller/github-tick.ts'
import type { OrderId } from '../../src/model/ids.ts'
import type { PlanWaiting } from '../../src/plan/action.ts'
import type { CampaignClient } from '../support/campaign-client.ts'
import type { SizeOptions } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import type { RunRecord } from './emulator/world.ts'
import { waitingRuns, wholeRun } from './measuring-job.ts'
import type { Scene } from './scene.ts'
import { tickJob, WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'

/** A campaign on GitHub whose ticks are jobs that measure nothing: orders are jobs of runs that they start. */
export interface ActionsRepository {
  github: EmulatedGithub
  repository: TestRepository
  scene: Scene
  /** A token of somebody who may write. */
  ada: string
  /** The job of tick as it is now; another after it was killed. */
  openClient: () => Promise<CampaignClient>
  /** A tick on the default branch: a process of its own with nothing remembered. */
  wake: (options?: Wake) => Promise<PlanWaiting>
  /** The tick of a started run, and the orders of its matrix. */
  tickOf: (run: RunRecord, options?: Wake) => Promise<OrderId[]>
  /** The settling job of a run. */
  settleOf: (run: Pick<RunRecord, 'id'>, ended: Partial<EndedRun>, options?: Wake) => Promise<PlanWaiting>
  /** What the last tick came to. */
  readonly last: ActionsTick | null
  /** What the last tick said. */
  readonly said: readonly string[]
  /** What GitHub would not do in it. */
  readonly refused: readonly string[]
  /** The same of every tick so far. */
  readonly everRefused: string[]
  /** Every run that waits gets its machines: tick, measuring jobs, settling job. */
  machines: () => Promise<void>
  /** Ticks and machines in turn until nothing but ideas is waited for. */
  settle: () => Promise<PlanWaiting>
}

export interface Wake {
  fault?: (point: string) => void
  /** Milliseconds that its clock is ahead. */
  ahead?: number
  /** Of which workflow run it is a job. */
  run?: number
  attempt?: number
  /** Jobs that follow on it. */
  next?: Partial<AskingJobs>
  /** Jobs that the workflow file has; those that follow unless told. */
  has?: Partial<AskingJobs>
}

const NO_JOBS: AskingJobs = { propose: false, judge: false }
const NOTHING_ENDED: EndedRun = { measured: new Map(), proposed: null, judged: null }

export async function createActionsRepository(
  ideas: readonly string[],
  options: SizeOptions = {},
): Promise<ActionsRepository> {
  const files = { [WORKFLOW_FILE]: WORKFLOW, ...options.files }
  const {
    github,
    testRepository: repository,
    scene,
    env,
    forge,
  } = await tickJob(ideas, { ...options, files })
  let runs = 0

  function open({ fault, ahead }: Wake = {}): Promise<CampaignClient> {
    const clock = ahead === undefined ? {} : { ahead: () => ahead }
    return repository.another({ env, cache: 'job', ...(fault ? { fault } : {}), ...clock, forge })
  }

  let looking: Promise<CampaignClient> | null = null
  let here: CampaignClient | null = null
  let last: ActionsTick | null = null
  const everRefused: string[] = []

  async function ticked(does: ActionsRun['does'], wake: Wake): Promise<ActionsTick> {
    const { run = ++runs, attempt = 1, next = {}, has = next } = wake
    here = await open(wake)
    const { place } = here
    const workflows = place.forge?.workflows
    if (!workflows) throw new Error('this forge has no machines')
    const by = { ...place.by, run_id: `actions:${run}`, attempt }
    const jobs = { next: { ...NO_JOBS, ...next }, has: { ...NO_JOBS, ...has } }
    last = await runActionsTick({ ...place, by }, workflows, { does, ...jobs })
    everRefused.push(...last.refusals.map(({ message }) => message))
    return last
  }

  const made: ActionsRepository = {
    github,
    repository,
    scene,
    ada: github.token('ada'),
    openClient: () => (looking ??= open()),
    wake: async (wake = {}) => (await ticked('start', wake)).waiting,
    tickOf: async ({ id }, wake = {}) =>
      (await ticked('measure', { ...wake, run: id })).orders.map(({ order }) => order),
    settleOf: async ({ id }, ended, wake = {}) =>
      (await ticked({ settle: { ...NOTHING_ENDED, ...ended } }, { ...wake, run: id })).waiting,
    get last() {
      return last
    },
    get said() {
      return here?.said ?? []
    },
    get refused() {
      return last?.refusals.map(({ message }) => message) ?? []
    },
    everRefused,
    async machines() {
      const jobs = {
        tick: (run: RunRecord) => made.tickOf(run),
        settle: async (run: RunRecord, ended: EndedRun) => void (await made.settleOf(run, ended)),
      }
      for (const run of waitingRuns(github)) await wholeRun(github, run, jobs)
    },
    async settle() {
      for (let wakes = 0; wakes < 40; wakes++) {
        const waiting = await made.wake()
        if (waiting.for !== 'orders' && waitingRuns(github).length === 0) return waiting
        // The last job of each run starts the next one.
        while (waitingRuns(github).length > 0) await made.machines()
      }
      throw new Error('it never came to rest')
    },
  }
  return made
}
