import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { buildJobEnvironment, type GithubJob } from '../../src/action/github-job.ts'
import { readInputs } from '../../src/action/inputs.ts'
import { createGithubClock } from '../../src/github/github-clock.ts'
import { buildCampaignRefs } from '../../src/model/ids.ts'
import { listeningForTest } from '../servers/loopback.ts'

const HOUR = 3_600_000
const GITHUBS = Date.parse('2026-03-01T12:00:00Z')

/** A machine whose clock is off by this; an answer takes 200 ms there. */
function offBy(milliseconds: number) {
  let githubs = GITHUBS
  const clock = createGithubClock({
    now: () => githubs + milliseconds,
    monotonic: () => githubs,
    sleep: async () => {},
  })
  const answer = (date: string | null) =>
    clock.follow(async () => {
      githubs += 200
      return new Response(null, date === null ? {} : { headers: { date } })
    })
  const ask = () => answer(new Date(Math.floor(githubs / 1000) * 1000).toUTCString())
  return { clock, answer, ask, error: () => clock.now() - githubs }
}

describe('the clock of a job on GitHub', () => {
  it.each([0, 700, -700])('that is off by less than a second (%d ms) gets no worse', async off => {
    const { ask, error } = offBy(off)
    for (let asked = 0; asked < 30; asked++) {
      await ask()
      expect(Math.abs(error())).toBeLessThanOrEqual(Math.abs(off))
    }
  })

  it.each([HOUR, -HOUR, 30 * 24 * HOUR])('that is off by %d ms is right within 1.2 s', async off => {
    const { ask, error } = offBy(off)
    expect(error()).toBe(off)
    for (let asked = 0; asked < 30; asked++) {
      await ask()
      expect(Math.abs(error())).toBeLessThanOrEqual(1200)
    }
  })

  it('is set once by answers to requests under way at the same time', async () => {
    const { ask, error } = offBy(HOUR)
    await Promise.all([ask(), ask(), ask()])
    expect(Math.abs(error())).toBeLessThanOrEqual(2000)
  })

  it('keeps the machine’s time where an answer has none', async () => {
    const { answer, error } = offBy(HOUR)
    for (const date of [null, '', 'yesterday']) await answer(date)
    expect(error()).toBe(HOUR)
  })

  it('is what events are recorded by, and every answer sets it, a refusal too', async () => {
    const before = Date.now() - 3 * HOUR
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() - 3 * HOUR).toUTCString())
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    })
    const url = `http://127.0.0.1:${await listeningForTest(server)}`
    const env = { GITHUB_RUN_ID: '1', RUNNER_TEMP: '/tmp', GITHUB_WORKSPACE: '/tmp' }
    const job: GithubJob = {
      apiUrl: url,
      serverUrl: url,
      repository: 'team/project',
      token: 'token',
      appToken: null,
      workflowFile: 'winnow.yml',
      event: { name: 'schedule', payload: {} },
    }
    const environment = buildJobEnvironment({ inputs: readInputs(), env }, job)
    expect(environment.clock.now()).toBeGreaterThan(before + HOUR)
    await environment.forge?.(buildCampaignRefs('optimize', 'size')).readPermission('eve')
    expect(environment.clock.now()).toBeGreaterThanOrEqual(before - 2000)
    expect(environment.clock.now()).toBeLessThan(before + HOUR)
  })
})
