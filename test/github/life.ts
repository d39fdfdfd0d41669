import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EndedJob } from '../../src/engine/jobs/github-runs.ts'
import { letters, SIZE_FILES, SIZE_SPEC, shorter } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'
import { ENV } from '../support/campaign-client.ts'
import { type FaultProxy, faultProxy } from '../servers/fault-proxy.ts'
import { type EmulatedGithub, emulatedGithub } from './emulator/github.ts'
import { bareGit } from './emulator/bare-git.ts'
import { commitDateAt, type RunRecord, type World } from './emulator/world.ts'
import { type JobMachine, measuringJob, type RunJobs, waitingRuns, wholeRun } from './measuring-job.ts'
import { type Scene, sceneOf } from './scene.ts'
import { GRANTS, WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'
import { type Woken, woken, wokenJobs, type Waking } from './job-in-process.ts'

/** When it takes place. */
export interface LifeTime {
  now: () => number
  /** What each measuring job runs on; this machine unless given. */
  machine?: () => JobMachine
}

/** Time stands still while it takes place, so that two lives differ only in what went wrong. */
const NOW = Date.now()

/** One campaign on GitHub from its first wake-up to its end, and everything that people do meanwhile. */
export interface Life {
  github: EmulatedGithub
  scene: Scene
  proxy: FaultProxy
  /** What happens between jobs, in order; the job that it answers with follows on each. */
  deeds: readonly Deed[]
  wake: (rest?: Partial<Waking>) => Promise<Woken>
  save: () => Saved
  restore: (saved: Saved) => Promise<void>
  end: () => Promise<void>
}

export interface Deed {
  name: string
  /** A tick on the default branch, of a run, or its settling job. */
  does: () => Promise<WokenJob>
}
type WokenJob = Pick<Waking, 'run' | 'ended'>

/** A moment of everything that GitHub holds; another life can go on from it. */
export interface Saved {
  dir: string
  world: Omit<World, keyof typeof NOT_SAVED>
}

/** Of each life its own. */
const NOT_SAVED = { git: null, forks: null, url: null }

export async function life(time: LifeTime = { now: () => NOW }): Promise<Life> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-life-'))
  const github = await emulatedGithub({ allowance: Number.MAX_SAFE_INTEGER })
  const proxy = await faultProxy(github.url)
  const { world } = github
  world.url = proxy.url
  // Comments count from the beginning of the campaign on.
  world.clock = time.now() + 1_000
  if (time.machine !== undefined) world.commitDate = commitDateAt(time.now())
  const scene = sceneOf(github)
  const broken = patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'breaks the tests' })
  scene.commit('main', {
    ...SIZE_FILES,
    '.winnow/size.yaml': `${SIZE_SPEC}execution: { max_concurrent: 4 }\nmerge: { unisolated: allow, forgeable: allow }\n`,
    [WORKFLOW_FILE]: WORKFLOW,
    'ideas/01.patch': shorter('a', 3),
    'ideas/02.patch': broken,
    'ideas/03.patch': shorter('b', 14),
  })
  const token = github.jobToken(GRANTS)
  const tokens = { ada: github.token('ada'), eve: github.token('eve', { permission: 'read' }) }
  const fork = github.fork('eve')
  const repositories = { bare: github.bare, fork }
  let saves = 0
  let matrix: string[] = []
  const waking: Waking = {
    github,
    token,
    url: proxy.url,
    around: {
      clock: { now: time.now, monotonic: () => performance.now(), sleep: async () => {} },
      random: { hex: bytes => '5eed'.repeat(bytes).slice(0, bytes * 2), fraction: () => 0.5 },
    },
  }
  return {
    github,
    scene,
    proxy,
    deeds: deedsOf({
      github,
      scene,
      tokens,
      fork,
      matrix: () => matrix,
      jobs: { ...wokenJobs(waking), ...(time.machine === undefined ? {} : { machine: time.machine }) },
    }),
    async wake(rest) {
      const done = await woken({ ...waking, ...rest, around: { ...waking.around, ...rest?.around } })
      if (rest?.run !== undefined && rest.ended === undefined) matrix = ordersIn(done)
      return done
    },
    save() {
      const dir = join(root, String(saves++))
      mkdirSync(dir)
      for (const [name, from] of Object.entries(repositories))
        execFileSync('cp', ['-a', from, join(dir, name)])
      return { dir, world: structuredClone({ ...world, ...NOT_SAVED }) }
    },
    async restore(saved) {
      // A push whose job was killed may still be under way.
      await github.settle()
      for (const [name, to] of Object.entries(repositories)) {
        rmSync(to, { recursive: true })
        execFileSync('cp', ['-a', join(saved.dir, name), to])
      }
      // Without what it remembers of the repository that is gone.
      const git = bareGit(github.bare)
      const { forks, url } = world
      Object.assign(world, structuredClone(saved.world), { git, forks, url })
    },
    async end() {
      await proxy.stop()
      await github.stop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

function ordersIn({ outputs }: Woken): string[] {
  const orders: { order: string }[] = JSON.parse(outputs['orders'] || '[]')
  return orders.map(({ order }) => order)
}

interface People {
  github: EmulatedGithub
  scene: Scene
  tokens: { ada: string; eve: string }
  fork: string
  jobs: RunJobs
  /** Orders that the last tick of a run put out. */
  matrix: () => string[]
}

function deedsOf({ github, scene, tokens, fork, jobs, matrix }: People): Deed[] {
  const { world } = github
  const asks = async (token: string, route: string, body: unknown) => {
    const { status, body: answer } = await scene.ask(token, route, body)
    if (status >= 300) throw new Error(`${route}: ${status} ${JSON.stringify(answer)}`)
  }
  const numbered = (title: string) => {
    const found = world.pulls.find(pull => pull.title === title)
    if (!found) throw new Error(`no pull request is called ${title}`)
    return found.number
  }
  async function machines() {
    for (const run of waitingRuns(github)) await wholeRun(github, run, jobs)
    return {}
  }
  let current: RunRecord | null = null
  async function begins() {
    if (current !== null) github.finish(current, 'success')
    current = waitingRuns(github)[0] ?? null
    if (current === null) throw new Error('no run was started')
    current.status = 'in_progress'
    return { run: current }
  }
  async function ends() {
    if (current === null) throw new Error('no run has begun')
    const measured = new Map<string, EndedJob>()
    for (const order of matrix())
      measured.set(order, await measuringJob(github, current, order, jobs.machine?.()))
    return { run: current, ended: { measured, proposed: null, judged: null } }
  }
  return [
    { name: 'the first tick', does: async () => ({}) },
    { name: 'its run begins', does: begins },
    {
      name: 'the base is measured, and people have ideas',
      async does() {
        scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
        await asks(tokens.ada, 'POST /pulls', { title: 'mine', head: 'small', base: 'optimize/size' })
        const theirs = scene.commit('spare', { 'src/c.txt': letters('c', 4) }, [scene.tip('main')])
        scene.git('push', '-q', fork, `${theirs}:refs/heads/faster`)
        scene.git('update-ref', '-d', 'refs/heads/spare')
        const offer = { title: 'theirs', head: 'eve:faster', base: 'optimize/size' }
        await asks(tokens.eve, 'POST /pulls', offer)
        return ends()
      },
    },
    {
      name: 'one is allowed, and one is closed by hand while it is measured',
      async does() {
        const theirs = world.pulls.find(({ title }) => title === 'theirs')
        const body = `/winnow measure ${theirs?.head}`
        await asks(tokens.ada, `POST /issues/${theirs?.number}/comments`, { body })
        await asks(tokens.ada, `PATCH /pulls/${numbered('b14')}`, { state: 'closed' })
        return {}
      },
    },
    { name: 'the next run begins', does: begins },
    { name: 'it is measured', does: ends },
    {
      name: 'the others are measured',
      async does() {
        if (current !== null) github.finish(current, 'success')
        current = null
        return machines()
      },
    },
    { name: 'the rest is measured', does: machines },
    {
      name: 'somebody takes it all',
      async does() {
        const own = world.pulls.find(({ base }) => base === 'main')
        Object.assign(own ?? {}, { draft: false })
        await asks(tokens.ada, `PUT /pulls/${own?.number}/merge`, {})
        return {}
      },
    },
  ]
}

/** What is there for everybody to see, in lines, whatever way it came about. */
export function whatIsThere({ github, scene }: Life): string[] {
  const { pulls, comments, checks } = github.world
  // By title: whichever is opened first has the lower number.
  const titles = new Map(pulls.map(({ number, title }) => [number, title]))
  const there = {
    events: eventsOf(github),
    branches: branchesOf(scene),
    pulls: pulls.map(({ title, body, state, draft, branch, base, fork, author, merge }) => ({
      title,
      body,
      state,
      draft,
      branch,
      base,
      fork,
      author: author.login,
      merged: merge !== null,
    })),
    comments: comments.map(({ number, author, body, reactions }) => ({
      on: titles.get(number),
      author: author.login,
      body: body.replace(/^measure: .*/, 'measure: an answer'),
      reactions: reactions.map(({ by, content }) => `${by} ${content}`),
    })),
    checks: latestChecks(checks),
    // Another may have been started where an answer was lost: it has no orders.
    runs: runsWithOrders(github).map(({ title, status, conclusion }) => ({
      title: title.split(/,? /).toSorted().join(' '),
      status,
      conclusion,
    })),
  }
  // Lives that go on from one moment have servers of their own.
  return Object.entries(there).flatMap(([name, all]) =>
    all.map(each => `${name}: ${JSON.stringify(each).replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'GitHub')}`),
  )
}

/**
 * What GitHub shows of an experiment's head: the latest, and what is not completed. There may be another where an
 * answer was lost with the process that waited for it, and an earlier one that was completed may have been changed.
 */
function latestChecks(checks: World['checks']): string[] {
  const latest = new Map(checks.map(check => [`${check.externalId} ${check.head}`, check]))
  const shown = checks.filter(check => check.status !== 'completed' || [...latest.values()].includes(check))
  const lines = shown.map(({ name, externalId, status, conclusion, output }) =>
    JSON.stringify({ name, externalId, status, conclusion, title: output['title'] }),
  )
  return [...new Set(lines)].toSorted()
}

const OF_THE_CHAIN = new Set(['seq', 'id', 'prev', 'at', 'by'])

/** Without what tells only when each was written, and what number its run has; their order may differ as well. */
function eventsOf(github: EmulatedGithub): string[] {
  const told = rawEvents(github).map(event =>
    JSON.stringify(Object.entries(event).filter(([key]) => !OF_THE_CHAIN.has(key))),
  )
  return told.map(line => line.replaceAll(/actions:\d+/g, 'actions:some')).toSorted()
}

function rawEvents({ bare }: EmulatedGithub): Record<string, unknown>[] {
  const git = (input: string, ...args: string[]) =>
    execFileSync('git', ['-C', bare, ...args], { input, env: ENV, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const tip = git('', 'for-each-ref', '--format=%(objectname)', 'refs/heads/optimize-state/size').trim()
  if (tip === '') return []
  const names = git('', 'ls-tree', '-r', '--format=%(objectname)', tip, '--', 'events')
  const lines = git(names, 'cat-file', '--batch=').split('\n')
  return lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
}

/** Runs that the ledger gave an order to. */
function runsWithOrders(github: EmulatedGithub): RunRecord[] {
  const named = new Set(rawEvents(github).map(event => event['run_id']))
  return github.world.runs.filter(({ id }) => named.has(`actions:${id}/1`))
}

/** Every branch with what it holds; the ledger's is its events, and the keeper's holds no files. */
function branchesOf(scene: Scene): string[] {
  const listed = scene.git('for-each-ref', '--format=%(refname) %(tree)', 'refs/heads')
  return listed.split('\n').filter(line => !line.startsWith('refs/heads/optimize-state/'))
}

/** One wake-up of an undisturbed life: what was there before it, what it asked for, and what was there after. */
export interface Moment {
  name: string
  /** The job that it is. */
  job: WokenJob
  before: Saved
  untouched: string
  /** Method and path of every request, in order. */
  requests: string[]
  /** Every point at which a process can be cut off, in order. */
  points: string[]
  after: string[]
  tips: string
}

/** A life, or the first wake-ups of it, with nothing going wrong. */
export async function undisturbed(here: Life, most = here.deeds.length): Promise<Moment[]> {
  const moments: Moment[] = []
  for (const { name, does } of here.deeds.slice(0, most)) {
    const job = await does()
    const before = here.save()
    const untouched = exactly(here)
    const requests: string[] = []
    const points: string[] = []
    here.proxy.fault = (method, path) => {
      requests.push(`${method} ${path}`)
      return null
    }
    const { code, out } = await here.wake({
      ...job,
      around: { faults: { reach: point => void points.push(point) } },
    })
    here.proxy.fault = () => null
    if (code !== 0) throw new Error(`${name}: ${out}`)
    moments.push({
      name,
      job,
      before,
      untouched,
      requests,
      points,
      after: whatIsThere(here),
      tips: tipsOf(here.scene),
    })
  }
  return moments
}

export function tipsOf(scene: Scene): string {
  return scene.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads')
}

/** Whether anything at all has happened to it. */
export function exactly({ github, scene }: Life): string {
  const { pulls, comments, reviews, checks, runs, artifacts } = github.world
  const left = artifacts.map(({ id, run, name, expired }) => ({ id, run, name, expired }))
  return JSON.stringify([tipsOf(scene), pulls, comments, reviews, checks, runs, left])
}
