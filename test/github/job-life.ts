import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { answers, idea, ITEMS_HARNESS, JUDGED_SPEC, scoresByWord } from '../support/judged-repository.ts'
import { letters, SIZE_FILES, SIZE_SPEC, shorter } from '../support/size-repository.ts'
import { patchOf, proven } from '../support/repository.ts'
import { type FaultProxy, faultProxy } from '../servers/fault-proxy.ts'
import { modelServer } from '../servers/model-server.ts'
import { bareGit } from './emulator/bare-git.ts'
import type { RunRecord, World } from './emulator/world.ts'
import { type RunningCampaign, startCampaign } from './runner/campaign.ts'
import type { During } from './runner/machine.ts'
import type { JobRecord } from './runner/records.ts'

/** Has one idea, and fails where that has been tried. */
const THINK = `
test "$(wc -c < src/c.txt)" = 16 || { echo 'no other idea'; exit 1; }
echo cc > src/c.txt
echo '{"hypothesis": "two letters c do"}'
`
const PROPOSERS = '[{ use: patch, dir: ideas }, { use: command, command: sh tools/think.sh, name: thinker }]'
const SPEC = `${SIZE_SPEC.replace(/propose: .*/, `propose: ${PROPOSERS}`)}execution: { max_concurrent: 2 }
merge: { unisolated: allow, forgeable: allow }
stopping: { max_iterations: 3 }
`
const FILES = {
  ...SIZE_FILES,
  'tools/think.sh': THINK,
  'ideas/01.patch': shorter('a', 3, 'three letters a do'),
  'ideas/02.patch': patchOf(
    { 'src/b.txt': [letters('b', 15), 'broken\n'] },
    { hypothesis: 'breaks the tests' },
  ),
}

/** The step of each job that runs the action. */
export const JOBS = ['tick', 'propose', 'measure', 'judge', 'settle'] as const
export type JobKind = (typeof JOBS)[number]

interface LifeCampaign {
  spec: string
  files: Record<string, string>
  variables?: Record<string, string>
  secrets?: Record<string, string>
}

/** A campaign of two ideas whose items a model scores, in a job of its own. */
export async function judgedLife(): Promise<JobLife> {
  const { url } = await modelServer(scoresByWord)
  return jobLife({
    spec: `${JUDGED_SPEC}merge: { unisolated: allow, forgeable: allow }\n`,
    files: {
      ...SIZE_FILES,
      'bench/items.awk': ITEMS_HARNESS,
      'src/answers.txt': answers('poor'),
      'ideas/01.patch': idea('better answers', answers('good')),
      'ideas/02.patch': idea('worse answers', answers('bad')),
    },
    variables: { WINNOW_MODEL_URL: url, WINNOW_MODEL_PRICE: '1/5' },
    secrets: { WINNOW_MODEL_KEY: 'a-model-key' },
  })
}

/** A campaign of three ideas that the workflow file alone drives from its first run to its end. */
export interface JobLife {
  it: RunningCampaign
  proxy: FaultProxy
  /** Called while a step of a job runs. */
  during: During | null
  save(): Saved
  /** Goes on from a moment at which one run waits for its first machine. */
  restore(saved: Saved): Promise<RunRecord>
}

/** Everything that GitHub holds while one run waits for its first machine. */
export interface Saved {
  run: number
  dir: string
  world: Omit<World, keyof typeof NOT_SAVED>
}

/** Of each life its own. */
const NOT_SAVED = { git: null, forks: null, url: null, runner: null }

