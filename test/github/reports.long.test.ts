import { expect, test } from 'vitest'
import type { EndedJob } from '../../src/engine/jobs/github-runs.ts'
import type { OrderId } from '../../src/model/ids.ts'
import { getArtifactFileName, getArtifactName } from '../../src/model/job-file.ts'
import { shorter } from '../support/size-repository.ts'
import { createActionsRepository, type ActionsRepository } from './actions-repository.ts'
import type { RunRecord } from './emulator/world.ts'
import { leave, measuredIn, uploadFile, waitingRuns } from './measuring-job.ts'
import { releaseTest } from '../support/cases.ts'

interface Job {
  github: ActionsRepository['github']
  run: RunRecord
  order: OrderId
}
type Leaving = (job: Job) => Promise<EndedJob>

/** What the job of an order may leave that measures nothing, and what a person reads about it. */
const LEFT: Record<string, { leaves: Leaving; kind: 'order-lost' | 'report-rejected'; reason: RegExp }> = {
  nothing: {
    leaves: async () => ({ status: 'failure', digest: null }),
    kind: 'order-lost',
    reason: /^its job in workflow run \d+ ended \(failure\) and left no report$/,
  },
  'nothing, for it never had a machine': {
    leaves: async () => ({ status: '', digest: null }),
    kind: 'order-lost',
    reason: /^its job in workflow run \d+ ended \(not started\) and left no report$/,
  },
  'a report, and failed': {
    leaves: async ({ github, run, order }) => ({
      ...leave(github, run, order, await measuredIn(github, run, order)),
      status: 'failure',
    }),
    kind: 'order-lost',
    reason: /its partial report is lost: its run has no artifact partial-/,
  },
  'a digest of what is not there': {
    leaves: async () => ({ status: 'success', digest: 'd'.repeat(64) }),
    kind: 'report-rejected',
    reason: /^its run has no artifact report-/,
  },
  'its report twice': {
    async leaves({ github, run, order }) {
      const report = await measuredIn(github, run, order)
      leave(github, run, order, report)
      return leave(github, run, order, report)
    },
    kind: 'report-rejected',
    reason: /^its run has 2 artifacts called report-/,
  },
  'a report that a sibling has replaced': {
    async leaves({ github, run, order }) {
      const report = await measuredIn(github, run, order)
      const own = leave(github, run, order, report)
      github.world.artifacts.pop()
      leave(github, run, order, { ...report, flags: [] })
      return own
    },
    kind: 'report-rejected',
    reason: /it is not the archive that its job uploaded: the digests differ/,
  },
  'the report of another run': {
    leaves: async ({ github, run, order }) =>
      leave(github, run, order, { ...(await measuredIn(github, run, order)), run_id: 'actions:1/1' }),
    kind: 'report-rejected',
    reason: /^the file of report is from run actions:1\/1, not actions:\d+\/1$/,
  },
  'no JSON': {
    leaves: async ({ github, run, order }) => leave(github, run, order, '{'),
    kind: 'report-rejected',
    reason: /^the file of report holds no JSON$/,
  },
  'ten megabytes': {
    leaves: async ({ github, run, order }) =>
      leave(github, run, order, JSON.stringify({ order: 'x'.repeat(10_000_000) })),
    kind: 'report-rejected',
    reason: /larger than 4194304 bytes/,
  },
  'a file of another name': {
    async leaves({ github, run, order }) {
      const name = getArtifactName('report', order)
      return { status: 'success', digest: uploadFile(github, run, { name, file: 'evil.json', text: '{}' }) }
    },
    kind: 'report-rejected',
    reason: /it holds "evil\.json" instead of [0-9a-f]{64}\.json alone/,
  },
  'a text of megabytes': {
    leaves: async ({ github, run, order }) =>
      leave(github, run, order, {
        ...(await measuredIn(github, run, order)),
        runner_error: 'x'.repeat(2_000_000),
      }),
    kind: 'report-rejected',
    reason: /^entries\.0\.report\.runner_error has more than 65536 characters$/,
  },
  'a name that is a book': {
    async leaves({ github, run, order }) {
      const report = await measuredIn(github, run, order)
      const executions = report.executions.map(each => ({
        ...each,
        metrics: { ...each.metrics, ['m'.repeat(70_000)]: 1 },
      }))
      return leave(github, run, order, { ...report, executions })
    },
    kind: 'report-rejected',
    reason: /^a name in entries\.0\.report\.executions\.0\.metrics has more than 65536 characters$/,
  },
  'another tree': {
    async leaves({ github, run, order }) {
      const report = await measuredIn(github, run, order)
      const trees = { ...report.trees, base: 'f'.repeat(40) }
      return leave(github, run, order, { ...report, trees })
    },
    kind: 'report-rejected',
    reason: /^base was tree f{40}, the order says /,
  },
}

test('whatever a job leaves that is no report of its order is told, measures nothing, and blames nobody', async () => {
  const repository = await createActionsRepository([shorter('a', 3)])
  const { github, openClient, wake, settle } = repository
  const here = await openClient()
  await here.start()
  let wakes = 0
  const LONGEST_REST = 13 * 3_600_000
  for (const [name, left] of Object.entries(LEFT)) {
    // After losses in a row the next one starts later.
    const ahead = ++wakes * LONGEST_REST
    if (waitingRuns(github).length === 0) await wake({ ahead })
    const [run, ...others] = waitingRuns(github)
    if (!run) throw new Error(`${name}: nothing runs`)
    expect(others).toEqual([])
    const [order = ''] = await repository.tickOf(run, { ahead })
    const job = await left.leaves({ github, run, order })
    await repository.settleOf(run, { measured: new Map([[order, job]]) }, { ahead })
    github.finish(run, 'success')
    const told = (await here.events()).findLast(
      event => 'order' in event && event.order === order && event.kind !== 'order-dispatched',
    )
    expect([name, told]).toEqual([
      name,
      expect.objectContaining({ kind: left.kind, reason: expect.stringMatching(left.reason) }),
    ])
  }
  expect(await here.kinds()).not.toContain('measured')
  expect(JSON.stringify(await here.events()).length).toBeLessThan(300_000)
  await wake({ ahead: (wakes + 2) * LONGEST_REST })
  await settle()
  expect(await here.outcomes()).toEqual({ a3: 'kept' })
})

releaseTest('a report is found, however many artifacts other jobs of its run leave', async () => {
  const repository = await createActionsRepository([shorter('a', 3)])
  const { github, openClient, wake } = repository
  const here = await openClient()
  await here.start()
  await wake()
  const [run] = waitingRuns(github)
  if (!run) throw new Error('nothing runs')
  const [order = ''] = await repository.tickOf(run)
  for (let left = 0; left < 120; left++) github.upload(run, `noise-${left}`, new Uint8Array(1))
  const job = leave(github, run, order, await measuredIn(github, run, order))
  await repository.settleOf(run, { measured: new Map([[order, job]]) })
  expect(await here.kinds()).toContain('measured')
  expect(getArtifactFileName('report', order)).toBe(`${order}.json`)
})
