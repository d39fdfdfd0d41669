import { describe, expect, it } from 'vitest'
import { collectEvidence } from '../../src/engine/verify/evidence.ts'
import { createEvidence } from '../../src/engine/verify/evidence.ts'
import { findOrderGaps } from '../../src/engine/verify/orders.ts'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import type { Order } from '../../src/model/order.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { HoldoutFacts } from '../../src/plan/world.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { campaign, type CampaignBuilder, oidOf, SPEC } from './a-campaign.ts'
import { carryOut, draftsOfKind, endings, settle, stepsOf, world } from './a-world.ts'

const HOLDOUT = 'holdout: { command: sh bench/held-back, source: refs/holdout/a, pairs: 3, max_uses: 2 }'
const WITH = SPEC.replace('sh bench/run }', `sh bench/run, ${HOLDOUT} }`)
const SOURCE = { ref: 'refs/holdout/a', commit: oidOf('held back'), tree: oidOf('tree of it') }
const there = { holdout: { source: SOURCE } satisfies HoldoutFacts }
const better = (bytes: number) => ({ candidate: { bytes } })

/** Two that gained, on files of their own; exp-002 is the better one. */
function gained(yaml = WITH): CampaignBuilder {
  const built = campaign(yaml).withExperiments(2).ordered()
  return built.measured({ 'exp-001': better(9), 'exp-002': better(8) })
}

function live(built: CampaignBuilder): Order {
  const [open] = Object.values(built.campaign.orders).filter(({ report }) => report === null)
  if (!open) throw new Error('no order is under way')
  return open.order
}

const holds = { base: { bytes: 50 }, candidate: { bytes: 50 } }
const loses = { base: { bytes: 50 }, candidate: { bytes: 51 } }

describe('what would land', () => {
  it('is tried on the holdout first: the best alone, on its very trees, and only now', () => {
    const built = campaign(WITH).withExperiments(2).ordered()
    expect(settle(built, () => there)).toMatchObject({ waiting: { for: 'orders' } })
    expect(Object.values(built.campaign.orders).map(({ order }) => order.purpose)).not.toContain('holdout')
    built.measured({ 'exp-001': better(9), 'exp-002': better(8) })
    const measured = built.order('exp-002')
    const [order, ...more] = draftsOfKind(carryOut(built, there), 'order-issued')
    expect(more).toEqual([])
    expect(order).toMatchObject({
      purpose: 'holdout',
      base: measured.base,
      candidates: measured.candidates,
      stop: { rule: 'holdout', metrics: ['bytes'], pairs: 3, margin: 0, exact: true, source: SOURCE },
    })
    expect(built.experiment('exp-002')).toMatchObject({ status: 'measured', order: measured.id })
    expect(planCampaign(world(built, there))).toMatchObject({ actions: [], waiting: { for: 'orders' } })
  })

  it('lands when it holds, and keeps the numbers that its gain was shown by', () => {
    const built = gained()
    carryOut(built, there)
    const { metrics, measured_tree } = built.experiment('exp-002')
    built.measured({ 'exp-002': holds })
    expect(built.experiment('exp-002')).toMatchObject({ metrics, measured_tree })
    const planned = carryOut(built, there)
    expect(endings(planned)).toMatchObject({ 'exp-002': 'kept' })
    expect(draftsOfKind(planned, 'decided')[0]).toMatchObject({ primary_delta: 2, outcome: 'kept' })
    expect(built.campaign.holdout_uses).toEqual({ [`tree ${SOURCE.tree}`]: 1 })
  })

  it('is dropped when it does not, and the next best is tried', () => {
    const built = gained()
    carryOut(built, there)
    built.measured({ 'exp-002': loses })
    const planned = carryOut(built, there)
    expect(endings(planned)).toEqual({ 'exp-002': 'dropped' })
    expect(draftsOfKind(planned, 'decided')[0]).toMatchObject({ reason: 'holdout', verdict: 'no gain' })
    carryOut(built, there)
    expect(live(built)).toMatchObject({ purpose: 'holdout', candidates: [{ label: 'exp-001' }] })
  })

  it('on top of a winner is tried too', () => {
    const built = gained(WITH.replace('max_uses: 2', 'max_uses: 9'))
    carryOut(built, there)
    built.measured({ 'exp-002': holds })
    settle(built, () => there)
    expect(live(built).purpose).toBe('combination')
    built.measured({ 'exp-001': better(7) })
    carryOut(built, there)
    expect(live(built)).toMatchObject({ purpose: 'holdout', base: built.campaign.incumbent })
    built.measured({ 'exp-001': loses })
    settle(built, () => there)
    expect(built.experiment('exp-001')).toMatchObject({ outcome: 'dropped', reason: 'holdout' })
    expect(built.campaign.round?.open).toBe(false)
  })

  it('lands at once without a holdout', () => {
    expect(endings(carryOut(gained(SPEC)))).toMatchObject({ 'exp-002': 'kept' })
  })

  it('is asked again when nobody is to blame, and given up in words that tell nothing', () => {
    const built = gained(WITH.replace('max_uses: 2', 'max_uses: 9'))
    for (let attempt = 1; attempt <= 3; attempt++) {
      carryOut(built, there)
      expect(live(built).attempt).toBe(attempt)
      built.measured({ 'exp-002': { ...holds, base: 'crashes' } })
    }
    carryOut(built, there)
    expect(built.experiment('exp-002')).toMatchObject({
      outcome: 'error',
      reason: 'its holdout could not be measured (3 attempts)',
    })
  })
})

