import { describe, expect, it } from 'vitest'
import { findOrderGaps } from '../../src/engine/verify/orders.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import type { Order, PairedTerms } from '../../src/model/order.ts'
import { type CampaignBuilder, pointOf } from '../plan/a-campaign.ts'
import { settle } from '../plan/a-world.ts'
import { answered, GAIN, measuredOut, noisy, SWAYING } from '../plan/noisy.ts'

/** Every order of a campaign that measured in pairs, each with the campaign as it was when the order was issued. */
function issued(built: CampaignBuilder) {
  const campaign = createEmptyCampaign()
  return built.events.flatMap(event => {
    const before = structuredClone(campaign)
    applyEvent(campaign, event)
    if (event.kind !== 'order-issued' || event.stop.rule !== 'paired') return []
    const live = campaign.orders[event.id]
    return live ? [{ before, order: structuredClone(live.order) }] : []
  })
}

const second = once(() => {
  const built = noisy().withExperiments(2)
  settle(built)
  answered(built, { 'exp-001': GAIN, 'exp-002': SWAYING })
  settle(built)
  const found = issued(built).at(-1)
  if (!found) throw new Error('there is no second order')
  const { before, order } = found
  const gaps = (edit: (order: Order) => void) => {
    const edited = structuredClone(order)
    edit(edited)
    return findOrderGaps(before, built.spec, edited)
  }
  return { gaps, order, before, spec: built.spec }
})

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null
  return () => (made ??= { value: make() }).value
}

const withTerms = (change: Partial<PairedTerms>) => (order: Order) => {
  const { stop } = order
  const own = stop.rule === 'paired' ? stop.terms['exp-001'] : undefined
  if (stop.rule === 'paired' && own) stop.terms['exp-001'] = { ...own, ...change }
}
const withRule = (change: Record<string, unknown>) => (order: Order) => void Object.assign(order.stop, change)

describe('the audit of an order for pairs', () => {
  it('finds nothing in those of a whole campaign: first jobs, further ones, combinations, resumed ones', () => {
    const built = noisy().withExperiments(4)
    measuredOut(built, { 'exp-001': GAIN, 'exp-002': GAIN, 'exp-003': SWAYING })
    const all = issued(built)
    expect(new Set(all.map(({ order }) => order.purpose))).toEqual(new Set(['experiment', 'combination']))
    expect(all.flatMap(({ before, order }) => findOrderGaps(before, built.spec, order))).toEqual([])
  })

  it('names pairs that were left out, or added, or changed', () => {
    const { gaps, order } = second()
    expect(gaps(() => {})).toEqual([])
    const said = ['the pairs it carries of exp-001 are not those that were measured']
    expect(gaps(edited => void (edited.earlier_jobs['exp-001'] = []))).toEqual(said)
    expect(gaps(edited => void delete edited.earlier_jobs['exp-001'])).toEqual(said)
    expect(gaps(edited => void edited.earlier_jobs['exp-001']?.[0]?.pairs.pop())).toEqual(said)
    expect(
      gaps(edited => void edited.earlier_jobs['exp-001']?.push(...(order.earlier_jobs['exp-002'] ?? []))),
    ).toEqual(said)
    const better = (edited: Order) => {
      const pair = edited.earlier_jobs['exp-001']?.[0]?.pairs[0]
      if (pair) pair.candidate = { bytes: 1 }
    }
    expect(gaps(better)).toEqual(said)
    const fresher = (edited: Order) => {
      const job = edited.earlier_jobs['exp-001']?.[0]
      if (job) job.runner = 'another machine'
    }
    expect(gaps(fresher)).toEqual(said)
  })

  it.each([
    ['a looser level', withTerms({ alpha: 0.05 })],
    ['what was never confirmed, as if it was', withTerms({ as: 'confirmed' })],
    ['a simplification that is none', withTerms({ as: 'simplify' })],
    ['another share of the level', withTerms({ alpha_share: 0 })],
    ['another variant', withTerms({ variant: 1 })],
    ['more jobs', withTerms({ max_jobs: 80 })],
    ['a smaller gain', withRule({ min_effect: 0.001 })],
    ['a harm that counts as nothing', withRule({ null_effect: 0 })],
    ['a lower screen', withRule({ screen: 2 })],
    ['no fresh runner', withRule({ fresh_runners: 0 })],
    ['fewer pairs', withRule({ pairs: 2 })],
    ['fewer metrics', withRule({ metrics: [] })],
    ['another scale', withRule({ scale: 'linear' })],
  ])('names easier terms: %s', (_, edit) => {
    expect(second().gaps(edit)).toEqual(['its terms are not those of the campaign'])
  })

  it('names terms for somebody who is not measured, or none for somebody who is', () => {
    const said = ['its terms are not those of the campaign']
    const { gaps } = second()
    expect(gaps(withRule({ terms: {} }))).toEqual(said)
    expect(gaps(edited => void edited.candidates.pop())).toEqual(said)
  })

  it('names an order for pairs in a campaign that was not calibrated for them', () => {
    const { before, order, spec } = second()
    expect(findOrderGaps({ ...before, calibration: null }, spec, order)).toEqual([
      'it is judged by pairs, for which the campaign was not calibrated',
    ])
  })

  it('names another base: its pairs would be of other trees', () => {
    expect(second().gaps(edited => void (edited.base = pointOf('elsewhere')))[0]).toMatch(/^its base is /)
  })
})
