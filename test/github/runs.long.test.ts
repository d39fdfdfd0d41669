import { describe, expect, test } from 'vitest'
import type { EndedJob } from '../../src/engine/jobs/github-runs.ts'
import type { PartialReport } from '../../src/model/pairs.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { type ActionsRepository, createActionsRepository } from './actions-repository.ts'
import type { Incoming } from './emulator/api.ts'
import type { RunRecord } from './emulator/world.ts'
import { leavePartial, measuredIn, measuringJob, waitingRuns } from './measuring-job.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

async function begun(ideas: readonly string[], spec = '') {
  const repository = await createActionsRepository(ideas, spec === '' ? {} : { spec })
  const here = await repository.openClient()
  await here.start()
  return Object.assign(repository, { here, of: eventsOf(here) })
}

function eventsOf(here: Awaited<ReturnType<ActionsRepository['openClient']>>) {
  return async (...kinds: string[]) => (await here.events()).filter(({ kind }) => kinds.includes(kind))
}

function onlyRun({ github }: Pick<ActionsRepository, 'github'>): RunRecord {
  const [run, ...others] = waitingRuns(github)
  if (!run || others.length > 0) throw new Error(`${others.length + (run ? 1 : 0)} runs wait`)
  return run
}

function killAt(wanted: string) {
  return (point: string) => {
    if (point === wanted) throw new Error('killed')
  }
}

