import { describe, expect, it } from 'vitest'
import { computeEventId } from '../../src/model/event.ts'
import type { JudgingEnd } from '../../src/model/event-schemas.ts'
import { computeJudgingMinutes, recordScores } from '../../src/plan/judging.ts'
import { closeLostRequests } from '../../src/plan/requests.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { JobFacts, JudgedScores, World } from '../../src/plan/world.ts'
import { type CampaignBuilder, unprepared } from './a-campaign.ts'
import { carryOut, draftsOf, draftsOfKind, settle, world } from './a-world.ts'
import { judgedSpec } from './judged-spec.ts'

const CAP = 8
const JUDGED = judgedSpec(CAP)

const ELSEWHERE = { runId: null, machine: null, external: true }
const NOW = Date.parse('2026-01-01T01:00:00Z')

/** What a job on GitHub sees: every order that was issued has been measured, and printed items. */
function seen(
  built: CampaignBuilder,
  judges: Partial<JobFacts> = {},
  minutes = 0,
): Partial<Omit<World, 'candidates'>> {
  const runs = new Map(
    Object.values(built.campaign.orders)
      .filter(({ report }) => report === null)
      .map(({ order }) => [order.id, { state: 'printed', runId: 'run-1', digest: 'd'.repeat(64) } as const]),
  )
  const now = new Date(NOW + minutes * 60_000).toISOString()
  return { now, runner: ELSEWHERE, runs, judgeJob: true, ...judges }
}

/** Its first order is measured, and a job was asked to have it scored. */
function asked(): CampaignBuilder {
  const built = unprepared(JUDGED)
  settle(built, () => ({ runner: ELSEWHERE }))
  carryOut(built, seen(built))
  return built
}

const open = (built: CampaignBuilder) => Object.values(built.campaign.judging)
const keyOf = (built: CampaignBuilder) => open(built)[0]?.key ?? ''
const orderOf = (built: CampaignBuilder) => Object.values(built.campaign.orders)[0]?.order.id ?? ''

function told(built: CampaignBuilder, is: JudgingEnd | null, usd = 0.5): JudgedScores {
  const record = { judge: 0, item: 'q1', side: 'base', time: 1, scores: { quality: 3 } } as const
  const ended = is === null ? null : { is, reason: 'so it was' }
  const cost = { model: 'm', requests: 1, tokens: 10, usd }
  return { key: keyOf(built), order: orderOf(built), records: [record], ...cost, ended }
}

