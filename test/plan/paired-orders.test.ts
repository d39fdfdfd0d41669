import { describe, expect, it } from 'vitest'
import type { Order, PairedTerms } from '../../src/model/order.ts'
import { getIncumbentMetrics } from '../../src/model/campaign.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { type CampaignBuilder, oidOf, pointOf, SPEC } from './a-campaign.ts'
import { reportOf } from './a-report.ts'
import { carryOut, draftsOfKind, endings, settle, world } from './a-world.ts'
import { answered, BASE, fewer, GAIN, LOSS, measuredOut, noisy, NOTHING, SWAYING } from './noisy.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'

function termsOf({ stop }: Pick<Order, 'stop'>): Record<string, PairedTerms> {
  return stop.rule === 'paired' ? stop.terms : {}
}

function labelsOf({ candidates }: Pick<Order, 'candidates'>): string[] {
  return candidates.map(({ label }) => label)
}

/** The orders that are under way after everything that can be written is written. */
function under(built: CampaignBuilder): Order[] {
  settle(built)
  return Object.values(built.campaign.orders).flatMap(({ order, report }) => (report === null ? [order] : []))
}

describe('a block', () => {
  it('is one order for up to four ideas of a round, and the base is run once for all', () => {
    const built = noisy(`${SPEC}execution: { max_concurrent: 6 }\n`).withExperiments(6)
    expect(under(built).map(labelsOf)).toEqual([
      ['exp-001', 'exp-002', 'exp-003', 'exp-004'],
      ['exp-005', 'exp-006'],
    ])
  })

  it('is never shared with somebody of another trust', () => {
    const built = noisy()
    for (const use of ['patch', 'external', 'patch', 'external'])
      built.withExperiment({ source: { use, key: `${use}:${built.campaign.next_number}` } })
    expect(under(built).map(labelsOf)).toEqual([
      ['exp-001', 'exp-003'],
      ['exp-002', 'exp-004'],
    ])
  })

  it('has nothing beside the code of an outsider', () => {
    const built = noisy(`${SPEC}merge: { unisolated: allow }\n`)
    for (let count = 0; count < 3; count++)
      built.withExperiment({ source: { use: 'external', key: `external:${count}` } })
    const about = { experiment: 'exp-002', head: built.experiment('exp-002').head ?? '' }
    built.add({ kind: 'permission-requested', cause: 'asked', ...about, author: 'eve' })
    built.add({ kind: 'permission-granted', cause: 'comment', ...about, login: 'ada' })
    expect(under(built).map(labelsOf)).toEqual([['exp-001', 'exp-003'], ['exp-002']])
  })

  it('each member leaves when it is decided; nothing lands before all of them are', () => {
    const built = noisy().withExperiments(3)
    settle(built)
    const sides = { 'exp-001': GAIN, 'exp-002': NOTHING, 'exp-003': SWAYING }
    answered(built, sides)
    expect(endings(carryOut(built))).toEqual({ 'exp-002': 'dropped' })
    expect(under(built).map(labelsOf)).toEqual([['exp-001', 'exp-003']])
    answered(built, sides)
    expect(under(built).map(labelsOf)).toEqual([['exp-003']])
    expect(built.campaign.landings).toEqual([])
    answered(built, { 'exp-003': LOSS })
    settle(built)
    expect(built.campaign.landings.map(({ experiment }) => experiment)).toEqual(['exp-001'])
  })
})

