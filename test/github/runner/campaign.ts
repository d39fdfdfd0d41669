import { onTestFinished } from 'vitest'
import { detectProject } from '../../../src/init/detect.ts'
import { renderGithubFiles } from '../../../src/init/workflows/files.ts'
import { buildToolchain } from '../../../src/init/workflows/setup-actions.ts'
import { createProjectFiles } from '../../../src/init/project.ts'
import { parseSpec } from '../../../src/spec/load.ts'
import { jobClone } from '../../action/a-job.ts'
import { winnowAction } from '../../action/a-runner.ts'
import { openCampaignClient, type CampaignClient } from '../../support/campaign-client.ts'
import { scratch } from '../../git/scratch.ts'
import { type EmulatedGithub, emulatedGithub } from '../emulator/github.ts'
import type { PullRecord, Settings } from '../emulator/world.ts'
import { type Scene, sceneOf } from '../scene.ts'
import { type Actions, startActions } from './actions.ts'
import type { SchedulerOptions } from './scheduler.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const COMMIT = 'ab12'.repeat(10)
export const ACTION = `team/winnow@${COMMIT}`

/** Who may write; everybody else may read. */
const WRITERS = ['ada', 'mia']

/** A repository on the emulated GitHub with what `winnow init --github` writes, and machines that run it. */
export interface RunningCampaign extends Scene {
  github: EmulatedGithub
  readonly actions: Actions
  /** Machines that know of no run yet, where the repository was put back to an earlier moment. */
  renewMachines(): Actions
  /** What a person asks of GitHub; it has to be taken. */
  asks(login: string, route: string, body?: unknown): Promise<Record<string, unknown>>
  /** A branch with these files on main, and its pull request. */
  offers(title: string, files: Record<string, string>, by?: string): Promise<PullRecord>
  /** The same from a fork. */
  offersFromFork(login: string, title: string, files: Record<string, string>): Promise<PullRecord>
  pull(title: string): PullRecord
  /** Until nothing moves by itself; a run that failed is an error. */
  rest(): Promise<void>
  /** The campaign as anybody with a clone reads it. */
  openClient(): Promise<CampaignClient>
}

interface CampaignFiles {
  name: string
  spec: string
  files: Record<string, string>
  options?: Partial<SchedulerOptions>
  settings?: Partial<Settings>
  /** As `winnow init --github --attest` writes the workflow. */
  attest?: boolean
}

export async function startCampaign({
  name,
  spec,
  files,
  options = {},
  settings = {},
  attest = false,
}: CampaignFiles): Promise<RunningCampaign> {
  const github = await emulatedGithub({ allowance: Number.MAX_SAFE_INTEGER, ...settings })
  onTestFinished(() => github.stop())
  const { world } = github
  // Comments count from the beginning of the campaign on.
  world.clock = Date.now() + 3_600_000
  const scene = sceneOf(github)
  const tokens = new Map(WRITERS.map(login => [login, github.token(login)]))
  const start = (inputs: Record<string, string>) => winnowAction(inputs['command'] ?? '')
  const published = { 'team/winnow': { dir: ROOT, refs: [COMMIT], start } }
  scene.commit('main', { ...files, ...initFiles(spec, files, attest), [`.winnow/${name}.yaml`]: spec })
  await github.settle()
  let actions = startActions(github, { published, ...options })
  const tokenOf = (login: string) => {
    const token = tokens.get(login) ?? github.token(login, { permission: 'read' })
    tokens.set(login, token)
    return token
  }
  const made: RunningCampaign = {
    ...scene,
    github,
    get actions() {
      return actions
    },
    renewMachines() {
      actions = startActions(github, { published, ...options })
      return actions
    },
    async asks(login, route, body) {
      const { status, body: answer } = await scene.ask(tokenOf(login), route, body)
      if (status >= 300) throw new Error(`${route}: ${status} ${JSON.stringify(answer)}`)
      return answer
    },
    async offers(title, changed, by = 'ada') {
      const branch = title.replaceAll(/\W+/g, '-')
      scene.commit(branch, changed, [scene.tip('main')])
      await made.asks(by, 'POST /pulls', { title, head: branch, base: `optimize/${name}` })
      return made.pull(title)
    },
    async offersFromFork(login, title, changed) {
      const fork = world.forks.get(login)?.dir ?? github.fork(login)
      const head = scene.commit('spare', changed, [scene.tip('main')])
      const branch = title.replaceAll(/\W+/g, '-')
      scene.git('push', '-q', fork, `+${head}:refs/heads/${branch}`)
      scene.git('update-ref', '-d', 'refs/heads/spare')
      await made.asks(login, 'POST /pulls', { title, head: `${login}:${branch}`, base: `optimize/${name}` })
      return made.pull(title)
    },
    pull(title) {
      const found = world.pulls.findLast(each => each.title === title)
      if (!found) throw new Error(`no pull request is called ${title}`)
      return found
    },
    async rest() {
      await actions.rest()
      requireSuccess(github, actions)
    },
    async openClient() {
      const { dir } = jobClone(github.bare, 'main')
      const client = await openCampaignClient({ name, directory: dir, cacheDir: scratch(), remote: null })
      onTestFinished(() => client.close())
      return client
    },
  }
  return made
}

function initFiles(spec: string, project: Record<string, string>, attest: boolean): Record<string, string> {
  const files = createProjectFiles(Object.keys(project), new Map(Object.entries(project)))
  const testRepository = { files, repository: files, directory: '' }
  const setup = { action: ACTION, specs: [parseSpec(spec, { file: 'spec.yaml' }).spec], attest }
  const written = renderGithubFiles(
    setup,
    buildToolchain(detectProject(testRepository, undefined), testRepository),
  )
  return Object.fromEntries(written.map(({ path, text }) => [path, text]))
}

function requireSuccess({ world }: EmulatedGithub, actions: Actions): void {
  const failed = world.runs.find(({ conclusion }) => conclusion === 'failure')
  if (!failed) return
  const logs = actions
    .jobsOf(failed)
    .map(({ name, conclusion, log, warnings }) =>
      [`== ${name}: ${conclusion}`, ...log, ...warnings].join('\n'),
    )
  throw new Error(`run ${failed.id} (${failed.title}) failed: ${failed.refusal ?? ''}\n${logs.join('\n')}`)
}
