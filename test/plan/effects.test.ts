import { describe, expect, it } from 'vitest'
import type { EventKind, LedgerEvent } from '../../src/model/event.ts'
import type { OrderPurpose } from '../../src/model/order.ts'
import { violations } from './chain.ts'
import { FILES, WINNOW } from './happenings.ts'
import { type Idea, Site } from './plan-site.ts'

/** A time, which no machine repeats, so that pairs decide; what is run here has no noise all the same. */
const TIMED = WINNOW('execution: { mode: serial }\n').replace('name: bytes', 'name: wall_seconds')
const LASTING = `${TIMED.replace('propose: [', 'propose: [{ use: external }, ')}stopping: { max_hours: 500 }\n`

function idea(name: string, files: Record<string, string>): Idea {
  return { name, files, category: name, priority: 'medium' }
}

const SHORTER_A = idea('shorter a', { 'src/a': '' })
const SHORTER_B = idea('shorter b', { 'src/b': '' })

function site(spec: string, ideas: Idea[]): Site {
  return new Site({ spec, files: FILES, ideas })
}

type Kind<K extends EventKind> = Extract<LedgerEvent, { kind: K }>

function ofKind<K extends EventKind>({ ledger }: Site, kind: K): Kind<K>[] {
  return ledger.events.filter((event): event is Kind<K> => event.kind === kind)
}

function ordersFor(of: Site, purpose: OrderPurpose): Kind<'order-issued'>[] {
  return ofKind(of, 'order-issued').filter(order => order.purpose === purpose)
}

function reported(of: Site): string[] {
  return ofKind(of, 'effect-measured').map(({ what, experiment }) => `${what} ${experiment ?? ''}`.trim())
}

/** Until an order of this kind is being measured. */
function underWay(of: Site, purpose: OrderPurpose): void {
  for (let looks = 0; looks < 300; looks++) {
    const live = Object.values(of.campaign.orders).some(
      ({ order, report }) => order.purpose === purpose && report === null,
    )
    if (live) return
    if (!of.step()) of.measure()
  }
  throw new Error(`no order for ${purpose} was ever issued`)
}

describe('what landed under paired evidence', () => {
  it('is measured once more without a stopping rule, and that is what it is reported to bring', () => {
    const one = site(TIMED, [SHORTER_A])
    one.run()
    const [landing] = one.campaign.landings
    const [order] = ordersFor(one, 'effect')
    expect(order).toMatchObject({ base: landing?.base, stop: { rule: 'pairs', pairs: 8 }, attempt: 1 })
    expect(order?.candidates).toEqual([{ label: 'incumbent', head: landing?.commit, tree: landing?.tree }])
    expect(landing?.effect).toMatchObject({ order: order?.id, pairs: 8, scale: 'log' })
    expect(landing?.effect?.effect).toBeCloseTo(Math.log(32 / 24), 6)
    expect(ofKind(one, 'effect-measured')[0]).toMatchObject({
      what: 'landing',
      experiment: 'exp-001',
      state: null,
      reason: expect.stringMatching(/^wall_seconds 25\.0 % faster \(25\.0 to 25\.0 %\), 8 pairs in 1 job$/),
    })
  })

  it('is measured beside the next round, which does not wait for it', () => {
    const two = site(TIMED, [SHORTER_A, SHORTER_B])
    underWay(two, 'effect')
    const live = Object.values(two.campaign.orders).map(({ order }) => order.purpose)
    expect(live).toEqual(['experiment', 'effect'])
    two.run()
    expect(two.campaign.landings.map(({ effect }) => effect === null)).toEqual([false, false])
    expect(violations(two.ledger.events)).toEqual([])
  })

  it('is measured again when its report is lost, and given up after five losses with an alert', () => {
    const unlucky = site(TIMED, [SHORTER_A])
    for (let loss = 1; loss <= 5; loss++) {
      underWay(unlucky, 'effect')
      unlucky.kill(() => true)
      unlucky.step()
    }
    unlucky.run()
    expect(ordersFor(unlucky, 'effect').map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1, 1])
    expect(unlucky.campaign.landings[0]?.effect).toBeNull()
    expect(unlucky.campaign.alerts.map(({ code, message }) => [code, message])).toEqual([
      [
        'effect-not-measured',
        'winnow could not measure the effect of exp-001: measuring was interrupted 5 times',
      ],
    ])
    expect(unlucky.campaign).toMatchObject({
      status: 'stopped',
      experiments: { 'exp-001': { outcome: 'kept' } },
    })
  })

  it('is not measured again where one run settles a number', () => {
    const exact = site(WINNOW('execution: { mode: serial }\n'), [SHORTER_A])
    exact.run()
    expect(exact.campaign.landings).toHaveLength(1)
    expect([ordersFor(exact, 'effect'), ordersFor(exact, 'progression')]).toEqual([[], []])
  })
})