describe('another job', () => {
  it('carries every pair there is of the same two trees, and has coins of its own', () => {
    const built = noisy().withExperiment()
    const [first] = under(built)
    answered(built, { 'exp-001': GAIN })
    const [second] = under(built)
    expect(second?.earlier_jobs['exp-001']).toMatchObject([
      { order: first?.id, complete: false, runner: 'boot' },
    ])
    expect(second?.earlier_jobs['exp-001']).toEqual(built.experiment('exp-001').evidence?.jobs)
    expect(second).toMatchObject({ attempt: 1, round: first?.round, base: first?.base })
    expect(second?.coins).not.toBe(first?.coins)
  })

  it('leaves the incumbent with the numbers of all jobs, as its experiment has them', () => {
    const built = noisy().withExperiment()
    const orders = [GAIN, fewer(0.45, 4)].flatMap(behaviour => {
      settle(built)
      return answered(built, { 'exp-001': behaviour })
    })
    measuredOut(built, { 'exp-001': GAIN })
    const { outcome, metrics } = built.experiment('exp-001')
    expect([outcome, orders.length]).toEqual(['kept', 2])
    expect(getIncumbentMetrics(built.campaign)).toMatchObject({ bytes: metrics['bytes'] })
    expect(built.campaign.baseline?.snapshot).toMatchObject({
      sample_count: 12,
      metrics: { bytes: { aggregate: metrics['bytes'], samples: Array(12).fill(expect.any(Number)) } },
    })
    // The last job alone has a median of about 550.
    expect(metrics['bytes']).toBeLessThan(530)
  })

  it('of which nothing came back leaves the pairs measured before; the evidence for keeping starts from zero', () => {
    const built = noisy().withExperiment()
    settle(built)
    answered(built, { 'exp-001': GAIN })
    const [second] = under(built)
    built.lost('exp-001')
    const [third] = under(built)
    const gap = { order: second?.id, runner: '', complete: false, pairs: [], unreported: true }
    expect(third?.earlier_jobs).toEqual({ 'exp-001': [...(second?.earlier_jobs['exp-001'] ?? []), gap] })
    expect([third?.attempt, third?.coins === second?.coins]).toEqual([1, false])
    answered(built, { 'exp-001': GAIN })
    expect(under(built)).toHaveLength(1)
    measuredOut(built, { 'exp-001': GAIN })
    expect(built.experiment('exp-001')).toMatchObject({ outcome: 'kept', interrupted: 1 })
  })

  it('of a report that is nobody’s verdict takes its pairs along, and counts as an attempt', () => {
    const built = noisy().withExperiment()
    const [order] = under(built)
    if (!order) throw new Error('nothing is measured')
    const whole = reportOf({
      order,
      spec: built.spec,
      behaviourOf: side => (side === 'base' ? BASE : SWAYING),
    })
    const cut = { ...whole, executions: whole.executions.slice(0, 6) }
    built.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report: cut })
    const [again] = under(built)
    expect(again?.attempt).toBe(2)
    expect(again?.earlier_jobs['exp-001']).toMatchObject([{ complete: false, pairs: [{}, {}, {}] }])
  })

  it('is never asked for without end', () => {
    const built = noisy().withExperiment()
    settle(built)
    // Not proven after three, taken up once more since nothing else is queued, and not proven for good.
    for (let jobs = 0; jobs < 6; jobs++) {
      answered(built, {}, { executions: [] })
      settle(built)
    }
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'not-proven',
      resumed: 1,
      verdict: 'not proven',
      reason: expect.stringContaining('3 attempts'),
    })
  })
})

describe('a report that does not follow the coins of its order', () => {
  it('is rejected with that reason, and counts as one of which nothing came back', () => {
    const built = noisy().withExperiment()
    const [order] = under(built)
    if (!order) throw new Error('nothing is measured')
    const report = reportOf({ order, spec: built.spec, behaviourOf: side => (side === 'base' ? BASE : GAIN) })
    const sorted = report.executions.toSorted((a, b) => (a.seed === b.seed ? (a.side < b.side ? -1 : 1) : 0))
    const forged = { ...report, executions: sorted }
    const runs = new Map([[order.id, { state: 'reported', runId: 'run-1', report: forged } as const]])
    expect(draftsOfKind(planCampaign(world(built, { runs })), 'report-rejected')).toMatchObject([
      { order: order.id, reason: 'its executions do not follow the coins of the order' },
    ])
    carryOut(built, { runs })
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'queued',
      interrupted: 1,
      evidence: { jobs: [{ unreported: true, pairs: [] }] },
    })
  })
})