describe('a run that is started', () => {
  test('takes the orders itself where its starter was killed before it recorded them', async () => {
    const repository = await begun([shorter('a', 3)])
    const { wake, of } = repository
    await expect(wake({ fault: killAt('after:dispatch') })).rejects.toThrow('killed')
    const run = onlyRun(repository)
    expect(await of('order-dispatched')).toEqual([])
    expect(await repository.tickOf(run)).toHaveLength(1)
    expect(await of('order-dispatched')).toMatchObject([{ run_id: `actions:${run.id}/1` }])
    // A tick meanwhile asks where it stands and starts nothing.
    await wake()
    expect(onlyRun(repository)).toBe(run)
  })

  releaseTest('ends without a job where another run has its orders', async () => {
    const repository = await begun([shorter('a', 3)])
    const { wake, of, github } = repository
    await expect(wake({ fault: killAt('after:dispatch') })).rejects.toThrow('killed')
    await wake()
    const [first, second] = waitingRuns(github)
    if (!first || !second) throw new Error('two runs were to be started')
    expect(await of('order-dispatched')).toMatchObject([{ run_id: `actions:${second.id}/1` }])
    expect(await repository.tickOf(first)).toEqual([])
    expect(await repository.tickOf(second)).toHaveLength(1)
  })

  releaseTest('whose id the server does not tell takes all that nothing has', async () => {
    const repository = await begun([shorter('a', 3), shorter('b', 4)])
    const { github, wake, of, settle, here } = repository
    github.world.settings.dispatchNamesRun = false
    expect(await wake()).toMatchObject({ for: 'orders' })
    expect(await of('order-dispatched')).toEqual([])
    expect(waitingRuns(github)).toHaveLength(1)
    await repository.machines()
    expect(await settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept', b4: 'runner_up_kept' })
    await proven(here.place)
  })

  releaseTest('holds 20 orders, and the next one the rest', async () => {
    const ideas = Array.from({ length: 21 }, (_, index) =>
      shorter((['a', 'b', 'c'] as const)[index % 3] ?? 'a', 3 + Math.floor(index / 3)),
    )
    const repository = await begun(
      ideas,
      'execution: { max_concurrent: 32 }\nmerge: { max_open_experiments: 32, max_pull_requests_per_hour: 32 }\n',
    )
    const { github, wake, of } = repository
    await wake()
    await repository.machines()
    const [first, second, ...others] = waitingRuns(github)
    if (!first || !second) throw new Error('two runs were to be started')
    expect(others).toEqual([])
    const [many, one] = [await repository.tickOf(first), await repository.tickOf(second)]
    expect([many.length, one.length]).toEqual([20, 1])
    expect(new Set([...many, ...one]).size).toBe(21)
    expect(repository.last?.orders).toMatchObject([{ slot: 0, order: one[0] }])
    expect(await of('order-dispatched')).toHaveLength(22)
  })

  test('measures an outsider’s code beside nothing else', async () => {
    const repository = await begun([], 'merge: { unisolated: allow, forgeable: allow }\n')
    const { github, scene, wake, here } = repository
    const fork = github.fork('eve')
    const head = scene.commit('spare', { 'src/c.txt': letters('c', 4) }, [scene.tip('main')])
    scene.git('push', '-q', fork, `+${head}:refs/heads/shorter`)
    scene.git('update-ref', '-d', 'refs/heads/spare')
    const eve = github.token('eve', { permission: 'read' })
    await scene.ask(eve, 'POST /pulls', { title: 'theirs', head: 'eve:shorter', base: 'optimize/size' })
    await wake()
    await repository.machines()
    const { id } = await here.experiment('theirs')
    await here.person({ kind: 'permission-granted', experiment: id, login: 'ada', head })
    for (const [name, letter] of Object.entries({ one: 'a', two: 'b' })) {
      scene.commit(name, { [`src/${letter}.txt`]: letters(letter, 4) }, [scene.tip('main')])
      await scene.ask(repository.ada, 'POST /pulls', { title: name, head: name, base: 'optimize/size' })
    }
    await wake()
    const runs = waitingRuns(github)
    const titles = new Map<string, string[]>()
    for (const run of runs) {
      await repository.tickOf(run)
      titles.set(run.title, repository.last?.orders.map(({ title }) => title) ?? [])
    }
    expect([...titles.values()].map(each => each.length).toSorted((a, b) => a - b)).toEqual([1, 2])
    const alone = [...titles.values()].find(each => each.length === 1)
    expect(alone).toEqual([expect.stringContaining(id)])
  })

  test('two ticks at once leave one run with each order, and cancel what nobody needs', async () => {
    const repository = await begun([shorter('a', 3)])
    const { github, wake, of, here, settle } = repository
    await Promise.all([wake(), wake()])
    const dispatched = await of('order-dispatched')
    expect(dispatched).toHaveLength(1)
    const left = github.world.runs.filter(({ conclusion }) => conclusion !== 'cancelled')
    expect(dispatched).toMatchObject([{ run_id: `actions:${left[0]?.id}/1` }])
    expect(await settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    await proven(here.place)
  })
})

describe('an order is lost', () => {
  test.each<[string, (repository: ActionsRepository, run: RunRecord) => void, RegExp]>(
    selectCases([
      [
        'is gone',
        ({ github }, run) => void github.world.runs.splice(github.world.runs.indexOf(run), 1),
        /no longer exists$/,
      ],
      [
        'ended without settling it',
        ({ github }, run) => github.finish(run, 'failure'),
        /ended \(failure\) before winnow recorded its answer$/,
      ],
    ]),
  )('whose run %s, and a tick asks once for each run', async (_, end, reason) => {
    const repository = await begun([shorter('a', 3), shorter('b', 4)])
    const { github, wake, of, here, settle } = repository
    await wake()
    await repository.machines()
    const run = onlyRun(repository)
    expect(await repository.tickOf(run)).toHaveLength(2)
    end(repository, run)
    github.spent()
    await wake()
    expect(github.spent().filter(route => route.includes('/runs/{run_id}')).length).toBeLessThanOrEqual(2)
    const lost = await of('order-lost')
    expect(lost).toMatchObject([{ started: true, reason: expect.stringMatching(reason) }, { started: true }])
    expect(await settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept', b4: 'runner_up_kept' })
    await proven(here.place)
  })

  releaseTest(
    'where its run is started again as a whole; its settling job alone takes in what was measured',
    async () => {
      const repository = await begun([shorter('a', 3)])
      const { wake, of, here, settle } = repository
      await wake()
      const run = onlyRun(repository)
      const [order = ''] = await repository.tickOf(run)
      const job = await measuringJob(repository.github, run, order)
      // The first settling job died; only that one is started again, and `needs` is what it was.
      Object.assign(run, { status: 'in_progress', attempt: 2 })
      await wake()
      expect(await of('order-lost')).toEqual([])
      await repository.settleOf(run, { measured: new Map([[order, job]]) }, { attempt: 2 })
      expect(await of('measured')).toMatchObject([{ order, run_id: `actions:${run.id}/1` }])
      repository.github.finish(run, 'success')

      const next = onlyRun(repository)
      const [second = ''] = await repository.tickOf(next)
      expect(await repository.tickOf(next, { attempt: 2 })).toEqual([])
      expect(await of('order-lost')).toMatchObject([
        {
          order: second,
          reason: expect.stringMatching(/was rerun, and its first attempt left no report$/),
        },
      ])
      repository.github.finish(next, 'success')
      expect(await settle()).toEqual({ for: 'ideas' })
      expect(await here.outcomes()).toEqual({ a3: 'kept' })
      await proven(here.place)
    },
  )

  releaseTest('with what its cancelled job had measured, which counts', async () => {
    const repository = await begun([shorter('a', 3)])
    const { github, wake, of, here, settle } = repository
    await wake()
    const run = onlyRun(repository)
    const [order = ''] = await repository.tickOf(run)
    const stop = new AbortController()
    let kept: PartialReport | null = null
    const onPartial = async (partial: PartialReport) => {
      kept = structuredClone(partial)
      if (partial.report.executions.length > 0) stop.abort()
    }
    await expect(measuredIn(github, run, order, { onPartial, signal: stop.signal })).rejects.toThrow()
    if (kept === null) throw new Error('nothing was kept')
    const job: EndedJob = leavePartial(github, run, order, kept)
    await repository.settleOf(run, { measured: new Map([[order, job]]) })
    github.finish(run, 'cancelled')
    expect(await of('order-lost')).toMatchObject([
      { order, reason: expect.stringMatching(/ended \(cancelled\)/), partial: { report: { order } } },
    ])
    expect((await here.campaign()).spent.executions).toBe(1)
    expect(await settle()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({ a3: 'kept' })
    await proven(here.place)
  })

  releaseTest(
    'nothing is cancelled for an order that is unwanted beside others, and the whole run once all are',
    async () => {
      const repository = await begun([shorter('a', 3), shorter('b', 4)])
      const { wake, here, of } = repository
      await wake()
      await repository.machines()
      const run = onlyRun(repository)
      await repository.tickOf(run)
      const [first, second] = ['a3', 'b4']
      for (const [index, name] of [first, second].entries()) {
        const { id } = await here.experiment(name ?? '')
        await here.person({ kind: 'steered', action: 'withdraw', experiment: id, reason: 'no' })
        await wake()
        expect([index, run.conclusion]).toEqual([index, index === 0 ? null : 'cancelled'])
      }
      expect(await of('measured')).toHaveLength(1)
    },
  )

  releaseTest('a cancellation that GitHub refuses costs nothing else', async () => {
    const repository = await begun([shorter('a', 3)])
    const { github, wake, here } = repository
    await wake()
    await repository.machines()
    await repository.tickOf(onlyRun(repository))
    const { id } = await here.experiment('a3')
    await here.person({ kind: 'steered', action: 'withdraw', experiment: id, reason: 'no' })
    github.api.intercept = (_: Incoming, route) =>
      route.endsWith('/cancel')
        ? { status: 403, body: { message: 'Forbidden', documentation_url: '' } }
        : null
    expect(await wake()).toEqual({ for: 'ideas' })
    expect(repository.said.join('\n')).toContain('was not cancelled: ')
  })
})
