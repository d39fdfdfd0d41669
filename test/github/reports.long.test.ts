import { expect, test } from 'vitest'
import { parcelName } from '../../src/model/parcel.ts'
import { shorter } from '../engine/size-yard.ts'
import { actionsYard } from './actions-yard.ts'
import type { RunRecord } from './emulator/world.ts'
import { leave, measuredIn, measuringJob, waitingRuns } from './measuring-job.ts'

type Leaving = (github: Awaited<ReturnType<typeof actionsYard>>['github'], run: RunRecord) => Promise<void>

/** What a run may leave behind that answers nothing, and what a person reads about it. */
const LEFT: Record<string, { leaves: Leaving; kind: string; reason: RegExp }> = {
  nothing: {
    leaves: async (github, run) => github.finish(run, 'success'),
    kind: 'order-lost',
    reason: /^workflow run \d+ ended \(success\) and left no report$/,
  },
  'its report twice': {
    async leaves(github, run) {
      const report = await measuredIn(github, run)
      leave(github, run, report)
      leave(github, run, report)
    },
    kind: 'report-rejected',
    reason: /^its run left 2 artifacts called winnow-report-/,
  },
  'a text of megabytes': {
    async leaves(github, run) {
      leave(github, run, { ...(await measuredIn(github, run)), runner_error: 'x'.repeat(2_000_000) })
    },
    kind: 'report-rejected',
    reason: /^it\.runner_error has more than 65536 characters$/,
  },
  'a name that is a book': {
    async leaves(github, run) {
      const report = await measuredIn(github, run)
      const executions = report.executions.map(each => ({
        ...each,
        metrics: { ...each.metrics, ['m'.repeat(70_000)]: 1 },
      }))
      leave(github, run, { ...report, executions })
    },
    kind: 'report-rejected',
    reason: /^a name in it\.executions\.0\.metrics has more than 65536 characters$/,
  },
  'another tree': {
    async leaves(github, run) {
      const report = await measuredIn(github, run)
      leave(github, run, { ...report, trees: { ...report.trees, base: 'f'.repeat(40) } })
    },
    kind: 'report-rejected',
    reason: /^base was tree f{40}, the order says /,
  },
}

test.each(Object.entries(LEFT))('a run that left %s is told of, and measured nothing', async (_, left) => {
  const { github, post, wake } = await actionsYard([shorter('a', 3)])
  const here = await post()
  await here.start()
  await wake()
  const [run] = waitingRuns(github)
  if (!run) throw new Error('nothing runs')
  await left.leaves(github, run)
  await wake()
  const events = await here.events()
  const told = events.filter(({ kind }) => kind === 'order-lost' || kind === 'report-rejected')
  expect(told).toMatchObject([{ kind: left.kind, order: run.title }])
  expect(told).toMatchObject([{ reason: expect.stringMatching(left.reason) }])
  expect(events.map(({ kind }) => kind)).not.toContain('measured')
  // It is measured once more, with other coins.
  expect(waitingRuns(github).map(({ title }) => title)).toEqual([expect.not.stringMatching(run.title)])
  expect(JSON.stringify(events).length).toBeLessThan(100_000)
})

test('a report is found, however many artifacts of its name other runs leave', async () => {
  const { github, post, wake } = await actionsYard([shorter('a', 3)])
  const here = await post()
  await here.start()
  await wake()
  const [run] = waitingRuns(github)
  if (!run) throw new Error('nothing runs')
  await measuringJob(github, run)
  const { runs } = github.world
  const anothers = { ...run, id: Math.max(...runs.map(({ id }) => id)) + 1, event: 'pull_request' }
  runs.push(anothers)
  for (let left = 0; left < 120; left++) github.upload(anothers, parcelName(run.title), new Uint8Array(1))
  await wake()
  expect((await here.events()).map(({ kind }) => kind)).toContain('measured')
})
