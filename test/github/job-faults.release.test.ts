import { expect, test } from 'vitest'
import type { Fault } from '../servers/fault-proxy.ts'
import type { RunRecord } from './emulator/world.ts'
import {
  type Ending,
  type JobKind,
  type JobLife,
  jobLife,
  judgedLife,
  JOBS,
  liveUndisturbed,
  type Moment,
  readEnding,
} from './job-life.ts'
import type { RunningProgram } from './runner/machine.ts'
import type { JobRecord } from './runner/records.ts'

/** Campaigns at a time, each on a GitHub of its own. */
const SIDE_BY_SIDE = 2

interface Trial {
  moment: number
  kind: JobKind
  fault: string
  /** Of the requests of the job, where the fault hits one. */
  at: number
}

/** What a fault does to the first job of a kind in one run. */
interface Hooks {
  /** When a machine could take the job; true: it gets none. */
  before?: (job: JobRecord) => boolean
  /** While its main step runs. */
  during?: (job: JobRecord, program: RunningProgram) => void
  /** A request of its main step, by its number. */
  request?: (at: number, program: RunningProgram) => Fault | null
  /** When a machine could take the settling job of the run. */
  beforeSettle?: () => void
  /** When nothing moves, and the next run has not begun. */
  atRest?: () => void
}

interface FaultAtJob {
  jobs: readonly JobKind[]
  /** A fault at a request of the job is tried at several. */
  atRequests?: boolean
  hooks: (life: JobLife, run: RunRecord, trial: Trial) => Hooks
}

const ALL = JOBS
const WRITES = ['tick', 'settle'] as const
const HANDS_OVER = ['propose', 'measure', 'judge'] as const
const LIMIT = 'You have exceeded a secondary rate limit. Please wait a few minutes.'

function kill({ pid }: RunningProgram): void {
  process.kill(pid, 'SIGKILL')
}

function refusing(fault: Fault): FaultAtJob {
  return {
    jobs: WRITES,
    atRequests: true,
    hooks: (_life, _run, { at }) => ({ request: request => (request < at ? null : fault) }),
  }
}

/** How the names of artifacts begin. */
const ARTIFACTS: Partial<Record<JobKind, string>> = {
  measure: 'report-',
  propose: 'winnow-answers',
  judge: 'winnow-scores',
}

/** The artifact of the first job of a kind, as any job of the run may replace it. */
function spoiling(spoil: (life: JobLife, run: RunRecord, name: string) => void): FaultAtJob {
  return {
    jobs: HANDS_OVER,
    hooks: (life, run, { kind }) => ({
      beforeSettle() {
        const prefix = ARTIFACTS[kind] ?? ''
        const { artifacts } = life.it.github.world
        const found = artifacts.find(each => each.run === run.id && each.name.startsWith(prefix))
        if (!found) throw new Error(`run ${run.id} has no artifact ${prefix}…`)
        spoil(life, run, found.name)
      },
    }),
  }
}

