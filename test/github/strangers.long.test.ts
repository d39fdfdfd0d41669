import { expect, test } from 'vitest'
import type { EndedJob } from '../../src/engine/jobs/github-runs.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { type ActionsRepository, createActionsRepository } from './actions-repository.ts'
import { leave, measuredIn, waitingRuns } from './measuring-job.ts'
import { releaseTest } from '../support/cases.ts'

/** A branch in a fork, or the same with another head. */
function pushToFork(
  { scene }: ActionsRepository,
  fork: string,
  branch: string,
  files: Record<string, string>,
): string {
  const head = scene.commit('spare', files, [scene.tip('main')])
  scene.git('push', '-q', fork, `+${head}:refs/heads/${branch}`)
  scene.git('update-ref', '-d', 'refs/heads/spare')
  return head
}

async function offered(
  { scene, ada }: ActionsRepository,
  branch: string,
  base = 'optimize/size',
): Promise<string> {
  const answer = await scene.ask(ada, 'POST /pulls', { title: branch, head: branch, base })
  expect(answer.status).toBe(201)
  return String(answer.body['number'])
}

test('what a reader brings from a fork runs once a writer has allowed exactly that head', async () => {
  const here = await createActionsRepository([], { spec: 'merge: { unisolated: allow, forgeable: allow }\n' })
  const { github, scene, settle, wake, machines } = here
  const client = await here.openClient()
  await client.start()
  const fork = github.fork('eve')
  const head = pushToFork(here, fork, 'shorter', { 'src/a.txt': letters('a', 4) })
  const eve = github.token('eve', { permission: 'read' })
  const offer = { title: 'shorter', head: 'eve:shorter', base: 'optimize/size' }
  expect((await scene.ask(eve, 'POST /pulls', offer)).status).toBe(201)
  expect(await settle()).toEqual({ for: 'person', what: expect.stringContaining(`/winnow measure ${head}`) })
  const { id } = await client.experiment('shorter')
  const runs = github.world.runs.length
  github.spent()
  await wake()
  expect(github.spent().length).toBeLessThanOrEqual(3)
  const words = { kind: 'permission-granted', experiment: id, login: 'ada' } as const
  const next = pushToFork(here, fork, 'shorter', { 'src/a.txt': letters('a', 3) })
  await client.person({ ...words, head })
  await wake()
  // The fork's branch moved on meanwhile: what was allowed is not what is there.
  expect(github.world.runs).toHaveLength(runs)
  await client.person({ ...words, head: next })
  await wake()
  expect(github.world.runs).toHaveLength(runs + 1)
  await machines()
  expect(await settle()).toEqual({ for: 'ideas' })
  expect(await client.outcomes()).toEqual({ shorter: 'kept' })
  expect(scene.tip('optimize/size')).toBe((await client.campaign()).incumbent.commit)
  await proven(client.place)
})

releaseTest(
  'what a reader brings is refused before it is measured, unless the baseline was measured with isolation',
  async () => {
    for (const isolated of [false, true]) {
      const here = await createActionsRepository([], { spec: 'merge: { forgeable: allow }\n' })
      const { github, scene, wake } = here
      const client = await here.openClient()
      const measureAll = async () => {
        for (let turn = 0; turn < 4; turn++) {
          await wake()
          for (const run of waitingRuns(github)) {
            const measured = new Map<string, EndedJob>()
            for (const order of await here.tickOf(run)) {
              const report = await measuredIn(github, run, order)
              expect(report.flags).toContain('unisolated')
              const flags = isolated ? report.flags.filter(flag => flag !== 'unisolated') : report.flags
              measured.set(order, leave(github, run, order, { ...report, flags }))
            }
            await here.settleOf(run, { measured })
            github.finish(run, 'success')
          }
        }
      }
      await client.start()
      const head = pushToFork(here, github.fork('eve'), 'shorter', { 'src/a.txt': letters('a', 4) })
      const eve = github.token('eve', { permission: 'read' })
      const offer = { title: 'shorter', head: 'eve:shorter', base: 'optimize/size' }
      const pull = await scene.ask(eve, 'POST /pulls', offer)
      await measureAll()
      if (isolated) {
        const { id } = await client.experiment('shorter')
        await client.person({ kind: 'permission-granted', experiment: id, login: 'ada', head })
        await measureAll()
        expect(await client.outcomes()).toEqual({ shorter: 'kept' })
      } else {
        expect(await client.outcomes()).toEqual({ shorter: 'refused' })
        const { reason } = await client.experiment('shorter')
        expect(reason).toMatch(/^eve has no write access, and this campaign measures without isolation/)
        // The baseline was measured, and nothing of eve's.
        expect(github.world.runs).toHaveLength(1)
        const told = github.world.pulls.find(({ number }) => number === pull.body['number'])
        expect(told).toMatchObject({ state: 'closed' })
        const comments = await scene.ask(here.ada, `GET /issues/${told?.number}/comments`)
        expect(JSON.stringify(comments.body)).toContain('measures without isolation')
      }
      await proven(client.place)
    }
  },
)

releaseTest(
  'people change their minds: a stacked head, another base, commits on an engine’s branch',
  async () => {
    const here = await createActionsRepository([shorter('c', 9)])
    const { github, scene, settle, wake, machines } = here
    const client = await here.openClient()
    await client.start()
    scene.commit('first', { 'src/a.txt': letters('a', 5) }, [scene.tip('main')])
    scene.commit('second', { 'src/b.txt': letters('b', 5) }, [scene.tip('first')])
    scene.commit('third', { 'src/b.txt': letters('b', 9) }, [scene.tip('main')])
    await offered(here, 'first')
    await offered(here, 'second')
    const third = await offered(here, 'third')
    await wake()
    await machines()
    await wake()
    const branch = (await client.experiment('c9')).branch ?? ''
    const [run, ...others] = waitingRuns(github)
    if (!run || others.length > 0) throw new Error('one run was to be started')
    expect(await here.tickOf(run)).toHaveLength(3)
    expect((await scene.ask(here.ada, `PATCH /pulls/${third}`, { base: 'main' })).status).toBe(200)
    const by = scene.commit(branch, { 'src/c.txt': letters('c', 8) })
    await wake()
    expect(await client.experiment('c9')).toMatchObject({ head: by, owned: false })
    // One of its orders is still wanted.
    expect(run.conclusion).toBeNull()
    expect(await settle()).toEqual({ for: 'ideas' })
    await wake()

    expect(await client.outcomes()).toMatchObject({ first: 'kept', second: 'refused', third: 'withdrawn' })
    expect(await client.reasonOf('second')).toMatch(/contains the head of exp-\d+/)
    expect(await client.reasonOf('third')).toMatch(/was retargeted to main/)
    expect(github.world.pulls.find(({ title }) => title === 'third')).toMatchObject({ state: 'open' })
    // Neither results nor anything else was pushed on top of what a person put there.
    expect(scene.tip(branch)).toBe(by)
    await proven(client.place)
  },
)
