import { expect, it } from 'vitest'
import { shorter } from '../support/size-repository.ts'
import { createActionsRepository, type ActionsRepository } from './actions-repository.ts'
import type { RunRecord } from './emulator/world.ts'
import { waitingRuns } from './measuring-job.ts'
import { releaseTest } from '../support/cases.ts'

const THINKER = '{ use: command, command: think, name: thinker }'
const HOUR = 3_600_000
const ASKS = { propose: true }

function nextRun({ github }: ActionsRepository): RunRecord | null {
  const [run = null, ...others] = waitingRuns(github)
  if (others.length > 0) throw new Error('two runs wait')
  if (run !== null) run.status = 'in_progress'
  return run
}

it('a job that never gets to ask programs starts few runs, rests, and is tried again later', async () => {
  const propose = `propose: [${THINKER}]\nmerge: { forgeable: allow }\nexecution: { mode: serial }`
  const repository = await createActionsRepository([], { spec: text => text.replace(/propose: .*/, propose) })
  const here = await repository.openClient()
  await here.start()
  while ((await repository.wake({ run: 900, next: ASKS })).for === 'orders') await repository.machines()
  async function settle(run: Pick<RunRecord, 'id'>, ahead: number): Promise<void> {
    const proposed = { status: 'failure', digest: null }
    await repository.settleOf(run, { proposed }, { has: ASKS, ahead })
  }
  async function untilRest(first: Pick<RunRecord, 'id'>, ahead: number): Promise<number> {
    let run: Pick<RunRecord, 'id'> = first
    for (let runs = 1; runs < 20; runs++) {
      await settle(run, ahead)
      const next = nextRun(repository)
      if (next === null) return runs
      await repository.tickOf(next, { next: ASKS, ahead })
      repository.github.finish(next, 'failure')
      run = next
    }
    throw new Error('it never rests')
  }
  expect(await untilRest({ id: 900 }, 0)).toBe(3)
  expect((await here.campaign()).alerts).toMatchObject([{ code: 'asking-failed' }])
  await repository.wake({ run: 901, next: ASKS, ahead: HOUR / 2 })
  expect((await here.campaign()).proposal_requests).toEqual({})
  // An hour later once more, and then two hours later.
  await repository.wake({ run: 902, next: ASKS, ahead: 1.1 * HOUR })
  expect(await untilRest({ id: 902 }, 1.1 * HOUR)).toBe(1)
  await repository.wake({ run: 903, next: ASKS, ahead: 2.5 * HOUR })
  expect((await here.campaign()).proposal_requests).toEqual({})
  await here.person({ kind: 'campaign-resumed', reason: 'the secret is there' })
  await repository.wake({ run: 904, next: ASKS, ahead: 2.5 * HOUR })
  expect(Object.values((await here.campaign()).proposal_requests)).toHaveLength(1)
  expect((await here.campaign()).alerts).toEqual([])
})

releaseTest(
  'measuring jobs that never leave a report start few runs, and ideas are measured once they do',
  async () => {
    const ideas = [shorter('a', 3), shorter('b', 4), shorter('c', 5)]
    const repository = await createActionsRepository(ideas, { spec: 'execution: { mode: serial }\n' })
    const here = await repository.openClient()
    await here.start()
    await repository.wake()
    await repository.machines()
    let runs = 0
    for (let run = nextRun(repository); run !== null; run = nextRun(repository)) {
      if (++runs > 20) throw new Error('it never rests')
      const orders = await repository.tickOf(run)
      const nothing = { status: 'failure', digest: null }
      await repository.settleOf(run, { measured: new Map(orders.map(order => [order, nothing])) })
      repository.github.finish(run, 'failure')
    }
    expect(runs).toBe(10)
    const campaign = await here.campaign()
    expect(campaign.alerts).toMatchObject([{ code: 'measuring-failed' }])
    expect(campaign.status).toBe('running')
    expect(await repository.wake()).toEqual({
      for: 'person',
      what: expect.stringMatching(/^10 measuring runs in a row left no usable report/),
    })
    expect(waitingRuns(repository.github)).toEqual([])
    await repository.wake({ ahead: 1.1 * HOUR })
    await repository.machines()
    await repository.settle()
    expect((await here.campaign()).alerts).toEqual([])
    expect(Object.values(await here.outcomes())).toContain('kept')
  },
)
