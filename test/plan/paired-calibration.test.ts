import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/model/order.ts'
import { type CampaignBuilder, SPEC, unprepared } from './a-campaign.ts'
import type { Behaviour } from './a-report.ts'
import { carryOut, draftsOfKind, settle } from './a-world.ts'
import { answered, BASE, fewer, NOTHING } from './noisy.ts'

const TIMED = SPEC.replace('name: bytes', 'name: wall_seconds')

const timed = (behaviour: typeof BASE) => (nth: number) => {
  const printed = called(behaviour, nth)
  return { ...printed, wall_seconds: (printed['bytes'] ?? 0) / 1000 }
}
const TIMES = { base: timed(BASE), 'base-copy': timed(NOTHING) }

function underWay(built: CampaignBuilder): Order | undefined {
  settle(built)
  return Object.values(built.campaign.orders).find(({ report }) => report === null)?.order
}

describe('a campaign with a noisy metric', () => {
  it('first finds out that it is, then measures the base against itself in two jobs', () => {
    const built = unprepared()
    expect(underWay(built)).toMatchObject({
      purpose: 'calibration',
      candidates: [],
      stop: { rule: 'calibrate' },
    })
    answered(built)
    const first = underWay(built)
    const { incumbent } = built.campaign
    expect(first).toMatchObject({
      purpose: 'calibration',
      candidates: [{ label: 'base-copy', head: incumbent.commit, tree: incumbent.tree }],
      stop: { rule: 'pairs', pairs: 8, metrics: ['bytes'] },
      earlier_jobs: {},
    })
    answered(built)
    const second = underWay(built)
    expect(second?.earlier_jobs['base-copy']).toMatchObject([{ order: first?.id, complete: true }])
    expect(second?.coins).not.toBe(first?.coins)
    answered(built)
    settle(built)
    expect(built.campaign.calibration).toMatchObject({
      deterministic: false,
      scale: 'log',
      noise: { jobs: 2, pairs: 16 },
      reason: expect.stringMatching(/^bytes varies from .*; pairs of the base with itself differ by 0\.\d %/),
    })
  })

  it('that is a time is not asked whether it repeats', () => {
    const built = unprepared(TIMED)
    expect(underWay(built)).toMatchObject({ stop: { rule: 'pairs' }, candidates: [{ label: 'base-copy' }] })
  })

  it('opens no experiment before, and orders them in pairs after', () => {
    const built = unprepared().withExperiment()
    for (let orders = 0; orders < 3; orders++) {
      expect(underWay(built)?.purpose).toBe('calibration')
      answered(built)
    }
    expect(underWay(built)).toMatchObject({
      purpose: 'experiment',
      stop: { rule: 'paired', single_machine: true },
    })
  })

  it('whose harness tells two copies of the base apart is refused, with what to look for', () => {
    const built = unprepared(TIMED)
    const twin = timed(fewer(0.1, 3))
    for (let jobs = 0; jobs < 4; jobs++) {
      settle(built)
      answered(built, { ...TIMES, 'base-copy': twin })
    }
    settle(built)
    expect(built.campaign).toMatchObject({
      status: 'paused',
      calibration: null,
      status_reason: expect.stringMatching(
        /^the harness is not fair: wall_seconds tells two identical copies of the base apart \(evidence of 20 in two independent calibrations, 32 pairs in all\)\. A result depends on which copy runs/,
      ),
    })
    expect(built.campaign.status_reason).toMatch(/[^.]\.\nFix it, then run winnow resume/)
  })

  it('that is told apart from itself by chance is calibrated again, with fresh coins, and goes on', () => {
    const built = unprepared(TIMED)
    const lucky = timed(fewer(0.02, 3))
    for (const twin of [lucky, lucky, TIMES['base-copy'], TIMES['base-copy']]) {
      settle(built)
      answered(built, { ...TIMES, 'base-copy': twin })
    }
    settle(built)
    expect(built.campaign.calibration).toMatchObject({ noise: { jobs: 4, pairs: 32 } })
    const coins = built.events.flatMap(event =>
      event.kind === 'order-issued' && event.purpose === 'calibration' ? [event.coins] : [],
    )
    expect(new Set(coins).size).toBe(coins.length)
  })

  it('that is told apart twice, but to the other side the second time, goes on', () => {
    const built = unprepared(TIMED)
    const [faster, slower] = [timed(fewer(0.02, 3)), timed(fewer(-0.02, 3))]
    for (const twin of [faster, faster, slower, slower]) {
      settle(built)
      answered(built, { ...TIMES, 'base-copy': twin })
    }
    settle(built)
    expect(built.campaign.calibration).toMatchObject({ noise: { jobs: 4 } })
  })

  it('whose base fails is measured again with what was measured before, and given up after max_attempts', () => {
    const built = unprepared(TIMED)
    settle(built)
    answered(built)
    const second = underWay(built)
    for (let attempts = 1; attempts <= 3; attempts++) {
      expect(underWay(built)).toMatchObject({ attempt: attempts, earlier_jobs: second?.earlier_jobs })
      answered(built, { base: 'set-up-fails' })
    }
    settle(built)
    expect(built.campaign).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('(3 attempts)'),
    })
  })

  it('whose harness fails now and then on unchanged code pauses with the advice that fits', () => {
    const built = unprepared(TIMED)
    settle(built)
    const flaky: Behaviour = nth => (nth === 3 ? null : { bytes: 1000, wall_seconds: 1 + nth / 1000 })
    answered(built, { ...TIMES, 'base-copy': flaky })
    settle(built)
    expect(built.campaign.status).toBe('running')
    answered(built, { ...TIMES, 'base-copy': flaky })
    settle(built)
    expect(built.campaign).toMatchObject({ status: 'paused', calibration: null })
    expect(built.campaign.status_reason).toMatch(
      /^the harness failed in 2 of 32 runs of unchanged code: exit 1\.\nIdeas would fail as often\. Let it exit 0 and print the number whenever it has measured/,
    )
  })

  it('whose second job is lost goes on with it', () => {
    const built = unprepared(TIMED)
    settle(built)
    answered(built, TIMES)
    const second = underWay(built)
    if (!second) throw new Error('nothing is measured')
    built.add({ kind: 'order-lost', cause: second.id, order: second.id, started: true, reason: 'gone' })
    expect(underWay(built)).toMatchObject({ attempt: 1, earlier_jobs: second.earlier_jobs })
    answered(built, TIMES)
    settle(built)
    expect(built.campaign.calibration).toMatchObject({ noise: { jobs: 2, pairs: 16 } })
  })

  it('on a linear scale has to be told what gain is worth having', () => {
    const built = unprepared()
    const crossing = (nth: number) => ({ bytes: nth % 2 === 0 ? 1 + nth / 100 : -1 - nth / 90 })
    const other = (nth: number) => ({ bytes: nth % 3 === 0 ? 1.2 + nth / 80 : -1.1 - nth / 70 })
    for (let orders = 0; orders < 3; orders++) {
      settle(built)
      answered(built, { base: crossing, 'base-copy': other })
    }
    settle(built)
    expect(built.campaign.status_reason).toMatch(
      /^evidence\.min_effect is not set, and bytes is compared on a linear scale/,
    )
  })

  it('believes in no determinism that ended: it is calibrated anew, and all is measured again', () => {
    const built = unprepared(SPEC)
    settle(built)
    answered(built, { base: { bytes: 2000 } })
    settle(built)
    expect(built.campaign.calibration).toMatchObject({ deterministic: true })
    built.withExperiment()
    settle(built)
    const changing = fewer(0.5, 5)
    answered(built, { base: { bytes: 2000 }, 'exp-001': changing })
    const planned = carryOut(built)
    expect(draftsOfKind(planned, 'calibrated')).toMatchObject([{ deterministic: false, noise: null }])
    expect(underWay(built)).toMatchObject({ purpose: 'calibration', candidates: [{ label: 'base-copy' }] })
    answered(built, { base: BASE, 'base-copy': NOTHING })
    settle(built)
    answered(built, { base: BASE, 'base-copy': NOTHING })
    settle(built)
    expect(built.campaign.calibration?.reason).toMatch(/^bytes differs .*; pairs of the base/)
  })
})

function called(behaviour: typeof BASE, nth: number): Record<string, number> {
  return (typeof behaviour === 'function' ? behaviour(nth) : null) ?? {}
}
