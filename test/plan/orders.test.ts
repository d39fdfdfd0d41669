import { describeInterruptions } from '../../src/plan/landing.ts'
import { describe, expect, it } from 'vitest'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { computeEventId } from '../../src/model/event.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { RunFacts } from '../../src/plan/world.ts'
import { aSpec } from '../decide/a-spec.ts'
import { type CampaignBuilder, campaign, SPEC, unprepared } from './a-campaign.ts'
import { actionsOf, carryOut, draftsOfKind, settle, stepsOf, world } from './a-world.ts'

const ONE = () => campaign().withExperiment().ordered()

function runsOf(built: CampaignBuilder, facts: RunFacts): Map<string, RunFacts> {
  return new Map(Object.keys(built.campaign.orders).map(id => [id, facts]))
}

describe('an order', () => {
  it('is issued with its event first, and dispatched after that event', () => {
    const planned = planCampaign(world(campaign().withExperiments(2)))
    expect(planned.actions.map(({ do: what }) => what)).toEqual(['commit', 'dispatch', 'dispatch'])
    const issued = draftsOfKind(planned, 'order-issued')
    expect(actionsOf(planned, 'dispatch').map(({ order }) => order)).toEqual(issued.map(computeEventId))
    expect(draftsOfKind(planned, 'order-dispatched').map(({ run_id }) => run_id)).toEqual(['run-1', 'run-1'])
  })

  it('carries trees, ruler and coins nobody could know before', () => {
    const built = campaign().withExperiment()
    const { incumbent, pin, harness, spec_sha256 } = built.campaign
    const [first] = draftsOfKind(planCampaign(world(built)), 'order-issued')
    expect(first).toMatchObject({ base: incumbent, pin, harness, spec_sha256, attempt: 1, round: 1 })
    const [other] = draftsOfKind(planCampaign(world(built, { entropy: hashSha256('other') })), 'order-issued')
    expect(other?.coins).not.toBe(first?.coins)
  })

  it('has its deadline after those before it on the same machine', () => {
    const deadlineOf = (count: number) =>
      Date.parse(
        draftsOfKind(planCampaign(world(campaign().withExperiments(count))), 'order-issued').at(-1)
          ?.deadline ?? '',
      )
    const now = Date.parse(world(campaign()).now)
    expect(deadlineOf(4) - now).toBe(4 * (deadlineOf(1) - now))
  })

  it('has its deadline after the models that this machine asks for an idea', () => {
    const built = campaign(`${SPEC}stopping: { max_total_cost_usd: 8 }\n`).withExperiments(4)
    const { propose } = aSpec({ propose: [{ use: 'textgrad' }] })
    const deadlineOf = (...asking: string[]) => {
      const planned = planCampaign(world(built, { asking, spec: { ...built.spec, propose } }))
      return Date.parse(draftsOfKind(planned, 'order-issued').at(-1)?.deadline ?? '')
    }
    expect(deadlineOf('textgrad') - deadlineOf()).toBe(1_800_000)
  })

  it('elsewhere may wait for a machine as long as a day, and waits for no other', () => {
    const runner = { runId: null, machine: null, external: true }
    const here = draftsOfKind(planCampaign(world(campaign().withExperiments(1))), 'order-issued')[0]
    const there = draftsOfKind(
      planCampaign(world(campaign().withExperiments(4), { runner })),
      'order-issued',
    ).at(-1)
    const day = Date.parse(there?.deadline ?? '') - Date.parse(here?.deadline ?? '')
    expect(day).toBe(24 * 3_600_000)
  })

  it('elsewhere has its run written down when that is known, once', () => {
    const runner = { runId: null, machine: null, external: true }
    const built = campaign().withExperiment()
    carryOut(built, { runner, runs: new Map() })
    expect(built.campaign.orders[built.order('exp-001').id]?.run_id).toBeNull()
    const runs = runsOf(built, { state: 'running', runId: 'actions:7/1' })
    const planned = carryOut(built, { runner, runs })
    expect(draftsOfKind(planned, 'order-dispatched')).toMatchObject([{ run_id: 'actions:7/1' }])
    expect(stepsOf(planCampaign(world(built, { runner, runs })))).toEqual([])
  })

  it('is waited for while it runs', () => {
    const built = ONE()
    expect(planCampaign(world(built))).toEqual({
      actions: [],
      waiting: { for: 'orders', orders: [built.order('exp-001').id] },
    })
  })
})

