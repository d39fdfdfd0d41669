import { expect, onTestFinished, test, vi } from 'vitest'
import { shorter } from '../engine/size-yard.ts'
import { proven } from '../engine/yard.ts'
import { type CampaignOnGithub, campaignOnGithub } from '../github/campaign-on-github.ts'
import { type FaultProxy, faultProxy } from '../servers/fault-proxy.ts'
import { everyEnvironment, jobClone } from './a-job.ts'
import { type Ended, step } from './a-runner.ts'

const PATIENCE = { timeout: 240_000 }

/** The bundled action, started as a runner starts it, in a clone of its own. */
function job(
  { github, token }: CampaignOnGithub,
  url = github.url,
  began: (pid: number) => void = () => {},
): Promise<Ended> {
  const { dir, git } = jobClone(github.bare, 'main')
  git('remote', 'set-url', 'origin', `${url}/team/project`)
  const env = {
    GITHUB_API_URL: `${url}/api/v3`,
    GITHUB_SERVER_URL: url,
    GITHUB_REPOSITORY: 'team/project',
    GITHUB_RUN_ID: '4711',
    GITHUB_ACTOR: 'ada',
  }
  const inputs = { command: 'tick', 'github-token': token }
  return step({ inputs, workspace: dir, env, meanwhile: async pid => began(pid) })
}

/** Killed as GitHub is about to answer that it has done what the job asked for. */
async function killedAt(here: CampaignOnGithub, proxy: FaultProxy, asked: RegExp): Promise<Ended> {
  let child: number | null = null
  proxy.fault = (method, path) => {
    if (!asked.test(`${method} ${path}`)) return null
    // What it had started may go on asking without it.
    if (child !== null) process.kill(child, 'SIGKILL')
    child = null
    return 'lost'
  }
  const ended = await job(here, proxy.url, pid => {
    child = pid
  })
  await orphansEnded(ended.home)
  return ended
}

/** What the job had started goes on without it for a moment: a runner would end it. */
async function orphansEnded(home: string): Promise<void> {
  const lives = () => everyEnvironment().includes(`HOME=${home}`)
  await vi.waitFor(() => expect(lives()).toBe(false), { timeout: 60_000 })
}

test('a job that is killed at each of its writes leaves what the next one completes', PATIENCE, async () => {
  const here = await campaignOnGithub({ 'ideas/01.patch': shorter('a', 3) })
  const proxy = await faultProxy(here.github.url)
  onTestFinished(() => proxy.stop())
  here.github.world.url = proxy.url
  for (const write of [/POST .*git-receive-pack/, /POST .*git-receive-pack/, /POST .*\/dispatches/])
    expect(await killedAt(here, proxy, write)).toMatchObject({ code: null })
  proxy.fault = () => null
  const whole = await job(here, proxy.url)
  expect([whole.code, whole.orders]).toEqual([0, []])
  const post = await here.post()
  const events = await post.events()
  expect(events.map(({ kind }) => kind)).toEqual(['campaign-started', 'order-issued', 'order-dispatched'])
  const [run, ...others] = here.github.world.runs
  expect(others).toEqual([])
  expect(events[2]).toMatchObject({ order: run?.title, run_id: `actions:${run?.id}/1` })
  await proven(post.place)
})

test('two jobs at once start one campaign, and measure each order once', PATIENCE, async () => {
  const here = await campaignOnGithub({ 'ideas/01.patch': shorter('a', 3) })
  const both = await Promise.all([job(here), job(here)])
  expect(both.map(({ code, stdout }) => [code, stdout])).toEqual(both.map(({ stdout }) => [0, stdout]))
  await here.wakes()
  const post = await here.post()
  expect(await post.kinds()).toEqual(['campaign-started', 'order-issued', 'order-dispatched'])
  expect(here.waiting()).toHaveLength(1)
  await proven(post.place)
})
