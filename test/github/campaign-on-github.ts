import { onTestFinished } from 'vitest'
import { jobClone } from '../action/a-job.ts'
import { openCampaignClient, type CampaignClient } from '../support/campaign-client.ts'
import { SIZE_FILES, SIZE_SPEC } from '../support/size-repository.ts'
import { scratch } from '../git/scratch.ts'
import { emulatedGithub } from './emulator/github.ts'
import type { PullRecord, RunRecord } from './emulator/world.ts'
import { waitingRuns, wholeRun } from './measuring-job.ts'
import { type Scene, sceneOf } from './scene.ts'
import { GRANTS as JOB_GRANTS, WORKFLOW, WORKFLOW_FILE } from './tick-job.ts'
import { type Waking, type Woken, woken, wokenJobs } from './job-in-process.ts'

/** A campaign on GitHub as its jobs and its people see it: the action's own wake-ups, and machines that measure. */
export interface CampaignOnGithub extends Scene {
  token: string
  wake: (rest?: Partial<Waking>) => Promise<Woken>
  /** A wake-up that has nothing to complain of. */
  wakes: () => Promise<string>
  waiting: () => RunRecord[]
  /** Every run that waits, as a whole. */
  machines: (rest?: Partial<Waking>) => Promise<void>
  /** Wake-ups and machines in turn until nothing is measured any more. */
  settle: () => Promise<string>
  /** A request by somebody who may write; it has to be taken. */
  asks: (route: string, body: unknown) => Promise<void>
  /** A branch with these files on main, and a pull request of it. */
  offers: (title: string, files: Record<string, string>, rest?: Offered) => Promise<PullRecord>
  pull: (title: string) => PullRecord
  /** The campaign as anybody with a clone reads it. */
  openClient: () => Promise<CampaignClient>
}

interface Offered {
  branch?: string
  body?: string
}

export async function campaignOnGithub(
  files: Record<string, string> = {},
  spec = SIZE_SPEC,
): Promise<CampaignOnGithub> {
  const github = await emulatedGithub()
  onTestFinished(() => github.stop())
  // Comments count from the beginning of the campaign on.
  github.world.clock = Date.now() + 3_600_000
  const scene = sceneOf(github)
  const base = {
    ...SIZE_FILES,
    '.winnow/size.yaml': spec,
    [WORKFLOW_FILE]: WORKFLOW,
  }
  scene.commit('main', { ...base, ...files })
  const token = github.jobToken(JOB_GRANTS)
  const ada = github.token('ada')
  const made: CampaignOnGithub = {
    ...scene,
    token,
    wake: rest => woken({ github, token, ...rest }),
    async wakes() {
      const { code, out } = await made.wake()
      if (code !== 0) throw new Error(out)
      return out
    },
    waiting: () => waitingRuns(github),
    async machines(rest) {
      const jobs = wokenJobs({ github, token, ...rest })
      for (const run of waitingRuns(github)) await wholeRun(github, run, jobs)
    },
    async settle() {
      for (let wakes = 0; wakes < 20; wakes++) {
        const out = await made.wakes()
        if (waitingRuns(github).length === 0) return out
        await made.machines()
      }
      throw new Error('it never came to rest')
    },
    async asks(route, body) {
      const answer = await scene.ask(ada, route, body)
      if (answer.status >= 300) throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`)
    },
    async offers(title, changed, { branch = title, body = '' } = {}) {
      scene.commit(branch, changed, [scene.tip('main')])
      await made.asks('POST /pulls', { title, head: branch, base: 'optimize/size', body })
      return made.pull(title)
    },
    pull(title) {
      const found = github.world.pulls.findLast(each => each.title === title)
      if (!found) throw new Error(`no pull request is called ${title}`)
      return found
    },
    async openClient() {
      const { dir } = jobClone(github.bare, 'main')
      const client = await openCampaignClient({
        name: 'size',
        directory: dir,
        cacheDir: scratch(),
        remote: null,
      })
      onTestFinished(() => client.close())
      return client
    },
  }
  return made
}