describe('what is not proven when its jobs are used up', () => {
  const two = `${SPEC}evidence: { max_jobs: 2 }\n`

  it('is not proven, and taken up once, with as many jobs again, when nothing else is queued', () => {
    const built = noisy(two).withExperiments(5)
    const orders = measuredOut(built, {
      'exp-001': SWAYING,
      'exp-002': LOSS,
      'exp-003': LOSS,
      'exp-004': LOSS,
      'exp-005': LOSS,
    })
    const own = orders.filter(order => labelsOf(order).includes('exp-001'))
    expect(own.map(order => termsOf(order)['exp-001']?.max_jobs)).toEqual([2, 2, 4, 4])
    expect(own.map(order => order.attempt)).toEqual([1, 1, 1, 1])
    expect(own.map(order => order.earlier_jobs['exp-001']?.length)).toEqual([0, 1, 2, 3])
    expect(orders.map(labelsOf).flat().lastIndexOf('exp-005')).toBeLessThan(
      orders.map(labelsOf).flat().lastIndexOf('exp-001'),
    )
    expect(built.experiment('exp-001')).toMatchObject({
      status: 'not-proven',
      resumed: 1,
      verdict: 'not proven',
    })
    expect(draftsOfKind(carryOut(built), 'steered')).toEqual([])
  })

  it('stays open, and is closed without proof when the campaign stops', () => {
    const built = noisy(two).withExperiment()
    measuredOut(built, { 'exp-001': SWAYING })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'not-proven', outcome: null, closed: false })
    built.add({ kind: 'campaign-stopped', cause: 'a person', code: 'person', reason: 'enough' })
    settle(built)
    expect(built.experiment('exp-001')).toMatchObject({
      outcome: 'inconclusive',
      reason: expect.stringContaining('; the campaign stopped (enough) before it was proven'),
    })
  })
})

describe('an incumbent that moved', () => {
  const moved = (built: CampaignBuilder) =>
    built.add({
      kind: 'incumbent-moved',
      cause: 'somebody else',
      from: built.campaign.incumbent,
      to: pointOf('theirs'),
      why: 'foreign',
    })

  it('takes the evidence with it: it starts at 1, at the level of the idea', () => {
    const built = noisy().withExperiment()
    settle(built)
    answered(built, { 'exp-001': GAIN })
    under(built)
    moved(built)
    const [anew] = under(built)
    expect([anew?.earlier_jobs['exp-001'], anew && termsOf(anew)['exp-001']]).toEqual([
      [],
      expect.objectContaining({ as: 'idea', alpha: 0.001, alpha_share: 0.01 }),
    ])
  })

  it('lets what was confirmed on the old base hold at .05, without a second screen', () => {
    const built = noisy().withExperiments(2)
    settle(built)
    const sides = { 'exp-001': GAIN, 'exp-002': SWAYING }
    answered(built, sides)
    settle(built)
    answered(built, sides)
    moved(built)
    const [anew] = under(built)
    const terms = anew ? termsOf(anew) : {}
    expect(anew?.earlier_jobs).toEqual({ 'exp-001': [], 'exp-002': [] })
    expect([terms['exp-001'], terms['exp-002']]).toMatchObject([
      { as: 'confirmed', alpha: 0.05, alpha_share: 0.01 },
      { as: 'idea', alpha: 0.001 },
    ])
    expect(built.campaign.error_budget).toEqual({ alpha_spent: 0.02, tests: 2 })
  })
})

describe('a proven idea that waits for its turn', () => {
  it('proves nothing for commits that are pushed meanwhile', () => {
    const built = noisy().withExperiment()
    for (let job = 0; job < 2; job++) {
      settle(built)
      answered(built, { 'exp-001': GAIN })
    }
    const reason = 'better, not taken yet'
    built.add({ kind: 'requeued', cause: 'nonce', experiment: 'exp-001', why: 'not-taken', reason })
    const { head: from } = built.experiment('exp-001')
    built.add({ kind: 'head-moved', cause: 'nonce', experiment: 'exp-001', from, to: oidOf('others') })
    const [anew] = under(built)
    expect(anew && termsOf(anew)['exp-001']).toMatchObject({ as: 'idea', alpha: 0.001 })
  })
})

describe('a runner-up', () => {
  it('is measured on the new incumbent at .05, from 1, without a screen', () => {
    const built = noisy().withExperiments(2)
    const orders = measuredOut(built, { 'exp-001': GAIN, 'exp-002': GAIN })
    const combined = orders.filter(({ purpose }) => purpose === 'combination')
    expect(combined.map(order => termsOf(order)[labelsOf(order)[0] ?? ''])).toMatchObject(
      combined.map(() => ({ as: 'combination', alpha: 0.05, alpha_share: 0.01 })),
    )
    expect(combined[0]?.earlier_jobs).toEqual({ [combined[0] ? (labelsOf(combined[0])[0] ?? '') : '']: [] })
    expect(combined.at(1)?.earlier_jobs).not.toEqual(combined[0]?.earlier_jobs)
    expect(outcomeCounts(built.campaign)).toEqual({ kept: 1, runner_up_kept: 1 })
  })
})
