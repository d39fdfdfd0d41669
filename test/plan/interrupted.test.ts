import { describe, expect, it } from 'vitest'
import type { RunFacts } from '../../src/plan/world.ts'
import type { Order } from '../../src/model/order.ts'
import { findOrderGaps } from '../../src/engine/verify/orders.ts'
import { describeInterruptions } from '../../src/plan/landing.ts'
import { MACHINE } from '../model/a-machine.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'
import { type CampaignBuilder, oidOf, SPEC, unprepared } from './a-campaign.ts'
import { type Behaviour, cutOff, reportOf } from './a-report.ts'
import { actionsOf, carryOut, settle } from './a-world.ts'
import { answered, BASE, GAIN, LOSS, measuredOut, noisy, NOTHING, SWAYING } from './noisy.ts'

function under(built: CampaignBuilder): Order[] {
  settle(built)
  return Object.values(built.campaign.orders).flatMap(({ order, report }) => (report === null ? [order] : []))
}

function only(orders: readonly Order[]): Order {
  const [order] = orders
  if (order === undefined || orders.length !== 1) throw new Error(`${orders.length} orders are under way`)
  return order
}

/** Its run is lost after so many executions, the last of which may have begun a pair. */
function lose(
  built: CampaignBuilder,
  order: Order,
  { sides, after, boot }: { sides: Record<string, Behaviour>; after: number; boot?: string },
): void {
  const behaviourOf = (side: string) => sides[side] ?? (side === 'base-copy' ? NOTHING : BASE)
  const partial = cutOff({ order, spec: built.spec, behaviourOf }, after)
  const machine = { ...MACHINE, ...(boot === undefined ? {} : { boot_id: boot }) }
  const left = { ...partial, report: { ...partial.report, machine } }
  const { id } = order
  built.add({ kind: 'order-lost', cause: id, order: id, started: true, reason: 'gone', partial: left })
}

