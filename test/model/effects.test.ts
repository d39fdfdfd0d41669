import { describe, expect, it } from 'vitest'
import { computeEventId, type EventDraft } from '../../src/model/event.ts'
import { getProgressJobs } from '../../src/model/fold/orders.ts'
import { type Order, buildOrderSubject } from '../../src/model/order.ts'
import { type CampaignBuilder, campaign, pointOf, START } from '../plan/a-campaign.ts'

const AFTER = pointOf('after')
const STOP: Order['stop'] = { rule: 'pairs', metrics: ['bytes'], scale: 'log', pairs: 8 }
const INCUMBENT = [{ label: 'incumbent' as const, head: AFTER.commit, tree: AFTER.tree }]

function landed(): CampaignBuilder {
  const built = campaign().withExperiment()
  const { commit, tree } = AFTER
  const proof = { seq: 0, sha256: computeEventId({ kind: 'note', cause: '', text: '', experiment: null }) }
  const head = built.experiment('exp-001').head ?? ''
  const merged = { experiment: 'exp-001', commit, tree, base: START, head, results: null, pull: null }
  return built.add(
    { kind: 'merged', cause: 'landing', ...merged, decided: proof },
    { kind: 'incumbent-moved', cause: 'landing', from: START, to: AFTER, why: 'merged' },
  )
}

function measuredFor(built: CampaignBuilder, purpose: Order['purpose'], rest: object = {}): Order {
  const earlier_jobs = { incumbent: getProgressJobs(built.campaign, { from: START, to: AFTER }) }
  const order = built.issue({ purpose, base: START, candidates: INCUMBENT, stop: STOP, earlier_jobs })
  const report = { ...built.answer(order), ...rest }
  built.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report })
  return order
}

function effect(
  order: Order,
  what: EventDraft<'effect-measured'>['what'],
  state: EventDraft<'effect-measured'>['state'] = null,
): EventDraft {
  const numbers = { metric: 'bytes', scale: 'log', effect: 0.1, interval: null, pairs: 8 } as const
  const about = { experiment: what === 'progression' ? null : 'exp-001', from: START, to: AFTER }
  return {
    kind: 'effect-measured',
    cause: 'report',
    what,
    order: order.id,
    ...about,
    ...numbers,
    state,
    reason: '',
  }
}

describe('a measured effect', () => {
  it('of a landing is stored with it, and its order is dropped', () => {
    const built = landed()
    const order = measuredFor(built, 'effect')
    built.add(effect(order, 'landing'))
    expect(built.campaign.landings[0]?.effect).toMatchObject({ order: order.id, effect: 0.1, pairs: 8 })
    expect(built.campaign.orders).toEqual({})
  })

  it('of a watched landing adds its job to the earlier ones, with its time', () => {
    const built = landed()
    const [landing] = built.campaign.landings
    expect(landing?.watch).toMatchObject({ state: 'open', jobs: [] })
    built.add(effect(measuredFor(built, 'regression'), 'watch', 'clear'))
    expect(landing?.watch).toMatchObject({ state: 'clear', jobs: [{ complete: true }] })
    expect(Date.parse(landing?.watch.at ?? '')).toBeGreaterThan(Date.parse(built.events[0]?.at ?? ''))
  })

  it('of the campaign ends its jobs when the last one is measured', () => {
    const built = landed()
    for (let part = 0; part < 8; part++) {
      const order = measuredFor(built, 'progression')
      expect(built.campaign.progressing?.jobs).toHaveLength(part + 1)
      if (part > 0 && part < 7) continue
      built.add(effect(order, 'progression'))
      expect(built.campaign.progression).toMatchObject({ from: START, to: AFTER, jobs: part + 1 })
    }
    expect(built.campaign).toMatchObject({ progressing: null, orders: {} })
  })

  it('of a reverted landing changes nothing', () => {
    const built = landed()
    const order = measuredFor(built, 'effect')
    const back = { kind: 'reverted', cause: 'person', experiment: 'exp-001', by_experiment: null } as const
    built.add({ ...back, from: AFTER, to: pointOf('back'), measured_in: order.id })
    built.add(effect(order, 'landing'))
    expect(built.campaign.landings[0]?.effect).toBeNull()
  })
})

describe('the jobs of the total improvement', () => {
  it('add up when jobs between them are lost', () => {
    const built = landed()
    measuredFor(built, 'progression')
    const order = built.issue({ purpose: 'progression', base: START, candidates: INCUMBENT, stop: STOP })
    built.add({ kind: 'order-lost', cause: order.id, order: order.id, started: true, reason: 'gone' })
    measuredFor(built, 'progression')
    expect(getProgressJobs(built.campaign, { from: START, to: AFTER })).toHaveLength(2)
  })

  it('count completely or not at all', () => {
    const built = landed()
    measuredFor(built, 'progression', { runner_error: 'disk full' })
    measuredFor(built, 'progression', { executions: [] })
    expect(getProgressJobs(built.campaign, { from: START, to: AFTER })).toEqual([])
  })

  it('belong to one pair of commits and one harness', () => {
    const built = landed()
    measuredFor(built, 'progression')
    expect(getProgressJobs(built.campaign, { from: START, to: pointOf('later') })).toEqual([])
    expect(getProgressJobs({ ...built.campaign, harness: 'another' }, { from: START, to: AFTER })).toEqual([])
  })
})

describe('the subject of a campaign order', () => {
  it('is the watched landing, for any later incumbent', () => {
    const about = (head: string) =>
      buildOrderSubject({
        purpose: 'regression',
        base: START,
        candidates: [{ label: 'incumbent', head, tree: AFTER.tree }],
      })
    expect(about(AFTER.commit)).toBe(about(pointOf('later').commit))
  })
})
