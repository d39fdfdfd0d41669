import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { getArtifactName } from '../../src/model/job-file.ts'
import { RIGHTS } from '../../src/init/workflows/setup.ts'
import { SIZE_FILES, SIZE_SPEC, shorter } from '../support/size-repository.ts'
import { type EmulatedGithub, emulatedGithub } from '../github/emulator/github.ts'
import type { Account, RunRecord } from '../github/emulator/world.ts'
import { uploadFile } from '../github/measuring-job.ts'
import { sceneOf } from '../github/scene.ts'
import { WORKFLOW, WORKFLOW_FILE } from '../github/tick-job.ts'
import { jobClone } from './a-job.ts'
import { woken } from '../github/job-in-process.ts'
import { type Ended, inputVariables, type Step, step } from './a-runner.ts'
import { ordersIn } from './runner-rules.ts'

type Grants = NonNullable<Account['grants']>

/** What the workflows give the job of tick, and nothing more. */
export function tickGrants(): Grants {
  const given = Object.entries(RIGHTS.tick.permissions)
  return Object.fromEntries(given.map(([name, [level]]) => [name.replaceAll('-', '_'), level]))
}

/** A repository with a spec, an idea and the workflow that measures; nothing ran yet. */
export async function onGithub(files: Record<string, string> = {}, grants: Grants = tickGrants()) {
  const github = await emulatedGithub()
  onTestFinished(() => github.stop())
  // Comments count from the beginning of the campaign on.
  github.world.clock = Date.now() + 3_600_000
  const scene = sceneOf(github)
  scene.commit('main', {
    ...SIZE_FILES,
    '.winnow/size.yaml': SIZE_SPEC,
    [WORKFLOW_FILE]: WORKFLOW,
    'ideas/01.patch': shorter('a', 3),
    ...files,
  })
  return { github, scene, token: github.jobToken(grants) }
}

/** A job of winnow.yml: its clone, and the real bundle started as a runner starts it. */
export async function job(
  github: EmulatedGithub,
  branch: string,
  given: Omit<Step, 'workspace'>,
): Promise<Ended> {
  const { dir, git } = jobClone(github.bare, branch)
  // Where GitHub says that it is, which something may stand before.
  const { url } = github.world
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const env = {
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_ACTOR: 'ada',
    ...given.env,
  }
  const ended = await step({ ...given, workspace: dir, env })
  expect(git('config', '--list')).not.toContain('xtraheader')
  return ended
}

export function ticking(
  github: EmulatedGithub,
  token: string,
  env: Record<string, string> = {},
  inputs: Record<string, string> = {},
): Promise<Ended> {
  const given = { command: 'tick', 'github-token': token, 'next-jobs': 'measure', ...inputs }
  return job(github, 'main', { inputs: given, env })
}

/** What a job says of itself and leaves for others, wherever it runs. */
type Told = Pick<Ended, 'code' | 'stdout' | 'stderr' | 'outputs' | 'result' | 'orders'>

/** How the jobs that write to GitHub run. */
export interface WritingJobs {
  ticking: (...given: Parameters<typeof ticking>) => Promise<Told>
  settling: (...given: Parameters<typeof settling>) => Promise<Told>
}

/** As the bundle that a runner starts, which takes about a second of the machine each time. */
export const BUNDLED: WritingJobs = { ticking, settling }

/** With the code of the action itself, for tests whose subject is another job. */
export const IN_PROCESS: WritingJobs = {
  ticking: (github, token, env = {}, inputs = {}) =>
    runInProcess(github, token, { ...inputVariables(inputs), ...env }),
  settling: (github, token, { needs, env = {} }) =>
    runInProcess(github, token, {
      ...inputVariables({ command: 'settle', jobs: JSON.stringify(needs) }),
      ...env,
    }),
}

async function runInProcess(
  github: EmulatedGithub,
  token: string,
  env: Record<string, string>,
): Promise<Told> {
  const { code, out, outputs } = await woken({ github, token, env })
  const answer = outputs['result-json'] ?? ''
  const result: unknown = answer === '' ? null : JSON.parse(answer)
  return { code, stdout: out, stderr: '', outputs, result, orders: ordersIn(out) }
}

