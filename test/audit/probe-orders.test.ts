import { describe, expect, it } from 'vitest'
import { findOrderGaps } from '../../src/engine/verify/orders.ts'
import type { Order } from '../../src/model/order.ts'
import { buildProbeRule } from '../../src/probes/probe-rule.ts'
import { oidOf, START, unprepared } from '../plan/a-campaign.ts'

/** As issued for a campaign with a baseline of 10 bytes, but for what the test changes. */
function findGaps(change: Partial<Order>): string[] {
  const built = unprepared().based()
  const order = built.issue({
    purpose: 'probe',
    candidates: [{ label: 'probe-vanish', head: START.commit, tree: oidOf('vanished') }],
    stop: buildProbeRule(built.spec, built.campaign.calibration),
    probing: { version: 1, metrics: { bytes: 10 } },
    ...change,
  })
  return findOrderGaps(built.campaign, built.spec, order)
}

describe('an order of probes', () => {
  it('has the rule and the numbers of its campaign', () => {
    expect(findGaps({})).toEqual([])
    const blind = { rule: 'once', min_effect: 0.9, scale: 'log' } as const
    expect(findGaps({ stop: blind })).toEqual(['its rule is not the one for probes'])
    expect(findGaps({ probing: { version: 1, metrics: { bytes: 1000 } } })).toEqual([
      'the numbers that its probes improve are not those of the base',
    ])
  })
})
