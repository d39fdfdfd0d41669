import { describe, expect, test } from 'vitest'
import { parcelName } from '../../src/model/parcel.ts'
import { interruptedText, MOST_INTERRUPTIONS } from '../../src/plan/lost.ts'
import { letters, SIZE_SPEC, shorter } from '../engine/size-yard.ts'
import { proven } from '../engine/yard.ts'
import { type ActionsYard, actionsYard } from './actions-yard.ts'
import type { RunRecord } from './emulator/world.ts'
import { leave, measuredIn, measuringJob, waitingRuns } from './measuring-job.ts'

const HOUR = 3_600_000
const LOOKS = /^(POST \/graphql|GET .*\/(runs|artifacts))$/

describe('a campaign whose orders are workflow runs', () => {
  test('goes from its start to its proofs, within the requests it may make', async () => {
    const { github, post, scene, ada, settle, wake } = await actionsYard([shorter('a', 3)])
    const here = await post()
    expect(await here.start()).toBe('started')
    scene.commit('small', { 'src/b.txt': letters('b', 5) }, [scene.tip('main')])
    await scene.ask(ada, 'POST /pulls', { title: 'mine', head: 'small', base: 'optimize/size' })
    github.spent()
    expect(await settle()).toEqual({ for: 'ideas' })
    const spent = github.spent()
    expect(await here.outcomes()).toEqual({ a3: 'kept', mine: 'runner_up_kept' })
    await proven(here.place)
    const orders = github.world.runs.map(({ title }) => title)
    expect(new Set(orders).size).toBe(orders.length)
    expect((await here.kinds()).filter(kind => kind === 'order-dispatched')).toHaveLength(orders.length)
    expect(spent.filter(route => !LOOKS.test(route)).length).toBeLessThanOrEqual(2 * 8 + 2 * orders.length)
    github.spent()
    await wake()
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })

  test('takes what its own run left, and nothing else; a kill in between doubles nothing', async () => {
    const { github, post, wake, settle } = await actionsYard([shorter('a', 3)])
    const here = await post()
    await here.start()
    const fault = (point: string) => {
      if (point === 'after:dispatch') throw new Error('killed')
    }
    await expect(wake({ fault })).rejects.toThrow('killed')
    expect(await here.kinds()).not.toContain('order-dispatched')
    const [run] = waitingRuns(github)
    if (!run) throw new Error('nothing was dispatched')
    for (const foreign of [
      { branch: 'optimize-exp/size/exp-001' },
      { event: 'push' },
      { repository: 'eve/project' },
    ])
      await forge(github, run, foreign)
    expect(await wake()).toMatchObject({ for: 'orders' })
    expect(waitingRuns(github)).toEqual([run])
    const dispatched = (await here.events()).filter(({ kind }) => kind === 'order-dispatched')
    expect(dispatched).toMatchObject([{ order: run.title, run_id: `actions:${run.id}/1` }])
    expect(await here.kinds()).not.toContain('measured')
    // A later run of that name is somebody's second try.
    await forge(github, run, {})
    await measuringJob(github, run)
    expect(await settle()).toEqual({ for: 'ideas' })
    const [measured] = (await here.events()).filter(({ kind }) => kind === 'measured')
    expect(measured).toMatchObject({ run_id: `actions:${run.id}/1` })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    await proven(here.place)
  })

  test('measures again what was lost; after five losses the idea is parked, and measured when nothing else is', async () => {
    const { github, post, wake, machines, settle } = await actionsYard([shorter('a', 3), shorter('b', 4)])
    const here = await post()
    await here.start()
    await wake()
    await machines()
    await wake()
    const [first, second] = waitingRuns(github)
    if (!first || !second) throw new Error('two experiments are to be measured')
    const report = await measuredIn(github, second)
    github.finish(first, 'cancelled')
    // Started again by hand after its report was there: the first attempt counts.
    leave(github, second, report)
    Object.assign(second, { status: 'in_progress', conclusion: null, attempt: 2 })
    await wake()
    const lost = (await here.events()).filter(({ kind }) => kind === 'order-lost')
    expect(lost).toMatchObject([
      { order: first.title, started: true, reason: expect.stringMatching(/cancelled/) },
    ])
    const wrong: unknown[] = []
    while (wrong.length + lost.length < MOST_INTERRUPTIONS) {
      const [again, other] = waitingRuns(github)
      if (!again || other) throw new Error('it is not measured again, or something else is')
      leave(github, again, { ...report, order: again.title, run_id: `actions:${again.id}/1` })
      await wake()
      wrong.push({ order: again.title, run_id: `actions:${again.id}/1` })
    }
    const rejected = (await here.events()).filter(({ kind }) => kind === 'report-rejected')
    expect(rejected).toMatchObject(wrong)
    expect(await settle()).toEqual({ for: 'ideas' })
    const parked = (await here.events()).flatMap(event =>
      event.kind === 'decided' && event.parked ? [event] : [],
    )
    expect(parked).toMatchObject([
      { outcome: 'inconclusive', reason: interruptedText(MOST_INTERRUPTIONS), order: null },
    ])
    expect(await here.outcomes()).toEqual({ a3: 'kept', b4: 'kept' })
    await proven(here.place)
  })
})