export async function jobLife(campaign: LifeCampaign = { spec: SPEC, files: FILES }): Promise<JobLife> {
  const { spec, files, variables = {}, secrets = {} } = campaign
  const it = await startCampaign({
    name: 'size',
    spec,
    files,
    options: { secrets, during: (...given) => made.during?.(...given) },
  })
  const { github } = it
  const { world } = github
  for (const [name, value] of Object.entries(variables)) world.variables.set(name, value)
  const proxy = await faultProxy(github.url)
  world.url = proxy.url
  const root = mkdtempSync(join(tmpdir(), 'winnow-job-life-'))
  onTestFinished(async () => {
    await proxy.stop()
    rmSync(root, { recursive: true, force: true })
  })
  let saves = 0
  const made: JobLife = {
    it,
    proxy,
    during: null,
    save() {
      const waiting = world.runs.filter(({ status }) => status !== 'completed')
      const [run] = waiting
      if (!run || waiting.length > 1) throw new Error(`${waiting.length} runs wait`)
      const dir = join(root, String(saves++))
      mkdirSync(dir)
      execFileSync('cp', ['-a', github.bare, join(dir, 'bare')])
      return { run: run.id, dir, world: structuredClone({ ...world, ...NOT_SAVED }) }
    },
    async restore(saved) {
      await github.settle()
      rmSync(github.bare, { recursive: true })
      execFileSync('cp', ['-a', join(saved.dir, 'bare'), github.bare])
      // Without what it remembers of the repository that is gone.
      const git = bareGit(github.bare)
      const { forks, url } = world
      Object.assign(world, structuredClone(saved.world), { git, forks, url })
      it.renewMachines()
      const run = world.runs.find(({ id }) => id === saved.run)
      if (!run) throw new Error(`no run ${saved.run}`)
      Object.assign(run, { status: 'queued', conclusion: null })
      return run
    },
  }
  return made
}

/** One run of a life in which nothing goes wrong. */
export interface Moment {
  saved: Saved
  title: string
  /** Jobs that had a machine, and how many requests their winnow sent. */
  jobs: { kind: JobKind; requests: number }[]
}

/** Runs the life from its first run to its end, with nothing going wrong. */
export async function liveUndisturbed(life: JobLife): Promise<Moment[]> {
  const { it, proxy } = life
  const { actions, github } = it
  const moments: Moment[] = []
  const counts = new Map<JobRecord, number>()
  let current: JobRecord | null = null
  proxy.fault = () => {
    if (current) counts.set(current, (counts.get(current) ?? 0) + 1)
    return null
  }
  life.during = (job, step) => {
    if (step === job.id) current = job
  }
  let allowed = 0
  actions.withhold(({ run }) => run > allowed)
  await it.asks('ada', 'POST /actions/workflows/winnow.yml/dispatches', { ref: 'main' })
  for (;;) {
    await actions.rest()
    const next = github.world.runs.find(({ status }) => status !== 'completed')
    if (!next) break
    const saved = life.save()
    allowed = next.id
    await actions.rest()
    const jobs = actions.jobsOf(next).filter(({ took }) => took !== null)
    const kinds = JOBS.flatMap(kind => {
      const first = jobs.find(({ id }) => id === kind)
      return first === undefined ? [] : [{ kind, requests: counts.get(first) ?? 0 }]
    })
    moments.push({ saved, title: next.title, jobs: kinds })
  }
  proxy.fault = () => null
  life.during = null
  return moments
}

/** What a campaign came to, whatever way it took. */
export interface Ending {
  status: string
  outcomes: Record<string, string | null>
  tree: string
  /** How often each idea landed, and how often one was opened. */
  merged: number
  opened: number
  pulls: string[]
}

export async function readEnding({ it }: JobLife): Promise<Ending> {
  const client = await it.openClient()
  const { status } = await client.campaign()
  const kinds = await client.kinds()
  const entries = Object.entries(await client.outcomes())
  await proven(client.place)
  expect(it.github.api.violations).toEqual([])
  return {
    status,
    outcomes: Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    tree: it.git('rev-parse', 'refs/heads/optimize/size^{tree}'),
    merged: kinds.filter(kind => kind === 'merged').length,
    opened: kinds.filter(kind => kind === 'experiment-opened').length,
    pulls: it.github.world.pulls.map(({ title, base, state }) => `${title} ${base} ${state}`).toSorted(),
  }
}