describe('orders that a job of its own has scored', () => {
  it('stand in the ledger before a model is asked, with what that may cost, and once', () => {
    const built = unprepared(JUDGED)
    settle(built, () => ({ runner: ELSEWHERE }))
    const twice = [1, 2].map(() => draftsOf(planCampaign(world(built, seen(built)))).map(computeEventId))
    expect(twice[0]).toEqual(twice[1])
    const [asking, ...more] = draftsOfKind(carryOut(built, seen(built)), 'judging-requested')
    expect(more).toEqual([])
    expect(asking).toMatchObject({ order: orderOf(built), may_cost_usd: CAP / 4 })
    expect(asking?.key).toMatch(/^judging:[0-9a-f]{16}$/)
    expect(Date.parse(asking?.until ?? '')).toBeGreaterThan(NOW + computeJudgingMinutes(built.spec) * 60_000)
    const again = planCampaign(world(built, seen(built)))
    expect(again.actions).toEqual([])
    expect(again.waiting).toEqual({ for: 'judges', orders: [orderOf(built)], reason: null })
  })

  it('are asked about only where a job follows that asks, and never on one machine', () => {
    const built = unprepared(JUDGED)
    settle(built, () => ({ runner: ELSEWHERE }))
    const planned = settle(built, () => seen(built, { judgeJob: false }))
    expect(planned.waiting).toMatchObject({ for: 'judges' })
    expect(open(built)).toEqual([])
  })

  it('are never lost for want of time: they were measured in time', () => {
    const built = asked()
    const much = planCampaign(world(built, seen(built, {}, 60 * 24 * 30)))
    expect(draftsOfKind(much, 'order-lost')).toEqual([])
    const measured = Object.values(built.campaign.orders)[0]?.order.deadline ?? ''
    expect(Date.parse(measured)).toBeLessThan(NOW + 60 * 24 * 30 * 60_000)
  })

  it('keep what they were told, and go on at once where time or money of one job was up', () => {
    for (const is of ['late', 'set-aside'] as const) {
      const built = asked()
      carryOut(built, seen(built, { judgeJob: false, scores: [told(built, is)] }))
      expect(open(built)).toEqual([])
      expect(built.campaign.orders[orderOf(built)]?.scores).toMatchObject({ usd: 0.5, failures: 0 })
      expect(built.campaign.spent.usd).toBe(0.5)
      const [next] = draftsOfKind(carryOut(built, seen(built)), 'judging-requested')
      // Who needed more than a part gets all that is left.
      expect(next?.may_cost_usd).toBe(is === 'late' ? (CAP - 0.5) / 4 : CAP - 0.5)
      carryOut(built, seen(built, { judgeJob: false, scores: [told(built, null)] }))
      const { records, requests } = built.campaign.orders[orderOf(built)]?.scores ?? {}
      expect([records?.length, requests]).toEqual([2, 2])
    }
  })

  it('rest longer each time no model could be asked, say so once, and roll nothing again', () => {
    const built = asked()
    let minutes = 0
    const waits: number[] = []
    for (let failed = 0; failed < 8; failed++) {
      const facts = { judgeJob: false, scores: [told(built, 'refused', 0)] }
      const step = carryOut(built, seen(built, facts, minutes))
      expect(draftsOfKind(step, 'alert')).toHaveLength(failed === 0 ? 1 : 0)
      expect(draftsOfKind(step, 'spent')).toMatchObject([{ ok: false }])
      const began = Date.parse(built.campaign.updated_at ?? '')
      const due = (at: number) =>
        draftsOfKind(planCampaign(world(built, seen(built, {}, (at - NOW) / 60_000))), 'judging-requested')
          .length > 0
      const waited = [10, 20, 40, 80, 160, 320, 360].find(each => due(began + each * 60_000)) ?? 0
      expect(due(began + (waited - 1) * 60_000)).toBe(false)
      waits.push(waited)
      minutes = (began - NOW) / 60_000 + waited
      carryOut(built, seen(built, {}, minutes))
      expect(open(built)).toHaveLength(1)
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 360, 360])
    expect(Object.keys(built.campaign.orders)).toHaveLength(1)
    expect(planCampaign(world(built, seen(built, {}, minutes))).waiting).toMatchObject({
      reason: 'so it was',
    })
  })

  it('count with what was set aside where nobody tells, in time or at all', () => {
    const overdue = asked()
    carryOut(overdue, seen(overdue, {}, 60 * 24))
    const silent = asked()
    carryOut(silent, seen(silent, { lost: [{ key: keyOf(silent), reason: 'its job gave none' }] }))
    for (const built of [overdue, silent]) {
      expect(built.campaign.spent.usd).toBe(CAP / 4)
      expect(built.events.map(({ kind }) => kind)).toContain('judging-lost')
      expect(built.campaign.alerts).toMatchObject([{ code: 'judging-failed' }])
    }
  })

  it('are asked about once more at once where a job was lost, and later where a second one is', () => {
    const built = asked()
    const lose = () =>
      carryOut(built, seen(built, { lost: [{ key: keyOf(built), reason: 'its job gave none' }] }))
    const asksAfter = (rest: number) => {
      const minutes = (Date.parse(built.campaign.updated_at ?? '') - NOW) / 60_000 + rest
      return draftsOfKind(planCampaign(world(built, seen(built, {}, minutes))), 'judging-requested').length
    }
    lose()
    expect([open(built), asksAfter(0)]).toEqual([[], 1])
    carryOut(built, seen(built))
    lose()
    expect([open(built), asksAfter(0), asksAfter(20)]).toEqual([[], 0, 1])
    expect(built.events.filter(({ kind }) => kind === 'judging-lost')).toHaveLength(2)
    expect(Object.values(built.campaign.orders)).toMatchObject([{ report: null }])
  })

  it('are taken in late rather than lost, and not both', () => {
    const built = asked()
    const late = world(built, seen(built, { scores: [told(built, null)] }, 60 * 24))
    expect(closeLostRequests(late)).toEqual([])
    expect(recordScores(late).map(step => step.step === 'event' && step.draft.kind)).toEqual([
      'judged',
      'spent',
    ])
  })

  it('never have more set aside together than is left, however many wait', () => {
    const built = unprepared(JUDGED)
    settle(built, () => ({ runner: ELSEWHERE }))
    const cost = { what: 'judge', who: 'm', ok: true, minutes: 0, requests: 1, tokens: 1 } as const
    built.add({ kind: 'spent', cause: 'earlier', ...cost, usd: CAP - 0.4 })
    for (let lost = 0; lost < 40; lost++) {
      carryOut(built, seen(built, {}, lost * 60 * 24))
      const aside = open(built).reduce((sum, { may_cost_usd }) => sum + (may_cost_usd ?? 0), 0)
      expect(built.campaign.spent.usd + aside).toBeLessThanOrEqual(CAP + 1e-9)
    }
    expect(built.campaign.status).toBe('running')
  })

  it('rest with a campaign that is paused, unless a job is at them', () => {
    const built = unprepared(JUDGED)
    settle(built, () => ({ runner: ELSEWHERE }))
    const pause = { kind: 'campaign-paused', source: 'person', reason: 'a rest' } as const
    built.add({ ...pause, cause: 'pause 1' })
    const paused = settle(built, () => seen(built))
    expect(built.events.map(({ kind }) => kind)).not.toContain('judging-requested')
    expect(paused.waiting).toMatchObject({ for: 'person', what: 'the campaign is paused: a rest' })
    const busy = asked()
    busy.add({ ...pause, cause: 'pause 2' })
    expect(planCampaign(world(busy, seen(busy))).waiting).toMatchObject({ for: 'judges' })
    // What it was told is taken in all the same.
    carryOut(busy, seen(busy, { judgeJob: false, scores: [told(busy, null)] }))
    expect([open(busy), busy.campaign.spent.usd]).toEqual([[], 0.5])
  })

  it('stop the campaign where the money is gone', () => {
    const built = asked()
    settle(built, () => {
      const waits = open(built).length > 0
      return seen(built, { judgeJob: false, scores: waits ? [told(built, 'set-aside', CAP)] : [] })
    })
    expect(built.campaign).toMatchObject({ status: 'stopped', stop_code: 'max_judge_cost_usd' })
  })

  it('are forgotten with their order; what they cost is not', () => {
    const built = asked()
    const answer = told(built, null)
    built.add({ kind: 'order-lost', cause: 'x', order: orderOf(built), started: true, reason: 'gone' })
    const lost = asked()
    lost.add({ kind: 'order-lost', cause: 'x', order: orderOf(lost), started: true, reason: 'gone' })
    carryOut(built, { ...seen(built, { judgeJob: false, scores: [{ ...answer, records: [] }] }) })
    expect([open(built), built.campaign.spent.usd]).toEqual([[], 0.5])
    // Nothing of it is tried again, so that nobody is told so.
    carryOut(lost, seen(lost, {}, 60 * 24))
    expect([open(lost), lost.campaign.spent.usd, lost.campaign.alerts]).toEqual([[], CAP / 4, []])
  })
})
