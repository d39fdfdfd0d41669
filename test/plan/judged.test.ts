import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/model/order.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { type CampaignBuilder, unprepared } from './a-campaign.ts'
import type { Behaviour } from './a-report.ts'
import { draftsOfKind, settle, world } from './a-world.ts'
import { answered } from './noisy.ts'
import { judgedSpec } from './judged-spec.ts'

const JUDGED = judgedSpec(3)

/** Scores of copies of the base: now one is better, now the other. */
const scoring =
  (salt: number): Behaviour =>
  nth => ({ quality: 3 + ((((nth + 1) * 37 + salt * 53) % 101) - 50) / 100 })

function calibrated(yaml: string): CampaignBuilder {
  const built = unprepared(yaml)
  for (let orders = 0; orders < 3; orders++) {
    settle(built)
    answered(built, { base: scoring(7), 'base-copy': scoring(2) })
  }
  settle(built)
  expect(built.campaign.calibration).toMatchObject({ deterministic: false, scale: 'linear' })
  return built
}

function under(built: CampaignBuilder): Order[] {
  settle(built)
  return Object.values(built.campaign.orders).flatMap(({ order, report }) => (report === null ? [order] : []))
}

function spent(built: CampaignBuilder, usd: number): CampaignBuilder {
  const cost = { minutes: 0, requests: 1, tokens: 10, usd }
  return built.add({ kind: 'spent', cause: 'an order', what: 'judge', who: 'm', ok: true, ...cost })
}

describe('orders of a judged campaign', () => {
  it('compare two sides each, by so many items and the gain that its judge section names', () => {
    const orders = under(calibrated(JUDGED).withExperiments(3))
    expect(orders.map(({ candidates }) => candidates.map(({ label }) => label))).toEqual([
      ['exp-001'],
      ['exp-002'],
      ['exp-003'],
    ])
    for (const { stop } of orders)
      expect(stop).toMatchObject({
        rule: 'paired',
        pairs: 12,
        scale: 'linear',
        min_effect: 0.4,
        null_effect: 0.2,
      })
  })

  it('have time for every question that may have to be asked', () => {
    const [judged] = under(calibrated(JUDGED).withExperiments(1))
    const [slower] = under(calibrated(JUDGED.replace('12\n', '12\n    batch_size: 1\n')).withExperiments(1))
    const minutes = (Date.parse(slower?.deadline ?? '') - Date.parse(judged?.deadline ?? '')) / 60_000
    expect(minutes).toBeGreaterThan(60)
  })
})

describe('the money of judges', () => {
  it('ends a campaign in the middle of a round, once it is spent', () => {
    const built = calibrated(JUDGED).withExperiments(2)
    expect(under(built)).toHaveLength(2)
    expect(draftsOfKind(planCampaign(world(spent(built, 2.9))), 'campaign-stopped')).toEqual([])
    const [stopped] = draftsOfKind(planCampaign(world(spent(built, 0.1))), 'campaign-stopped')
    expect(stopped).toMatchObject({
      code: 'max_judge_cost_usd',
      reason: '3 USD spent on judges (metric.judge.max_total_cost_usd)',
    })
  })
})
