import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign } from './a-campaign.ts'
import { carryOut, draftsOfKind, endings, settle, world } from './a-world.ts'

const CE = (stability: string) => `description: a ce spec
metric:
  primary: { type: hard, name: bytes, direction: minimize }
  degenerate_gates: [{ name: bytes, check: '> 1' }]
measurement:
  command: sh bench/run
  baseline: fresh
  stability: ${stability}
scope: { mutable: [src/], immutable: [bench/] }
`

const ONE = () => campaign().withExperiment().ordered()

describe('how an experiment ends', () => {
  it('kept: better, repeated and equal', () => {
    const built = ONE().measured({ 'exp-001': { candidate: { bytes: 8 } } })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'kept' })
    expect(built.experiment('exp-001')).toMatchObject({ status: 'ended', verdict: 'kept', closed: true })
    expect(built.campaign.incumbent.tree).toBe(
      built.campaign.landings[0]?.commit && built.campaign.baseline?.tree,
    )
  })

  it.each([
    ['dropped', 'worse', { bytes: 12 }],
    ['dropped', 'no gain', { bytes: 10 }],
    ['degenerate', 'broken', 'gate-fails'],
    ['error', 'broken', 'crashes'],
    ['timeout', 'broken', 'hangs'],
    ['error', 'broken', 'set-up-fails'],
    ['refused', 'refused', 'tampers'],
    ['error', 'broken', { lines: 3 }],
    ['inconclusive', 'not proven', 'varies'],
  ] as const)('%s (%s) when the candidate does %j', (outcome, verdict, candidate) => {
    const built = ONE().measured({
      'exp-001': { candidate: typeof candidate === 'string' ? candidate : { ...candidate } },
    })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': outcome })
    expect(built.experiment('exp-001')).toMatchObject({
      outcome,
      verdict,
      closed: true,
      order: expect.any(String),
    })
  })

  it('censored: far worse than the ladder cares to go on with', () => {
    const ladder = '{ mode: ladder, ladder: { exploratory_pairs: 2, futility: { worse_factor: 1.2 } } }'
    const built = campaign(CE(ladder)).withExperiment()
    built.issue({
      purpose: 'experiment',
      round: 1,
      stop: { rule: 'stability', baseline: null },
      candidates: [{ label: 'exp-001', head: built.experiment('exp-001').head ?? '', tree: 'a'.repeat(40) }],
    })
    built.measured({ 'exp-001': { candidate: { bytes: 30 } } })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'censored' })
    expect(built.experiment('exp-001').verdict).toBe('no gain')
  })

  it('withdrawn: nobody wants it any more', () => {
    const built = ONE()
    const closed = {
      number: 7,
      branch: 'optimize-exp/size/exp-001',
      base: 'optimize/size',
      state: 'closed',
      head: '',
      title: '',
      body: '',
    } as const
    const planned = carryOut(built, { pulls: [closed] })
    expect(endings(planned)).toEqual({ 'exp-001': 'withdrawn' })
    expect(planned.actions).toContainEqual({ do: 'cancel', order: expect.any(String) })
    expect(built.experiment('exp-001')).toMatchObject({
      verdict: 'no gain',
      reason: 'its pull request #7 was closed',
    })
  })

  it('refused before any of its code runs: the event carries the reason', () => {
    const built = campaign().withExperiment()
    const refusal = { code: 'out-of-scope', message: 'bench/run is outside scope.mutable' }
    const planned = carryOut(built, { candidates: { 'exp-001': { refusal } } })
    expect(draftsOfKind(planned, 'experiment-refused')).toMatchObject([{ experiment: 'exp-001', ...refusal }])
    expect(draftsOfKind(planned, 'order-issued')).toEqual([])
    expect(built.experiment('exp-001')).toMatchObject({
      outcome: 'refused',
      verdict: 'refused',
      closed: true,
    })
  })

  it('one transaction holds the verdict and the closing, and nothing is decided again', () => {
    const built = ONE().measured({ 'exp-001': { candidate: { bytes: 12 } } })
    carryOut(built)
    expect(built.kinds().slice(-3)).toEqual(['decided', 'closed', 'round-closed'])
    settle(built)
    expect(built.kinds().filter(kind => kind === 'decided' || kind === 'closed')).toHaveLength(2)
  })

  it('a report that arrives is judged in the plan that writes it', () => {
    const built = ONE()
    const order = built.order('exp-001')
    const report = built.answer(order, { candidate: { bytes: 8 } })
    const runs = new Map([[order.id, { state: 'reported', runId: 'run-1', report } as const]])
    expect(endings(planCampaign(world(built, { runs })))).toEqual({ 'exp-001': 'kept' })
  })
})

describe('what is nobody’s verdict is measured again', () => {
  const failing = { 'exp-001': { base: 'crashes', candidate: { bytes: 8 } } } as const

  it('with another order and other coins, up to max_attempts', () => {
    const built = ONE()
    for (const attempt of [1, 2]) {
      expect(built.order('exp-001').attempt).toBe(attempt)
      const { coins } = built.order('exp-001')
      built.measured(failing)
      carryOut(built)
      expect(built.order('exp-001').coins).not.toBe(coins)
    }
    built.measured(failing)
    carryOut(built)
    expect(built.experiment('exp-001')).toMatchObject({ status: 'not-proven', verdict: 'not proven' })
    expect(built.experiment('exp-001').reason).toContain('(3 attempts)')
  })

  it('a base whose gates fail says nothing about the candidate', () => {
    const built = ONE()
    const order = built.order('exp-001')
    const report = built.answer(order, { candidate: { bytes: 8 } })
    const [gate] = report.gates
    built.measured({ 'exp-001': { gates: [...report.gates, { ...gate!, side: 'base', passed: false }] } })
    const planned = carryOut(built)
    expect(endings(planned)).toEqual({})
    expect(draftsOfKind(planned, 'order-issued')).toMatchObject([{ attempt: 2, purpose: 'experiment' }])
  })
})

describe('a harness that turns out not to repeat', () => {
  it('ends the belief in it: nothing measured under it is merged, and the base is measured against itself', () => {
    const built = campaign().withExperiments(2).ordered()
    built.measured({ 'exp-001': { candidate: 'varies' }, 'exp-002': { candidate: { bytes: 8 } } })
    expect(endings(carryOut(built))).toEqual({ 'exp-001': 'inconclusive' })
    expect(built.campaign.calibration?.deterministic).toBe(false)
    expect(built.experiment('exp-002').status).toBe('queued')
    expect(draftsOfKind(carryOut(built), 'order-issued')).toMatchObject([
      { purpose: 'calibration', candidates: [{ label: 'base-copy' }] },
    ])
    expect(built.campaign.landings).toEqual([])
  })
})