const FAULTS: Readonly<Record<string, FaultAtJob>> = {
  'never gets a machine': {
    jobs: ALL,
    hooks: life => {
      let stuck: JobRecord | null = null
      return {
        before(job) {
          stuck = job
          return true
        },
        atRest: () => stuck && life.it.actions.timeOut(stuck),
      }
    },
  },
  'loses its machine before its first step': {
    jobs: ALL,
    hooks: life => ({
      before(job) {
        queueMicrotask(() => life.it.actions.loseMachine(job))
        return false
      },
    }),
  },
  'loses its machine in the middle': {
    jobs: ALL,
    hooks: life => ({ during: job => life.it.actions.loseMachine(job) }),
  },
  'loses its machine after its work': {
    jobs: ALL,
    hooks: life => ({
      during: (job, { ended }) =>
        ended.addEventListener('abort', () => life.it.actions.loseMachine(job), { once: true }),
    }),
  },
  'has its program killed': { jobs: HANDS_OVER, hooks: () => ({ during: (_, program) => kill(program) }) },
  'has its program killed before a request': {
    jobs: WRITES,
    atRequests: true,
    hooks: (_life, _run, { at }) => ({
      request(request, program) {
        if (request !== at) return null
        kill(program)
        return 'reset'
      },
    }),
  },
  'has its program killed after a request': {
    jobs: WRITES,
    atRequests: true,
    hooks: (_life, _run, { at }) => ({
      request(request, program) {
        if (request !== at) return null
        kill(program)
        return 'lost'
      },
    }),
  },
  'runs out of time': { jobs: ALL, hooks: life => ({ during: job => life.it.actions.timeOut(job) }) },
  'is cancelled with its run': {
    jobs: ALL,
    hooks: (life, run) => ({ during: () => life.it.actions.cancel(run) }),
  },
  'fails and is run again': {
    jobs: ALL,
    hooks: (life, run) => ({
      during: job => life.it.actions.loseMachine(job),
      atRest: () => life.it.actions.rerun(run, 'failed'),
    }),
  },
  'succeeds, and its whole run is run again': {
    jobs: ['tick'],
    hooks: (life, run) => ({ atRest: () => life.it.actions.rerun(run, 'all') }),
  },
  'is refused everything with 500 from a request on': refusing({ status: 500, message: 'Server Error' }),
  'is refused everything with 403 from a request on': refusing({ status: 403, message: 'Forbidden' }),
  'meets a limit that lasts from a request on': refusing({
    status: 403,
    message: LIMIT,
    headers: { 'retry-after': '600' },
  }),
  'leaves no artifact': spoiling((life, run, name) => life.it.actions.replaceArtifact(run, name, null)),
  'has its artifact twice': spoiling(({ it }, run, name) => {
    const { artifacts } = it.github.world
    const found = artifacts.find(each => each.run === run.id && each.name === name)
    if (found) artifacts.push({ ...found, id: found.id + 100_000 })
  }),
  'leaves an artifact that is too large': spoiling((life, run, name) =>
    life.it.actions.replaceArtifact(run, name, { [fileOf(name)]: ' '.repeat(40_000_000) }),
  ),
  'has its artifact forged by a sibling': spoiling((life, run, name) => {
    life.it.actions.replaceArtifact(run, name, { [fileOf(name)]: '{"winnow":1,"executions":[]}' })
  }),
}

function fileOf(artifact: string): string {
  if (artifact.startsWith('report-')) return `${artifact.slice('report-'.length)}.json`
  return artifact.startsWith('winnow-scores') ? 'scores.json' : 'answers.json'
}

/** Where in a job a fault at a request is tried; how many requests it sends in all differs a little. */
const LAST_PART = 0.85
const PARTS = [0, 0.3, 0.6, LAST_PART]

function everyTrial(moments: readonly Moment[]): Trial[] {
  return moments.flatMap(({ jobs }, moment) =>
    jobs.flatMap(({ kind, requests }) =>
      Object.entries(FAULTS).flatMap(([fault, { jobs: kinds, atRequests }]) => {
        if (!kinds.includes(kind)) return []
        const points = atRequests === true ? PARTS.map(part => Math.floor(part * requests)) : [0]
        return [...new Set(points)].map(at => ({ moment, kind, fault, at }))
      }),
    ),
  )
}

/** Faults at the last job of a run are found by the next event, or by the schedule (docs/github.md). */
const FOUND_BY_SCHEDULE: readonly JobKind[] = ['settle']

/**
 * Drives one run whose first job of a kind goes wrong until nothing moves by itself. Says so if nothing went wrong: a
 * text, or the number of requests where the job sent too few.
 */
async function driveFaultyRun(life: JobLife, run: RunRecord, trial: Trial): Promise<string | number | null> {
  const { it, proxy } = life
  const { actions } = it
  const hooks = FAULTS[trial.fault]?.hooks(life, run, trial) ?? {}
  const settled = new Set<JobRecord>()
  let hit: JobRecord | null = null
  let holdsNext = true
  let requests = 0
  actions.withhold(job => {
    if (job.run !== run.id) return holdsNext && job.run > run.id
    if (job.id === 'settle' && !settled.has(job)) {
      settled.add(job)
      hooks.beforeSettle?.()
    }
    if (job.attempt === 1 && job.id === trial.kind) hit ??= job
    return holdsNext && job === hit && hooks.before?.(job) === true
  })
  life.during = (job, step, program) => {
    if (job !== hit || step !== job.id) return
    proxy.fault = () => hooks.request?.(requests++, program) ?? null
    program.ended.addEventListener('abort', () => (proxy.fault = () => null), { once: true })
    hooks.during?.(job, program)
  }
  it.github.world.runner?.start(run)
  await actions.rest()
  hooks.atRest?.()
  await actions.rest()
  holdsNext = false
  life.during = null
  await actions.rest()
  if (hit === null) return 'the run has no such job'
  return hooks.request && requests <= trial.at ? requests : null
}

