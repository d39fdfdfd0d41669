import { expect, test } from 'vitest'
import type { EndedJob } from '../../src/engine/jobs/github-runs.ts'
import { runActionsTick } from '../../src/engine/controller/github-tick.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { type ActionsRepository, createActionsRepository } from './actions-repository.ts'
import type { Incoming } from './emulator/api.ts'
import { measuringJob, waitingRuns } from './measuring-job.ts'
import { releaseTest } from '../support/cases.ts'

const MERGED_BY_HAND = { 'src/b.txt': letters('b', 5) }

function refusal(status: number, message: string) {
  return { status, body: { message, documentation_url: 'https://docs.github.com/rest' } }
}

/** A person's pull request, and a campaign whose machines have begun. */
async function begun(ideas: readonly string[] = []) {
  const repository = await createActionsRepository(ideas)
  const here = await repository.openClient()
  await here.start()
  await repository.wake()
  await repository.machines()
  return { repository, here }
}

async function asks({ github, scene, ada }: ActionsRepository): Promise<number> {
  scene.commit('mine', MERGED_BY_HAND, [scene.tip('main')])
  await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
  return github.world.pulls.at(-1)?.number ?? 0
}

releaseTest('what was said and is not seen again is not said a second time in one wake-up', async () => {
  const { repository } = await begun()
  await asks(repository)
  const { place } = await repository.openClient()
  const { forge } = place
  const workflows = forge?.workflows
  if (!forge || !workflows) throw new Error('this forge has no machines')
  // As where lists lag, or more was said since than is read.
  const unseeing = {
    ...forge,
    list: async (...wanted: Parameters<typeof forge.list>) =>
      (await forge.list(...wanted)).map(pull => ({ ...pull, body: '', comments: [] })),
  }
  repository.github.spent()
  const none = { propose: false, judge: false }
  await runActionsTick({ ...place, forge: unseeing }, workflows, { does: 'start', next: none, has: none })
  const written = repository.github
    .spent()
    .filter(route => /^(?:POST|PATCH) .*(?:comments|pulls)/.test(route))
  expect(written.length).toBeLessThanOrEqual(3)
})

releaseTest('a conversation that is locked costs its comment, and nothing else', async () => {
  const { repository, here } = await begun([shorter('a', 3)])
  const { github, settle } = repository
  const number = await asks(repository)
  github.api.intercept = ({ path }: Incoming, route) =>
    route.startsWith('POST ') && path.includes(`/issues/${number}/comments`)
      ? refusal(403, 'Unable to create comment because issue is locked.')
      : null
  await settle()
  expect(Object.values(await here.outcomes())).toEqual(['kept', 'kept'])
  expect(repository.everRefused).toContainEqual(
    expect.stringMatching(/issues\/\d+\/comments \(403\): .*issue is locked/),
  )
})

releaseTest('an artifact that is listed and cannot be fetched is one report that is lost', async () => {
  const { repository, here } = await begun([shorter('a', 3), shorter('b', 4)])
  const { github, wake } = repository
  await wake()
  const [run] = waitingRuns(github)
  if (!run) throw new Error('nothing was started')
  const orders = await repository.tickOf(run)
  expect(orders).toHaveLength(2)
  const measured = new Map<string, EndedJob>()
  for (const order of orders) measured.set(order, await measuringJob(github, run, order))
  let first: string | null = null
  github.api.intercept = ({ path }: Incoming, route) => {
    if (!route.includes('/artifacts/{artifact_id}/')) return null
    first ??= path
    return path === first ? refusal(404, 'Not Found') : null
  }
  await repository.settleOf(run, { measured })
  github.finish(run, 'success')
  const events = await here.events()
  expect(events.filter(({ kind }) => kind === 'report-rejected')).toMatchObject([
    { reason: expect.stringMatching(/its artifact cannot be used: .*it does not exist/) },
  ])
  github.api.intercept = null
  await repository.settle()
  expect(new Set(Object.values(await here.outcomes()))).toEqual(new Set(['kept', 'runner_up_kept']))
})

test('a dispatch that is refused for good is told in the ledger once, goes on when that is mended, and is told no more', async () => {
  const repository = await createActionsRepository([shorter('a', 3)])
  const here = await repository.openClient()
  await here.start()
  const { github, wake, settle } = repository
  github.api.intercept = (_: Incoming, route) =>
    route.includes('/dispatches') ? refusal(422, 'Unexpected inputs provided: ["title"]') : null
  for (let wakes = 0; wakes < 3; wakes++) {
    github.spent()
    expect(await wake()).toMatchObject({ for: 'orders' })
    expect(repository.refused).toEqual([expect.stringContaining('Unexpected inputs provided')])
    expect(github.spent().filter(route => route.includes('/dispatches')).length).toBeLessThanOrEqual(2)
  }
  const alerts = (await here.events()).filter(({ kind }) => kind === 'alert')
  expect(alerts).toMatchObject([
    { code: 'dispatch-refused', message: expect.stringContaining('Unexpected inputs') },
  ])
  const shown = async () => (await here.campaign()).alerts.map(({ code }) => code)
  expect(await shown()).toEqual(['dispatch-refused'])
  github.api.intercept = null
  await settle()
  expect(Object.values(await here.outcomes())).toEqual(['kept'])
  expect(await shown()).toEqual([])
})
