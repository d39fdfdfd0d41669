import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/model/order.ts'
import { campaign, type CampaignBuilder, SPEC } from './a-campaign.ts'
import { endings, carryOut, settle } from './a-world.ts'
import { answered, GAIN, noisy, NOTHING } from './noisy.ts'

const UNISOLATED = { flags: ['unisolated'] } as const

function findOpenOrders(built: CampaignBuilder): Order[] {
  settle(built)
  return Object.values(built.campaign.orders).flatMap(({ order, report }) => (report === null ? [order] : []))
}

function listLabels(orders: readonly Order[]) {
  return orders.map(({ candidates, attempt }) => [candidates.map(({ label }) => label), attempt])
}

describe('an idea during whose execution files changed', () => {
  const one = () => campaign().withExperiment().ordered()

  it('is measured again alone, because another idea of the machine may have done it', () => {
    const built = one().measured({ 'exp-001': { candidate: 'tampers', flags: [...UNISOLATED.flags] } })
    expect(listLabels(findOpenOrders(built))).toEqual([[['exp-001'], 2]])
    built.measured({ 'exp-001': { candidate: { bytes: 8 }, flags: [...UNISOLATED.flags] } })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'kept' })
  })

  it('is refused if they change again while it runs alone', () => {
    const built = one()
    for (let attempt = 1; attempt <= 2; attempt++) {
      built.measured({ 'exp-001': { candidate: 'tampers', flags: [...UNISOLATED.flags] } })
      settle(built)
    }
    expect(built.experiment('exp-001')).toMatchObject({
      outcome: 'refused',
      reason: 'tampered: its execution changed bench/run',
    })
  })

  it('is measured again even if the spec allows one attempt', () => {
    const built = campaign(`${SPEC}execution: { max_attempts: 1 }\n`).withExperiment().ordered()
    built.measured({ 'exp-001': { candidate: 'tampers', flags: [...UNISOLATED.flags] } })
    expect(listLabels(findOpenOrders(built))).toEqual([[['exp-001'], 2]])
  })

  it('is refused at once where a user of its own keeps other ideas out', () => {
    const built = one().measured({ 'exp-001': { candidate: 'tampers' } })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'refused' })
  })
})

describe('a job of several ideas in which files changed', () => {
  it('is repeated with one job for each idea', () => {
    const built = noisy().withExperiments(3)
    settle(built)
    const sides = { 'exp-001': GAIN, 'exp-002': 'tampers', 'exp-003': NOTHING } as const
    answered(built, sides, { flags: ['unisolated'] })
    expect(listLabels(findOpenOrders(built))).toEqual([
      [['exp-001'], 2],
      [['exp-002'], 2],
      [['exp-003'], 2],
    ])
    answered(built, sides, { flags: ['unisolated'] })
    settle(built)
    expect(built.experiment('exp-002')).toMatchObject({ outcome: 'refused' })
  })
})