test('what the default branch brings is measured elsewhere as well, another spec with it', async () => {
  const { post, scene, settle } = await actionsYard([])
  const here = await post()
  await here.start()
  expect(await settle()).toEqual({ for: 'ideas' })
  const commit = scene.commit('main', {
    'src/c.txt': letters('c', 12),
    '.winnow/size.yaml': `${SIZE_SPEC}stopping: { max_hours: 5 }\n`,
  })
  expect(await settle()).toEqual({ for: 'ideas' })
  const synced = (await here.events()).filter(({ kind }) => kind === 'synced')
  expect(synced).toMatchObject([{ default_tip: commit }])
  await proven(here.place)
})

test('a report that is none is rejected by name, each time; after five the order is issued once an hour', async () => {
  const { github, post, wake, settle } = await actionsYard([shorter('a', 3)])
  const here = await post()
  await here.start()
  const brackets = { text: '{', reason: /no JSON/ }
  const large = { text: JSON.stringify({ order: 'x'.repeat(10_000_000) }), reason: /larger than/ }
  const foreign = { text: null, reason: /it says that it is of run/ }
  const orders = new Set<string>()
  for (const { text, reason } of [brackets, large, foreign, brackets, brackets]) {
    await wake()
    const [run, other] = waitingRuns(github)
    if (!run || other) throw new Error('nothing runs, or more than one')
    orders.add(run.title)
    leave(github, run, text ?? { ...(await measuredIn(github, run)), run_id: 'actions:1/1' })
    await wake()
    const rejected = (await here.events()).findLast(({ kind }) => kind === 'report-rejected')
    expect(rejected).toMatchObject({ order: run.title, reason: expect.stringMatching(reason) })
  }
  expect(orders.size).toBe(5)
  expect(waitingRuns(github)).toEqual([])
  expect(await here.campaign()).toMatchObject({ status: 'running' })
  const told = /^the base is being measured: 5 measuring runs .+ the next one starts after \d{4}-[-\d:.T]+Z$/
  expect(await wake({ ahead: HOUR / 2 })).toEqual({ for: 'person', what: expect.stringMatching(told) })
  expect(waitingRuns(github)).toEqual([])
  await wake({ ahead: HOUR })
  expect(waitingRuns(github)).toHaveLength(1)
  expect(await settle()).toEqual({ for: 'ideas' })
  expect(await here.outcomes()).toEqual({ a3: 'kept' })
  await proven(here.place)
})

/** Another run that claims to answer the same order, with a report in its artifact. */
async function forge(github: ActionsYard['github'], like: RunRecord, different: Partial<RunRecord>) {
  const run = { ...like, ...different, id: like.id + 500 + github.world.runs.length }
  const report = await measuredIn(github, like)
  github.world.runs.push(run)
  leave(github, run, { ...report, run_id: `actions:${run.id}/1` })
  expect(github.world.artifacts.at(-1)?.name).toBe(parcelName(like.title))
}