describe('a use', () => {
  it('is counted when it is asked for, lost or not, and is nobody’s verdict when it is lost', () => {
    const built = gained(WITH.replace('max_uses: 2', 'max_uses: 9'))
    for (const interrupted of [1, 2, 3, 4, 5]) {
      carryOut(built, there)
      const { id } = live(built)
      built.add({ kind: 'order-lost', cause: id, order: id, started: true, reason: 'its process ended' })
      expect(built.experiment('exp-002')).toMatchObject({ interrupted, status: 'measured', holdout: null })
      expect(built.campaign.holdout_uses).toEqual({ [`tree ${SOURCE.tree}`]: interrupted })
    }
    carryOut(built, there)
    expect(built.experiment('exp-002')).toMatchObject({ status: 'not-proven', verdict: 'not proven' })
  })

  it('more than the spec allows is not made: the campaign pauses', () => {
    const built = gained(WITH.replace('max_uses: 2', 'max_uses: 1'))
    carryOut(built, there)
    built.measured({ 'exp-002': loses })
    settle(built, () => there)
    expect(built.campaign).toMatchObject({ status: 'paused', status_source: 'engine' })
    expect(built.campaign.status_reason).toMatch(/used 1 time .+Replace it with a fresh one.+raise max_uses/s)
    built.add({ kind: 'campaign-resumed', cause: 'a person', reason: 'a fresh one' })
    carryOut(built, { holdout: { source: { ...SOURCE, tree: oidOf('fresh') } } })
    expect(live(built).purpose).toBe('holdout')
  })

  it('of what is not there is not made either', () => {
    const built = gained()
    carryOut(built, { holdout: { missing: 'there is no refs/holdout/a' } })
    expect(built.campaign.status_reason).toMatch(/^the holdout cannot be found: there is no refs\/holdout\/a/)
  })

  it('waits until it is known where the holdout is', () => {
    expect(stepsOf(planCampaign(world(gained())))).toEqual([])
  })

  it('whose terms were amended since counts for nothing', () => {
    const built = gained(WITH.replace('max_uses: 2', 'max_uses: 9'))
    carryOut(built, there)
    built.measured({ 'exp-002': holds })
    const stricter = parseSpec(built.yaml.replace('pairs: 3', 'pairs: 9'), { file: 'size.yaml' }).spec
    const planned = planCampaign(world(built, { ...there, spec: stricter }))
    expect(draftsOfKind(planned, 'order-issued')).toMatchObject([{ purpose: 'holdout', attempt: 1 }])
  })
})

/** The gaps that an audit finds in the verdicts that land something, with these events. */
function gapsOf(built: CampaignBuilder): string[] {
  const evidence = createEvidence()
  const folded = createEmptyCampaign()
  for (const event of built.events) {
    collectEvidence(evidence, folded, built.spec, event)
    applyEvent(folded, event)
  }
  return [...evidence.verdicts.values()].flatMap(({ gaps }) => gaps)
}

describe('an audit', () => {
  it('finds nothing where what landed had passed', () => {
    const built = gained()
    carryOut(built, there)
    built.measured({ 'exp-002': holds })
    carryOut(built, there)
    expect(gapsOf(built)).toEqual([])
  })

  const without = { ...there, spec: parseSpec(SPEC, { file: 'size.yaml' }).spec }

  it('names a landing that was not tried on the holdout', () => {
    const built = gained()
    carryOut(built, without)
    expect(gapsOf(built)).toEqual(['it was not tried on the holdout, which the spec asks for before a merge'])
  })

  it('names a landing that did not wait for its holdout, or did not pass it', () => {
    const waiting = gained()
    carryOut(waiting, there)
    const failing = gained()
    carryOut(failing, there)
    failing.measured({ 'exp-002': loses })
    for (const built of [waiting, failing]) carryOut(built, without)
    expect(gapsOf(waiting)).toEqual([expect.stringMatching(/was not measured before it landed$/)])
    expect(gapsOf(failing)).toEqual([expect.stringMatching(/judged again, did not pass$/)])
  })

  it('finds other terms than the spec asks for, and a use too many', () => {
    const built = gained()
    carryOut(built, there)
    const order = live(built)
    if (order.stop.rule !== 'holdout') throw new Error('no holdout')
    const before = { ...built.campaign, holdout_uses: {} }
    expect(findOrderGaps(before, built.spec, order)).toEqual([])
    for (const stop of [
      { ...order.stop, pairs: 1 },
      { ...order.stop, margin: 5 },
      { ...order.stop, command: 'true' },
      { ...order.stop, source: null },
      { ...order.stop, source: { ...SOURCE, ref: 'refs/holdout/easy' } },
      { ...order.stop, source: { environment: 'EASY' } },
    ])
      expect(findOrderGaps(before, built.spec, { ...order, stop })).toEqual([
        'its holdout is not the one the spec asks for',
      ])
    const used = { ...before, holdout_uses: { [`tree ${SOURCE.tree}`]: 2 } }
    expect(findOrderGaps(used, built.spec, order)).toEqual(['its holdout was used up before'])
  })
})