describe('a job in pairs that is interrupted', () => {
  const sides = { 'exp-001': GAIN }

  it('goes on with the next pairs of the same coins; the one that had begun is lost', () => {
    const built = noisy().withExperiment()
    const first = only(under(built))
    lose(built, first, { sides, after: 7 })
    const next = only(under(built))
    expect(next).toMatchObject({ attempt: 1, coins: first.coins, earlier_jobs: { 'exp-001': [] } })
    expect(next.resumes).toMatchObject({ order: first.id, block: 4 })
    const { pairs, complete } = next.resumes?.pieces['exp-001'] ?? {}
    expect(pairs?.map(({ lost = false }) => lost)).toEqual([false, false, false, true])
    expect(complete).toBe(false)

    const seeds = (order: Order) =>
      reportOf({ order, spec: built.spec, behaviourOf: side => (side === 'base' ? BASE : SWAYING) })
        .executions.filter(({ side }) => side === 'base')
        .map(({ seed }) => seed)
    expect(seeds(next)).toEqual(seeds(first).slice(4))
  })

  it('between two pairs loses none', () => {
    const built = noisy().withExperiment()
    const order = only(under(built))
    const behaviourOf = (side: string) => (side === 'base' ? BASE : GAIN)
    const { report } = cutOff({ order, spec: built.spec, behaviourOf }, 4)
    built.lost('exp-001', { report, begun: null })
    const { resumes } = only(under(built))
    expect(resumes?.block).toBe(2)
    expect(resumes?.pieces['exp-001']?.pairs.map(({ lost = false }) => lost)).toEqual([false, false])
  })

  it('is one job in the end, kept as without the interruption, and any number of times', () => {
    const built = noisy().withExperiment()
    for (const after of [3, 1, 0]) lose(built, only(under(built)), { sides, after })
    const [order] = measuredOut(built, sides)
    const job = order?.resumes?.pieces['exp-001']
    expect(job?.pairs.map(({ lost = false }) => lost)).toEqual([false, true, true, true])
    expect(built.experiment('exp-001')).toMatchObject({ outcome: 'kept', interrupted: 3 })
  })

  it('of several ideas takes them on together, each with the pairs it has', () => {
    const built = noisy(`${SPEC}execution: { max_concurrent: 3 }\n`).withExperiments(3)
    const all = { 'exp-001': GAIN, 'exp-002': LOSS, 'exp-003': NOTHING }
    const first = only(under(built))
    lose(built, first, { sides: all, after: 18 })
    const next = only(under(built))
    expect(next.candidates).toEqual(first.candidates)
    expect(next.coins).toBe(first.coins)
    measuredOut(built, all)
    expect(outcomeCounts(built.campaign)).toEqual({ kept: 1, dropped: 2 })
  })

  it('goes on for one idea where another of the same order has a new head by then', () => {
    const built = noisy(`${SPEC}execution: { max_concurrent: 2 }\n`).withExperiments(2)
    lose(built, only(under(built)), { sides: { 'exp-001': GAIN, 'exp-002': LOSS }, after: 7 })
    const { head: from } = built.experiment('exp-001')
    const moved = {
      kind: 'head-moved',
      cause: oidOf('new'),
      experiment: 'exp-001',
      to: oidOf('new'),
    } as const
    built.add({ ...moved, from })
    const orders = [only(under(built))]
    answered(built, { 'exp-002': LOSS })
    orders.push(only(under(built)))
    expect(orders.map(({ candidates }) => candidates[0]?.label)).toEqual(['exp-002', 'exp-001'])
    expect(orders.map(({ resumes }) => resumes?.pieces['exp-002']?.pairs.length)).toEqual([3, undefined])
  })

  it('and goes on elsewhere names both machines, and a machine without a whole pair took no part', () => {
    const built = noisy().withExperiment()
    const swaying = { 'exp-001': SWAYING }
    lose(built, only(under(built)), { sides: swaying, after: 3, boot: 'one' })
    lose(built, only(under(built)), { sides: swaying, after: 1, boot: 'two' })
    const order = only(under(built))
    answered(built, swaying)
    const [job] = built.experiment('exp-001').evidence?.jobs ?? []
    expect(job).toMatchObject({ order: order.id, runner: MACHINE.boot_id, also_on: ['one'], complete: true })
    expect(job?.pairs).toHaveLength(order.stop.rule === 'paired' ? order.stop.pairs : 0)
  })

  it('by a machine that fails has lost the pair in which it failed, whichever side that ended', () => {
    for (const [after, crashed] of [
      [7, false],
      [8, true],
    ] as const) {
      const built = noisy().withExperiment()
      const order = only(under(built))
      const behaviourOf = (side: string) => (side === 'base' ? BASE : GAIN)
      const { report } = cutOff({ order, spec: built.spec, behaviourOf }, after)
      const executions = report.executions.map((run, at) =>
        crashed && at === 7 ? { ...run, status: 'crashed' as const } : run,
      )
      const begun = { block: 3, sides: ['base', 'exp-001'] }
      const failed = { ...report, executions, runner_error: 'this machine failed', begun }
      const { id } = order
      built.add({ kind: 'measured', cause: id, order: id, run_id: 'run-1', report: failed })
      const next = only(under(built))
      expect(next.attempt).toBe(2)
      const [job] = next.earlier_jobs['exp-001'] ?? []
      expect(job?.pairs.map(({ lost = false }) => lost)).toEqual([false, false, false, true])
    }
  })

  it('is not proven after five losses with the pairs it has; a retry goes on from there', () => {
    const built = noisy().withExperiment()
    const coins = only(under(built)).coins
    for (let loss = 0; loss < 5; loss++) lose(built, only(under(built)), { sides, after: 2 })
    settle(built)
    for (let loss = 0; loss < 3; loss++) lose(built, only(under(built)), { sides, after: 0 })
    // It was taken up again by itself, since nothing else is queued: with the next pairs.
    expect(built.experiment('exp-001')).toMatchObject({ resumed: 1, interrupted: 3 })
    const unproven = built.events.flatMap(event => (event.kind === 'decided' ? [event] : []))
    expect(unproven).toMatchObject([
      { outcome: 'inconclusive', verdict: 'not proven', stays_open: true, reason: describeInterruptions(5) },
    ])
    expect(only(under(built))).toMatchObject({ coins })
  })

  it('cannot leave pairs out or draw them again: audit sees it', () => {
    const built = noisy().withExperiment()
    lose(built, only(under(built)), { sides, after: 5 })
    const before = structuredClone(built.campaign)
    const next = only(under(built))
    expect(findOrderGaps(before, built.spec, next)).toEqual([])
    const told = ['it does not continue from the pairs of the lost order']
    const { resumes: _resumes, ...fresh } = next
    expect(findOrderGaps(before, built.spec, fresh)).toEqual(told)
    expect(findOrderGaps(before, built.spec, { ...next, coins: '0'.repeat(64) })).toEqual(told)
  })
})