describe('the headline of a campaign', () => {
  it('is a fixed number of jobs of the incumbent against its start, before the campaign stops by itself', () => {
    const whole = site(TIMED, [SHORTER_A, SHORTER_B])
    whole.run()
    const { start, incumbent, progression } = whole.campaign
    const orders = ordersFor(whole, 'progression')
    expect(orders).toHaveLength(8)
    expect(orders.map(({ part }) => part)).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(progression).toMatchObject({ from: start, to: incumbent, pairs: 64 })
    expect(progression?.effect).toBeCloseTo(Math.log(32 / 16), 6)
    expect(reported(whole)).toEqual(['landing exp-001', 'landing exp-002', 'progression', 'progression'])
    expect(whole.campaign).toMatchObject({ status: 'stopped', progressing: null })
    expect(whole.ledger.events.findIndex(({ kind }) => kind === 'campaign-stopped')).toBeGreaterThan(
      whole.ledger.events.findIndex(({ kind }) => kind === 'effect-measured'),
    )
  })

  it('goes on where it was after a kill: no job is measured twice, none is left out', () => {
    const killed = site(TIMED, [SHORTER_A])
    for (let times = 0; times < 3; times++) {
      underWay(killed, 'progression')
      killed.measure()
      killed.step()
      underWay(killed, 'progression')
      killed.kill(() => true)
      killed.step()
    }
    killed.run()
    expect(killed.campaign.progression?.pairs).toBe(64)
    expect(killed.campaign.progression?.jobs).toBe(8)
    const parts = ordersFor(killed, 'progression').map(({ part }) => part)
    expect([...new Set(parts)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('is measured after a person has stopped the campaign as well, once what was under way is over', () => {
    const stopped = site(TIMED, [SHORTER_A])
    underWay(stopped, 'progression')
    stopped.ledger.add({ kind: 'campaign-stopped', cause: 'person', code: 'person', reason: 'enough' })
    stopped.run()
    expect(reported(stopped)).toEqual(['landing exp-001', 'progression', 'progression'])
    const { progression, orders } = stopped.campaign
    expect([progression?.pairs, Object.keys(orders)]).toEqual([64, []])
    expect(ordersFor(stopped, 'progression')).toHaveLength(8)
    expect(violations(stopped.ledger.events)).toEqual([])
  })

  it('is measured after a stop, wherever the process that measures it is killed', () => {
    const stopped = site(TIMED, [SHORTER_A, SHORTER_B])
    underWay(stopped, 'effect')
    stopped.ledger.add({ kind: 'campaign-stopped', cause: 'person', code: 'person', reason: 'enough' })
    for (let times = 0; times < 2; times++) {
      underWay(stopped, 'progression')
      stopped.kill(() => times % 2 === 0)
      stopped.step()
    }
    stopped.run()
    expect(stopped.campaign.progression?.pairs).toBe(64)
  })

  it.each(['archived', 'fresh', 'merged'])('is not measured where the campaign is %s', code => {
    const stopped = site(TIMED, [SHORTER_A])
    underWay(stopped, 'progression')
    stopped.ledger.add({ kind: 'campaign-stopped', cause: 'person', code, reason: 'put aside' })
    stopped.run()
    expect([stopped.campaign.progression, stopped.campaign.orders]).toEqual([null, {}])
  })

  it('is all that is measured once the time of the campaign has run out', () => {
    const late = site(`${TIMED}stopping: { max_hours: 5 }\n`, [SHORTER_A, SHORTER_B])
    underWay(late, 'effect')
    late.hoursLater = 6
    late.run()
    expect(reported(late).at(-1)).toBe('progression')
    expect(late.campaign.status_reason).toContain('5 hours')
  })

  it('has its runner minutes set aside, so that their limit holds', () => {
    const minutes = (limit: number) =>
      site(`${TIMED}stopping: { max_runner_minutes: ${limit} }\n`, [SHORTER_A, SHORTER_B])
    const roomy = minutes(40)
    roomy.run()
    expect(reported(roomy).at(-1)).toBe('progression')
    expect(roomy.campaign.spent.minutes).toBeLessThanOrEqual(40)
  })

  it('is of the incumbent against the default branch that it contains, after a sync', () => {
    const synced = site(TIMED, [SHORTER_A, SHORTER_B])
    underWay(synced, 'experiment')
    synced.main = synced.git.commit(
      synced.git.write({ ...synced.git.files(synced.main.tree), README: 'hello' }),
      [synced.main.commit],
    )
    synced.run()
    expect(ofKind(synced, 'synced')).toHaveLength(1)
    const { progression, incumbent, reference } = synced.campaign
    expect(reference).toEqual(synced.main)
    expect(progression).toMatchObject({ from: synced.main, to: incumbent, pairs: 64 })
    expect(progression?.covers).toEqual(['exp-001', 'exp-002'])
    expect(progression?.effect).toBeCloseTo(Math.log(32 / 16), 6)
    expect(violations(synced.ledger.events)).toEqual([])
  })

  it('is not measured where nothing landed', () => {
    const idle = site(TIMED, [idea('longer', { 'src/a': 'a'.repeat(20) })])
    idle.run()
    expect(idle.campaign.status).toBe('stopped')
    expect(reported(idle)).toEqual([])
  })
})

describe('the progress of a campaign whose orders are measured elsewhere', () => {
  /** Until nothing is left but to wait. */
  function at(ideas: Idea[], spec = LASTING): Site {
    const elsewhere = new Site({ spec, files: FILES, ideas, elsewhere: true })
    elsewhere.run()
    return elsewhere
  }

  /** What one plan asked for at once. */
  function together({ ledger }: Site): OrderPurpose[][] {
    const batches: OrderPurpose[][] = [[]]
    for (const event of ledger.events) {
      if (event.kind === 'order-issued') batches.at(-1)?.push(event.purpose)
      else batches.push([])
    }
    return batches.filter(batch => batch.some(purpose => purpose === 'effect' || purpose === 'progression'))
  }

  it('is measured beside the next round, never by itself', () => {
    const two = at([
      SHORTER_A,
      SHORTER_B,
      { ...idea('longer', { 'src/c': 'c'.repeat(20) }), priority: 'low' },
    ])
    expect(together(two)).toEqual([
      ['experiment', 'effect'],
      ['experiment', 'effect', 'progression'],
    ])
    expect(two.campaign.progression).toMatchObject({ jobs: 1, pairs: 8 })
    expect(violations(two.ledger.events)).toEqual([])
  })

  it('is measured by itself where no round came for a day', () => {
    const two = at([SHORTER_A, SHORTER_B])
    expect(two.campaign.landings.map(({ effect }) => effect === null)).toEqual([false, true])
    two.hoursLater = 21
    two.run()
    expect(together(two).at(-1)).toEqual(['effect', 'progression', 'regression', 'regression'])
    expect(two.campaign.landings.map(({ effect }) => effect === null)).toEqual([false, false])
    expect(two.campaign.progression).toMatchObject({ jobs: 1 })
  })

  it('is measured by all jobs at once before the campaign stops, and a lost one is measured again', () => {
    const one = new Site({ spec: TIMED, files: FILES, ideas: [SHORTER_A], elsewhere: true })
    underWay(one, 'progression')
    expect(together(one).at(-1)).toEqual(['effect', ...Array.from({ length: 8 }, () => 'progression')])
    const [third] = ordersFor(one, 'progression').filter(({ part }) => part === 3)
    one.kill(order => order === third?.id)
    one.run()
    expect(one.campaign).toMatchObject({ status: 'stopped', progressing: null })
    expect(one.campaign.progression).toMatchObject({ jobs: 8, pairs: 64 })
    expect(reported(one)).toEqual(['landing exp-001', 'progression'])
    expect(violations(one.ledger.events)).toEqual([])
  })
})

describe('a landing that is watched', () => {
  it('is measured every night against the tree before it, until it is shown to hold', () => {
    const calm = site(LASTING, [SHORTER_A])
    calm.run()
    expect(ordersFor(calm, 'regression')).toEqual([])
    calm.hoursLater = 19
    calm.run()
    expect(ordersFor(calm, 'regression')).toEqual([])
    calm.hoursLater = 21
    calm.run()
    expect(ordersFor(calm, 'regression')).toMatchObject([
      { base: calm.campaign.landings[0]?.base, candidates: [{ head: calm.campaign.incumbent.commit }] },
    ])
    expect(ofKind(calm, 'effect-measured').at(-1)).toMatchObject({ what: 'watch', state: 'clear' })
    calm.hoursLater = 48
    calm.run()
    expect(ordersFor(calm, 'regression')).toHaveLength(1)
  })

  it('is taken back, with an alert, once it is proven worse than the tree before it', () => {
    const rotten = site(LASTING, [idea('good for a day', { 'src/a': 'rots' })])
    rotten.run()
    const { start } = rotten.campaign
    expect(rotten.campaign.incumbent.tree).not.toBe(start.tree)
    rotten.hoursLater = 21
    rotten.run()
    const events = ofKind(rotten, 'effect-measured').filter(({ what }) => what === 'watch')
    expect(events).toMatchObject([
      { experiment: 'exp-001', state: 'flagged', reason: expect.stringContaining('proven worse') },
    ])
    expect(rotten.campaign.incumbent.tree).toBe(start.tree)
    expect(rotten.campaign.landings[0]?.reverted).toBe(rotten.campaign.incumbent.commit)
    expect(rotten.campaign.alerts.map(({ code, about }) => [code, about])).toEqual([
      ['regression', 'exp-001'],
    ])
    rotten.hoursLater = 60
    rotten.run()
    expect(ordersFor(rotten, 'regression')).toHaveLength(1)
    expect(violations(rotten.ledger.events)).toEqual([])
  })
})
