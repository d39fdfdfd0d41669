import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CampaignProgress } from '../../src/decide/progress.ts'
import type { Campaign, LiveOrder } from '../../src/model/campaign.ts'
import { type Order, orderPurposeSchema } from '../../src/model/order.ts'
import { estimateOrderSeconds, formatClock, renderLiveLine } from '../../src/report/terminal.ts'
import { baseline, calibrated, campaignOf, NOISE, type Told } from './campaign-of.ts'

const BYTES = { metric: 'bytes', direction: 'minimize' } as const
const PROGRESS: CampaignProgress = {
  ...BYTES,
  is: 'numbers',
  scale: 'log',
  effect: Math.log(200 / 150),
  stretches: [{ from: 200, to: 150 }],
  missing: [],
}
const PAIRS: Partial<Order['stop']> = { rule: 'pairs', pairs: 9, metrics: ['bytes'], scale: 'linear' }

function order(purpose: Order['purpose'], labels: readonly string[], stop: Partial<Order['stop']> = {}) {
  const candidates = labels.map(label => ({ label, head: 'a', tree: 'b' }))
  const rule = { rule: 'once', min_effect: 0, scale: 'linear', ...stop }
  return { id: labels.join(), purpose, candidates, stop: rule } as unknown as Order
}

function live(asked: Order, seconds: number | null = null): LiveOrder {
  const report =
    seconds === null
      ? null
      : {
          event: 'e',
          at: '',
          report: {
            started_at: '2026-01-02T03:00:00.000Z',
            finished_at: new Date(Date.parse('2026-01-02T03:00:00.000Z') + seconds * 1_000).toISOString(),
          },
        }
  return { order: asked, issued_at: '', run_id: 'r', report } as unknown as LiveOrder
}

function text(
  now: Partial<Parameters<typeof renderLiveLine>[2]>,
  campaign = campaignOf(),
  progress = PROGRESS,
): string {
  return renderLiveLine(campaign, progress, { orders: [], asked: [], seconds: 42, elsewhere: false, ...now })
}

describe('the line of a run', () => {
  it('shows current work, elapsed and expected time, and the best result', () => {
    const noisy = campaignOf(calibrated(NOISE))
    const orders = [live(order('experiment', ['exp-003'], PAIRS))]
    expect(text({ orders }, noisy)).toBe('exp-003 0:42 of ~0:50, best -25.0 % (bytes 150)')
  })

  it('has the important parts within 40 columns', () => {
    const noisy = campaignOf(calibrated({ ...NOISE, execution_seconds: 60 }))
    const orders = [live(order('experiment', ['exp-003'], PAIRS))]
    expect(text({ orders, seconds: 754 }, noisy).slice(0, 39)).toBe('exp-003 12:34 of ~20:10, best -25.0 % (')
  })

  it.each([
    [{ orders: [live(order('calibration', []))] }, 'calibrating 0:42'],
    [
      { orders: [live(order('experiment', ['exp-001', 'exp-002', 'exp-003', 'exp-004']))] },
      'exp-001, exp-002 +2 0:42',
    ],
    [{ orders: [live(order('holdout', ['exp-001']))] }, 'exp-001 on the holdout 0:42'],
    [{ orders: [live(order('sync', ['sync']))] }, 'sync 0:42'],
    [{ asked: ['claude', 'claude'] }, 'asking claude 0:42'],
    [{ elsewhere: true }, 'waiting for another run'],
    [{}, 'looking'],
  ])('of %j starts with %s', (now, expected) => {
    expect(text(now)).toBe(`${expected}, best -25.0 % (bytes 150)`)
  })

  it.each<[CampaignProgress, string]>([
    [{ ...BYTES, is: 'nothing kept', value: 200 }, 'looking, no gain yet'],
    [{ ...BYTES, is: 'nothing kept', value: null }, 'looking, nothing measured yet'],
    [
      { ...BYTES, is: 'not measured', scale: 'log', decided: null, missing: ['exp-001'] },
      'looking, best not confirmed',
    ],
  ])('claims no unmeasured gain', (progress, expected) => {
    expect(text({}, campaignOf(), progress)).toBe(expected)
  })

  it('has a text for every purpose', () => {
    for (const purpose of orderPurposeSchema.options) {
      expect(text({ orders: [live(order(purpose, ['exp-001']))] })).toMatch(/^\S.* 0:42, best /)
    }
  })
})

describe('the time an order is expected to take', () => {
  const known = (...orders: LiveOrder[]): Campaign => ({
    ...campaignOf(),
    orders: Object.fromEntries(orders.map(each => [each.order.id, each])),
  })
  const wanted = order('experiment', ['exp-009'])

  it('is the time of similar orders', () => {
    const campaign = known(
      live(order('experiment', ['exp-001']), 4),
      live(order('experiment', ['exp-002']), 8),
    )
    expect(estimateOrderSeconds(campaign, wanted)).toBe(6)
  })

  it('is estimated from the baseline without similar orders', () => {
    const campaign = campaignOf(measuredIn(3))
    expect(estimateOrderSeconds(campaign, wanted)).toBe(6)
    expect(estimateOrderSeconds(campaign, order('experiment', ['exp-001', 'exp-002']))).toBe(9)
  })

  it('is unknown before the first measurement', () => {
    expect(estimateOrderSeconds(known(), wanted)).toBeNull()
    expect(estimateOrderSeconds(known(live(wanted)), wanted)).toBeNull()
  })
})

/** A baseline whose execution took so many seconds. */
function measuredIn(seconds: number): Told<'baseline-measured'> {
  const metrics = { wall_seconds: { aggregate: seconds, samples: [seconds] } }
  return { ...baseline(100), snapshot: { metrics } }
}

describe('a time', () => {
  it.each([
    [-1, '0:00'],
    [0, '0:00'],
    [59.6, '1:00'],
    [3_599, '59:59'],
    [3_723, '1:02:03'],
  ])('of %d s reads %s', (seconds, expected) => {
    expect(formatClock(seconds)).toBe(expected)
  })

  it('never decreases', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e4), (seconds, more) => {
        const value = (clock: string) => clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
        expect(value(formatClock(seconds + more))).toBe(value(formatClock(seconds)) + more)
      }),
    )
  })
})