describe('pairs under way that are ended on purpose', () => {
  const sides = { 'exp-001': GAIN }
  const behaviourOf = (side: string) => (side === 'base' ? BASE : GAIN)

  /** A campaign that a person stops while its first job runs, and resumes. */
  function stopped(left: (built: CampaignBuilder, order: Order) => RunFacts, runId: string | null = 'run-1') {
    const built = noisy().withExperiment()
    const order = only(under(built))
    built.add({ kind: 'campaign-stopped', cause: 'nonce', code: 'person', reason: 'enough' })
    const runs = new Map([[order.id, left(built, order)]])
    const runner = { runId, machine: null, external: true }
    const planned = carryOut(built, { runs, runner })
    expect(actionsOf(planned, 'cancel')).toEqual([{ do: 'cancel', order: order.id }])
    settle(built)
    expect(built.experiment('exp-001').status).toBe('queued')
    built.add({ kind: 'campaign-resumed', cause: 'nonce', reason: '' })
    return { built, order }
  }

  it('by a stop go on after it with those that were measured: it draws none again', () => {
    const { built, order } = stopped((at, asked) => ({
      state: 'running',
      partial: cutOff({ order: asked, spec: at.spec, behaviourOf }, 5),
    }))
    const next = only(under(built))
    expect(next.coins).toBe(order.coins)
    const { pairs } = next.resumes?.pieces['exp-001'] ?? {}
    expect(pairs?.map(({ lost = false }) => lost)).toEqual([false, false, true])
    expect(built.experiment('exp-001').interrupted).toBe(0)
  })

  it('by a stop before the first of them has begun cost nothing', () => {
    const { built } = stopped(() => ({ state: 'running' }))
    expect(only(under(built))).toMatchObject({ earlier_jobs: { 'exp-001': [] } })
    expect(built.kinds()).not.toContain('order-lost')
  })

  it('by a stop elsewhere, where nothing comes back, start the keep side again', () => {
    const { built } = stopped(() => ({ state: 'running' }), null)
    expect(only(under(built)).earlier_jobs).toMatchObject({ 'exp-001': [{ unreported: true, pairs: [] }] })
  })

  it('by another commit with the same files are lost as well', () => {
    const built = noisy().withExperiment()
    const order = only(under(built))
    const { branch } = built.experiment('exp-001')
    const partial = cutOff({ order, spec: built.spec, behaviourOf }, 5)
    const runs = new Map([[order.id, { state: 'running' as const, partial }]])
    carryOut(built, { runs, branches: new Map([[branch ?? '', oidOf('again')]]) })
    expect(built.experiment('exp-001')).toMatchObject({ head: oidOf('again'), status: 'queued' })
    expect(built.experiment('exp-001').interruption?.pieces['exp-001']?.pairs).toHaveLength(3)
    measuredOut(built, sides)
  })
})

describe('a calibration in pairs that is interrupted', () => {
  it('goes on with the pairs and the jobs it has', () => {
    const built = unprepared()
    for (let orders = 0; orders < 2; orders++) {
      settle(built)
      answered(built)
    }
    const second = only(under(built))
    expect(second.earlier_jobs['base-copy']).toHaveLength(1)
    lose(built, second, { sides: {}, after: 5 })
    const next = only(under(built))
    expect(next).toMatchObject({ coins: second.coins, earlier_jobs: second.earlier_jobs, attempt: 1 })
    expect(next.resumes?.pieces['base-copy']?.pairs).toHaveLength(3)
    answered(built)
    settle(built)
    expect(built.campaign.calibration?.noise).toMatchObject({ jobs: 2, pairs: 15 })
  })
})