describe('an order whose process is gone', () => {
  it('is dispatched again unchanged, coins and all, if no execution had started', () => {
    const built = ONE()
    const order = built.order('exp-001')
    const runs = runsOf(built, { state: 'gone', started: false, runId: 'run-1' })
    const planned = carryOut(built, { runs, runner: { runId: 'run-2', machine: null, external: true } })
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    expect(draftsOfKind(planned, 'order-dispatched')).toMatchObject([{ order: order.id, run_id: 'run-2' }])
    expect(actionsOf(planned, 'dispatch')).toEqual([{ do: 'dispatch', order: order.id }])
    expect(built.order('exp-001')).toEqual(order)
  })

  it('is dispatched again by the process that recorded it, without another event', () => {
    const built = ONE()
    const planned = planCampaign(
      world(built, { runs: runsOf(built, { state: 'gone', started: false, runId: 'run-1' }) }),
    )
    expect(planned.actions).toEqual([{ do: 'dispatch', order: built.order('exp-001').id }])
  })

  it('is lost if one had started: it is issued again unchanged, and not proven after five losses', () => {
    const built = ONE()
    const { id, coins } = built.order('exp-001')
    const gone = () => runsOf(built, { state: 'gone', started: true, runId: 'run-1' })
    expect(draftsOfKind(carryOut(built, { runs: gone() }), 'order-lost')).toMatchObject([
      { order: id, started: true },
    ])
    carryOut(built)
    expect(built.order('exp-001')).toMatchObject({ attempt: 1, round: 1, coins, resumes: { order: id } })
    for (let loss = 2; loss <= 5; loss++) {
      carryOut(built, { runs: gone() })
      carryOut(built)
    }
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'not-proven',
      verdict: 'not proven',
      reason: describeInterruptions(5),
    })
    expect(built.campaign).toMatchObject({ failures: 0, ended: 0 })
    settle(built)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'ordered', resumed: 1, interrupted: 0 })
    expect(built.order('exp-001').coins).toBe(coins)
  })

  it('is left alone until its deadline where nothing is known about it', () => {
    const built = ONE()
    const late = new Date(Date.parse(built.order('exp-001').deadline) + 1).toISOString()
    expect(planCampaign(world(built, { runs: new Map() })).waiting).toMatchObject({ for: 'orders' })
    const planned = planCampaign(world(built, { runs: new Map(), now: late }))
    expect(draftsOfKind(planned, 'order-lost')[0]?.reason).toContain('no report by its deadline')
    expect(actionsOf(planned, 'cancel')).toHaveLength(1)
  })

  it('elsewhere whose run gets no machine is said so once for its run, while it waits on', () => {
    const runner = { runId: null, machine: null, external: true }
    const built = campaign().withExperiments(2)
    carryOut(built, { runner, runs: new Map() })
    const runs = runsOf(built, { state: 'running', runId: 'actions:7/1' })
    carryOut(built, { runner, runs })
    const ahead = (hours: number) =>
      new Date(Date.parse(built.order('exp-001').deadline) + 3_600_000 * hours).toISOString()
    expect(draftsOfKind(planCampaign(world(built, { runner, runs, now: ahead(-25) })), 'alert')).toEqual([])
    const planned = carryOut(built, { runner, runs, now: ahead(-23) })
    expect(draftsOfKind(planned, 'alert')).toMatchObject([
      {
        code: 'no-machine',
        about: 'actions:7/1',
        message: expect.stringMatching(
          /^workflow run 7 has not delivered a report since .*waits for a machine/,
        ),
      },
    ])
    expect(renderCampaignPullBody(built.campaign)).toContain(
      '**Needs you:** Workflow run 7 has not delivered a report',
    )
    const later = planCampaign(world(built, { runner, runs, now: ahead(-1) }))
    expect([later.actions, later.waiting]).toMatchObject([[], { for: 'orders' }])
    const lost = planCampaign(world(built, { runner, runs, now: ahead(1) }))
    expect(draftsOfKind(lost, 'order-lost')).toHaveLength(2)
  })

  it('is not dispatched while the campaign is paused, and nobody waits for it', () => {
    const built = ONE().add({ kind: 'campaign-paused', cause: 'nonce', reason: 'lunch', source: 'person' })
    const runs = runsOf(built, { state: 'gone', started: false, runId: 'run-1' })
    expect(planCampaign(world(built, { runs }))).toEqual({
      actions: [],
      waiting: { for: 'person', what: 'the campaign is paused: lunch' },
    })
  })
})

