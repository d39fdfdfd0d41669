import { tickOnActions } from '../../src/engine/actions/session.ts'
import type { Waiting } from '../../src/plan/action.ts'
import type { Post } from '../engine/post.ts'
import type { SizeOptions } from '../engine/size-yard.ts'
import type { Yard } from '../engine/yard.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import { measuringJob, waitingRuns } from './measuring-job.ts'
import type { Scene } from './scene.ts'
import { MEASURE, tickJob } from './tick-job.ts'

/** A campaign on GitHub whose ticks are jobs that measure nothing: orders are runs of winnow-measure.yml. */
export interface ActionsYard {
  github: EmulatedGithub
  yard: Yard
  scene: Scene
  /** A token of somebody who may write. */
  ada: string
  /** The job of tick as it is now; another after it was killed. */
  post: () => Promise<Post>
  /** One wake-up: a process of its own with nothing remembered. */
  wake: (options?: Wake) => Promise<Waiting>
  /** What the last wake-up said. */
  readonly said: readonly string[]
  /** What GitHub would not do in it. */
  readonly refused: readonly string[]
  /** Every run that waits gets its machine. */
  machines: () => Promise<void>
  /** Wake-ups and machines in turn until nothing but ideas is waited for. */
  settle: () => Promise<Waiting>
}

export interface Wake {
  fault?: (point: string) => void
  /** Milliseconds that its clock is ahead. */
  ahead?: number
  /** Of which workflow run it is a job. */
  run?: number
  mayAsk?: boolean
  mayJudge?: boolean
  scores?: string
  /** The file of answers that it is given. */
  answers?: string
}

export async function actionsYard(ideas: readonly string[], options: SizeOptions = {}): Promise<ActionsYard> {
  const files = { '.github/workflows/winnow-measure.yml': MEASURE, ...options.files }
  const { github, yard, scene, env, forge } = await tickJob(ideas, { ...options, files })

  function open({ fault, ahead }: Wake = {}): Promise<Post> {
    const clock = ahead === undefined ? {} : { ahead: () => ahead }
    return yard.another({ env, cache: 'job', ...(fault ? { fault } : {}), ...clock, forge })
  }

  let looking: Promise<Post> | null = null
  let last: Post | null = null
  let refused: string[] = []
  const made: ActionsYard = {
    github,
    yard,
    scene,
    ada: github.token('ada'),
    post: () => (looking ??= open()),
    async wake(options = {}) {
      last = await open(options)
      const { waiting, refusals } = await tickOf(last, options)
      refused = refusals.map(({ message }) => message)
      return waiting
    },
    get said() {
      return last?.said ?? []
    },
    get refused() {
      return refused
    },
    async machines() {
      for (const run of waitingRuns(github)) await measuringJob(github, run)
    },
    async settle() {
      for (let wakes = 0; wakes < 30; wakes++) {
        const waiting = await made.wake()
        if (waiting.for !== 'orders') return waiting
        await made.machines()
      }
      throw new Error('it never came to rest')
    },
  }
  return made
}

function tickOf({ place }: Post, { run, mayAsk = false, answers, mayJudge = false, scores }: Wake) {
  const { workflows } = place.forge
  if (!workflows) throw new Error('this forge has no machines')
  const by = run === undefined ? place.by : { ...place.by, run_id: `actions:${run}` }
  return tickOnActions({ ...place, by }, workflows, {
    mayAsk,
    answers: answers ?? null,
    mayJudge,
    scores: scores ?? null,
  })
}