type Needs = Record<string, { result: string; outputs: Record<string, string> }>

/** What the job of tick came to, as `needs` of the settling job has it. */
function tickNeeds({ outputs }: Pick<Ended, 'outputs'>): Needs {
  const { campaign = '', orders = '', propose = '', judge = '' } = outputs
  return { tick: { result: 'success', outputs: { campaign, orders, propose, judge } } }
}

export function settling(
  github: EmulatedGithub,
  token: string,
  { needs, env = {} }: { needs: Needs; env?: Record<string, string> },
): Promise<Ended> {
  const inputs = { command: 'settle', 'github-token': token, jobs: JSON.stringify(needs) }
  return job(github, 'main', { inputs, env })
}

interface Left {
  run: number
  env?: Record<string, string>
  job: 'propose' | 'judge'
  /** The file that it left; empty where it left none. */
  file: string
}

/** The settling job of a run in which one of these jobs was asked for something. */
export function settlingAfter(
  github: EmulatedGithub,
  token: string,
  { run, env = {}, job: name, file }: Left,
  jobs: Pick<WritingJobs, 'settling'> = BUNDLED,
): Promise<Told> {
  const artifact = getArtifactName(name === 'propose' ? 'answers' : 'scores')
  const digest = file === '' ? '' : uploadAgain(github, run, { name: artifact, file })
  const result = digest === '' ? 'failure' : 'success'
  const needs = { ...tickNeeds({ outputs: { [name]: 'size' } }), [name]: { result, outputs: { digest } } }
  return jobs.settling(github, token, { needs, env: { GITHUB_RUN_ID: String(run), ...env } })
}

/** In place of what the run has under that name. */
function uploadAgain(
  github: EmulatedGithub,
  id: number,
  { name, file }: { name: string; file: string },
): string {
  const { world } = github
  const made = { path: WORKFLOW_FILE, name: 'winnow', title: '', event: 'schedule', branch: 'main', head: '' }
  const started = { status: 'in_progress', conclusion: null, createdAt: '2026-01-01T00:00:00Z', actor: 'ada' }
  const run = world.runs.find(each => each.id === id) ?? { id, ...made, ...started }
  if (!world.runs.includes(run)) world.runs.push(run)
  world.artifacts = world.artifacts.filter(each => each.run !== id || each.name !== name)
  return uploadFile(github, run, { name, file: basename(file), text: readFileSync(file, 'utf8') })
}

/** A whole run that was started: its tick, a measuring job for each order, and its settling job. */
export async function throughRun(
  github: EmulatedGithub,
  token: string,
  run: RunRecord,
  more: Record<string, string> = {},
): Promise<Ended> {
  const { tick, needs, env } = await measuredRun(github, token, run, more)
  const last = tick.outputs['orders'] === '' ? tick : await settling(github, token, { needs, env })
  github.finish(run, 'success')
  return last
}

/** The same until its settling job, and what that is told. */
export async function measuredRun(
  github: EmulatedGithub,
  token: string,
  run: RunRecord,
  more: Record<string, string> = {},
): Promise<{ tick: Ended; needs: Needs; env: Record<string, string> }> {
  run.status = 'in_progress'
  const env = {
    GITHUB_RUN_ID: String(run.id),
    GITHUB_REF: `refs/heads/${run.branch}`,
    GITHUB_EVENT_NAME: 'workflow_dispatch',
    ...more,
  }
  const tick = await ticking(github, token, env)
  const { orders = '', campaign = '' } = tick.outputs
  const entries: { slot: number; order: string }[] = orders === '' ? [] : JSON.parse(orders)
  const outputs: Record<string, string> = {}
  for (const { slot, order } of entries) {
    const inputs = { command: 'measure', campaign, order }
    const { outputs: left } = await job(github, 'main', { inputs, env })
    const file = left['report'] ?? ''
    const text = readFileSync(file, 'utf8')
    const digest = uploadFile(github, run, { name: left['artifact'] ?? '', file: basename(file), text })
    outputs[`slot-${slot}`] = `success ${digest}`
  }
  return { tick, needs: { ...tickNeeds(tick), measure: { result: 'success', outputs } }, env }
}