describe('a report', () => {
  const reported = (built: CampaignBuilder, rest: object, runId = 'run-1') => {
    const order = built.order('exp-001')
    const report = built.answer(order, { candidate: { bytes: 8 } })
    return planCampaign(
      world(built, {
        runs: new Map([[order.id, { state: 'reported', runId, report: { ...report, ...rest } }]]),
      }),
    )
  }

  it('is taken when it follows the coins of its order', () => {
    expect(draftsOfKind(reported(ONE(), {}), 'measured')).toHaveLength(1)
  })

  it.each([
    ['another harness', { harness: 'd'.repeat(64) }, 'harness'],
    ['another tree', { trees: { base: 'd'.repeat(40) } }, 'base was tree'],
    ['another order', { order: 'd'.repeat(64) }, 'it answers order'],
  ])('of %s is rejected', (_, rest, reason) => {
    const planned = reported(ONE(), rest)
    expect(draftsOfKind(planned, 'measured')).toEqual([])
    expect(draftsOfKind(planned, 'report-rejected')[0]?.reason).toContain(reason)
  })

  it('of another run is rejected', () => {
    expect(draftsOfKind(reported(ONE(), {}, 'run-9'), 'report-rejected')[0]?.reason).toContain(
      'from run run-9',
    )
  })

  it('that does not follow the coins is rejected, and the order counts as lost', () => {
    const built = ONE()
    const order = built.order('exp-001')
    const { executions } = built.answer(order)
    const planned = reported(built, { executions: executions.toReversed() })
    expect(draftsOfKind(planned, 'report-rejected')[0]?.reason).toContain('do not follow the coins')
    for (const step of stepsOf(planned)) if (step.step === 'event') built.add(step.draft)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'queued', interrupted: 1 })
  })

  it('that cannot be read is rejected', () => {
    const built = ONE()
    const planned = planCampaign(
      world(built, { runs: runsOf(built, { state: 'unreadable', runId: 'run-1', reason: 'not JSON' }) }),
    )
    expect(draftsOfKind(planned, 'report-rejected')).toMatchObject([{ reason: 'not JSON', run_id: 'run-1' }])
  })

  it('after the order was lost changes nothing', () => {
    const built = ONE()
    const order = built.order('exp-001')
    const report = built.answer(order, { candidate: { bytes: 8 } })
    built.lost('exp-001')
    const before = structuredClone(built.campaign)
    built.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report })
    const { seq, updated_at } = built.campaign
    expect(built.campaign).toEqual({ ...before, seq, updated_at })
  })
})

describe('before the first experiment', () => {
  it('the incumbent is calibrated, which is its baseline too', () => {
    const built = unprepared().withExperiment()
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { purpose: 'calibration', candidates: [] },
    ])
    built.measured()
    expect(carryOut(built).actions).toHaveLength(1)
    expect(built.campaign).toMatchObject({
      calibration: { deterministic: true },
      origin: { snapshot: { sample_count: 3 } },
    })
  })

  it('a noisy metric is measured against itself, in two jobs, before any experiment', () => {
    const built = unprepared()
    carryOut(built)
    built.measured({ calibration: { base: 'varies' } })
    expect(draftsOfKind(carryOut(built), 'calibrated')).toMatchObject([{ deterministic: false, noise: null }])
    const twin = {
      purpose: 'calibration',
      candidates: [{ label: 'base-copy' }],
      stop: { rule: 'pairs', pairs: 8 },
    }
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ ...twin, earlier_jobs: {} }])
  })

  it('a base that does not work pauses; resuming measures it again', () => {
    const built = unprepared()
    carryOut(built)
    built.measured({ calibration: { base: 'gate-fails' } })
    settle(built)
    expect(built.campaign).toMatchObject({ status: 'paused', status_reason: expect.stringContaining('gate') })
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: 'mended' })
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { purpose: 'calibration', attempt: 1 },
    ])
  })

  it('a runner that fails is tried max_attempts times', () => {
    const built = unprepared()
    for (const attempt of [1, 2, 3]) {
      expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ attempt }])
      built.measured({ calibration: { runner_error: 'disk full' } })
    }
    settle(built)
    expect(built.campaign.status_reason).toContain('disk full (3 attempts)')
  })

  it('a calibration that is lost again and again never pauses: elsewhere it is asked for once an hour', () => {
    const built = unprepared()
    for (let times = 0; times < 9; times++) {
      expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([{ attempt: 1 }])
      carryOut(built, { runs: runsOf(built, { state: 'gone', started: true, runId: 'run-1' }) })
    }
    expect(built.campaign).toMatchObject({ status: 'running', interruptions: { calibration: { times: 9 } } })
    const elsewhere = { runId: null, machine: null, external: true }
    const lostAt = built.campaign.updated_at ?? ''
    expect(
      draftsOfKind(planCampaign(world(built, { runner: elsewhere, now: lostAt })), 'order-issued'),
    ).toEqual([])
    const later = new Date(Date.parse(lostAt) + 3_600_000).toISOString()
    const again = planCampaign(world(built, { runner: elsewhere, now: later }))
    expect(draftsOfKind(again, 'order-issued')).toHaveLength(1)
  })
})