/** What is wrong after one run in which one job went wrong: nothing, as if it had not happened. */
async function wrongAfter(life: JobLife, trial: Trial, { moments, expected }: Undisturbed): Promise<unknown> {
  const moment = moments[trial.moment]
  if (!moment) throw new Error(`there is no run ${trial.moment}`)
  const isAsExpected = (ending: Ending) => JSON.stringify(ending) === JSON.stringify(expected)
  const missed = await driveFaultyRun(life, await life.restore(moment.saved), trial)
  // How many requests a job sends differs a little, as its answers differ in time.
  if (typeof missed === 'number' && missed > 0)
    return wrongAfter(life, { ...trial, at: Math.floor(LAST_PART * missed) }, { moments, expected })
  if (missed !== null) return missed
  const byItself = await readEnding(life)
  if (isAsExpected(byItself)) return null
  if (!FOUND_BY_SCHEDULE.includes(trial.kind)) return { byItself, jobs: jobsOf(life) }
  await life.it.actions.fireSchedule()
  await life.it.actions.rest()
  const found = await readEnding(life)
  return isAsExpected(found) ? null : { found, jobs: jobsOf(life) }
}

function jobsOf({ it }: JobLife): string[] {
  const { runs } = it.github.world
  return it.actions.jobs
    .filter(({ conclusion }) => conclusion !== 'skipped')
    .map(({ run, attempt, name, conclusion, log }) => {
      const title = runs.find(({ id }) => id === run)?.title ?? ''
      return `${title}/${attempt}: ${name}: ${conclusion}\n${log.join('\n').slice(-1_500)}`
    })
}

interface Undisturbed {
  moments: Moment[]
  expected: Ending
}

/** Tries each of them on one of the lives; says what was wrong afterwards. */
async function tryAll(
  lives: readonly JobLife[],
  trials: readonly Trial[],
  undisturbed: Undisturbed,
): Promise<object[]> {
  const waiting = [...trials]
  const wrong: object[] = []
  async function live(life: JobLife): Promise<void> {
    for (let trial = waiting.pop(); trial; trial = waiting.pop()) {
      const found = await wrongAfter(life, trial, undisturbed).catch((error: unknown) => String(error))
      if (found !== null) wrong.push({ during: undisturbed.moments[trial.moment]?.title, ...trial, found })
    }
  }
  await Promise.all(lives.map(live))
  return wrong
}

/** A run that was started to ask programs, and every first job from then on is lost: the titles of all runs from it on. */
async function runsWhileTicksAreLost(life: JobLife, { moments }: Undisturbed): Promise<string[]> {
  const { it } = life
  const asking = moments.find(({ title }) => title === 'size: look for work')
  if (!asking) throw new Error('no run asks programs')
  const run = await life.restore(asking.saved)
  life.during = job => {
    if (job.id === 'tick') it.actions.loseMachine(job)
  }
  it.github.world.runner?.start(run)
  await it.actions.rest()
  life.during = null
  return it.github.world.runs.filter(({ id }) => id >= run.id).map(({ title }) => title)
}

test('a job that goes wrong in any way leaves nothing that the workflow file does not mend by itself', {
  timeout: 6 * 3_600_000,
}, async () => {
  const lives = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => jobLife()))
  const [first] = lives
  if (!first) throw new Error('no life')
  const moments = await liveUndisturbed(first)
  const undisturbed = { moments, expected: await readEnding(first) }
  expect(undisturbed.expected).toMatchObject({ status: 'stopped', merged: 2, opened: 3 })
  expect(await tryAll(lives, everyTrial(moments), undisturbed)).toEqual([])

  // The brake: what is lost before it asked anything is not in the ledger. test/github/fruitless-runs.long.test.ts shows another.
  expect(await runsWhileTicksAreLost(first, undisturbed)).toEqual([
    'size: look for work',
    'size: look for work again',
  ])
  await first.it.actions.fireSchedule()
  await first.it.actions.rest()
  expect(await readEnding(first)).toEqual(undisturbed.expected)
})

test('a job that asks models goes wrong in any way, and its items are scored all the same', {
  timeout: 3 * 3_600_000,
}, async () => {
  const life = await judgedLife()
  const moments = await liveUndisturbed(life)
  const undisturbed = { moments, expected: await readEnding(life) }
  expect(undisturbed.expected).toMatchObject({ status: 'stopped', merged: 1, opened: 2 })
  const trials = everyTrial(moments).filter(({ kind }) => kind === 'judge')
  expect(await tryAll([life], trials, undisturbed)).toEqual([])
})
