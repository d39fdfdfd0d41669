import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import type { Order } from '../../src/model/order.ts'
import type { PairJob } from '../../src/model/pairs.ts'
import {
  formatJobTitle,
  formatRunTitle,
  isRetryTitle,
  lookTitle,
  retryTitle,
} from '../../src/report/github-names.ts'
import { campaignOf, decided, LANDS, NEXT, opened, POINT } from './campaign-of.ts'

const campaign: Campaign = campaignOf(opened(1), decided(1), ...LANDS, opened(7), opened(8))
const job = (order: string): PairJob => ({ order, runner: 'a', complete: true, pairs: [] })

function order(purpose: Order['purpose'], labels: readonly string[], more: Partial<Order> = {}): Order {
  const terms = Object.fromEntries(labels.map(label => [label, { max_jobs: 8 }]))
  const candidates = labels.map(label => ({ label, head: NEXT.commit, tree: NEXT.tree }))
  const stop = { rule: 'paired', terms }
  return { purpose, base: POINT, candidates, stop, earlier_jobs: {}, attempt: 1, ...more } as unknown as Order
}

describe('the name of a job', () => {
  it.each([
    ['exp-007 vs incumbent, job 1 of at most 8', order('experiment', ['exp-007'])],
    [
      'exp-007 and exp-008 vs incumbent, job 3 of at most 8',
      order('experiment', ['exp-007', 'exp-008'], { earlier_jobs: { 'exp-008': [job('1'), job('2')] } }),
    ],
    ['exp-008 on top of what was kept, job 1 of at most 8', order('combination', ['exp-008'])],
    ['exp-007 vs main, job 1 of at most 8, attempt 2', order('pick', ['exp-007'], { attempt: 2 })],
    ['merge of main into the incumbent', order('sync', ['sync'], { stop: { rule: 'alone' } })],
    ['commit ccccccc, pushed by a person', order('foreign', ['foreign'], { stop: { rule: 'alone' } })],
    [
      'calibration: whether it repeats exactly',
      order('calibration', [], { stop: { rule: 'calibrate', runs: 3 } }),
    ],
    ['effect of exp-001', order('effect', ['incumbent'], { stop: { rule: 'alone' } })],
    ['whether exp-001 still holds', order('regression', ['incumbent'], { stop: { rule: 'alone' } })],
    [
      'total improvement: incumbent vs main',
      order('progression', ['incumbent'], { stop: { rule: 'alone' } }),
    ],
  ])('%s', (title, given) => {
    expect(formatJobTitle(campaign, given)).toBe(title)
  })

  it('does not count a run without a report', () => {
    const earlier_jobs = { 'exp-007': [job('1'), { ...job('2'), unreported: true as const }] }
    expect(formatJobTitle(campaign, order('experiment', ['exp-007'], { earlier_jobs }))).toContain('job 2 of')
  })
})

describe('the name of a run', () => {
  it('names the campaign and the experiments', () => {
    const orders = [order('experiment', ['exp-007']), order('experiment', ['exp-008'])]
    expect(formatRunTitle(campaign, orders)).toBe('size: measure exp-007, exp-008')
    expect(formatRunTitle(campaign, [order('progression', ['incumbent']), order('calibration', [])])).toBe(
      'size: measure total improvement, calibration',
    )
  })

  it('counts experiments that do not fit', () => {
    const all = [1, 2, 3, 4, 5, 6].map(number => opened(number))
    const orders = all.map(({ experiment }) => order('experiment', [experiment]))
    expect(formatRunTitle(campaignOf(...all), orders)).toBe(
      'size: measure exp-001, exp-002, exp-003, exp-004 and 2 more',
    )
  })

  it('exists before anything is ordered', () => {
    expect(lookTitle(campaign)).toBe('size: look for work')
    expect(retryTitle(campaign)).toBe('size: look for work again')
    expect([retryTitle(campaign), lookTitle(campaign), ''].map(isRetryTitle)).toEqual([true, false, false])
  })
})
