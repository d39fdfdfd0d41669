import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { Order } from '../../src/model/order.ts'
import type { PairJob } from '../../src/model/pairs.ts'
import type { Report } from '../../src/model/report.ts'
import { readEffectReport } from '../../src/plan/effects.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { anOrder } from '../model/an-order.ts'
import { oidOf, pointOf, SPEC, START } from './a-campaign.ts'
import { type Behaviour, reportOf } from './a-report.ts'

const { spec } = parseSpec(SPEC.replace('name: bytes', 'name: wall_seconds'), { file: 'size.yaml' })
const AFTER = pointOf('after')
const landing: Campaign['landings'][number] = {
  experiment: 'exp-001',
  ...AFTER,
  head: oidOf('head'),
  base: START,
  pin: START.commit,
  order: null,
  reverted: null,
  effect: null,
  upstream: false,
  spec_seq: 0,
  watch: { state: 'open', jobs: [], at: '2026-01-01T00:00:00Z' },
}

function orderOf(purpose: Order['purpose'], earlier_jobs: PairJob[] = []): Order {
  return anOrder({
    id: hashSha256(purpose),
    purpose,
    pin: START,
    base: START,
    candidates: [{ label: 'incumbent', head: AFTER.commit, tree: AFTER.tree }],
    earlier_jobs: { incumbent: earlier_jobs },
    stop: { rule: 'pairs', metrics: ['wall_seconds'], scale: 'log', pairs: 8 },
  })
}

function read(
  order: Order,
  candidate: Behaviour,
  rest: Partial<Report> = {},
  { landings = [landing], jobs = [] }: { landings?: Campaign['landings']; jobs?: PairJob[] } = {},
) {
  const behaviourOf = (side: string) => (side === 'base' ? { wall_seconds: 10 } : candidate)
  const report = reportOf({ order, spec, behaviourOf }, rest)
  const { base: from, harness } = order
  const progressing = { from, to: AFTER, harness, jobs, parts: jobs.map((_, part) => part) }
  return readEffectReport({ landings, progressing, harness }, spec, {
    order,
    report,
    event: hashSha256('measured'),
  })
}

/** As often a tenth slower as a tenth faster. */
function undecided(name: string): PairJob {
  const pairs = [9, 11, 11, 9, 9, 11, 11, 9].map(wall_seconds => ({
    first: 'base' as const,
    base: { wall_seconds: 10 },
    candidate: { wall_seconds },
  }))
  return { order: hashSha256(name), runner: 'boot', complete: true, pairs }
}

describe('the report on an effect', () => {
  it('says how much the landing brought, and of which landing', () => {
    expect(read(orderOf('effect'), { wall_seconds: 8 })).toMatchObject({
      is: 'measured',
      draft: { what: 'landing', experiment: 'exp-001', from: START, to: AFTER, pairs: 8, state: null },
    })
  })

  it('proves nothing where the base, the set-up or the runner failed: it is measured again', () => {
    const failed = { is: 'failed', retry: true }
    expect(read(orderOf('effect'), { wall_seconds: 8 }, { runner_error: 'disk full' })).toMatchObject(failed)
    const order = orderOf('effect')
    const cut = read(order, { wall_seconds: 8 }, { executions: [] })
    expect(cut).toMatchObject(failed)
  })

  it('is no effect where the commit itself does not work, or has no logarithm', () => {
    expect(read(orderOf('effect'), 'gate-fails')).toMatchObject({ is: 'failed', retry: false })
    expect(read(orderOf('effect'), { wall_seconds: 0 })).toMatchObject({
      is: 'failed',
      retry: false,
      reason: expect.stringContaining('scale violated'),
    })
  })

  it('is void once the landing was reverted', () => {
    const gone = [{ ...landing, reverted: AFTER.commit }]
    expect(read(orderOf('effect'), { wall_seconds: 8 }, {}, { landings: gone })).toMatchObject({
      is: 'failed',
      retry: false,
    })
  })

  it('of progress is said by the first of eight jobs and by the last one', () => {
    const order = orderOf('progression')
    const own = { ...undecided('own'), order: order.id }
    const others = Array.from({ length: 7 }, (_, at) => undecided(`job ${at}`))
    const readWith = (jobs: PairJob[]) => read(order, { wall_seconds: 8 }, {}, { jobs })
    const said = (pairs: number) => ({
      is: 'measured',
      draft: { what: 'progression', experiment: null, pairs },
    })
    expect(readWith([own])).toMatchObject(said(8))
    expect(readWith([...others.slice(1), own])).toEqual({ is: 'needs-more-pairs' })
    expect(readWith([...others, own])).toMatchObject(said(64))
    expect(readWith([own, ...others])).toEqual({ is: 'needs-more-pairs' })
  })
})

describe('a night of watching a landing', () => {
  const state = (jobs: PairJob[], candidate: Behaviour) => {
    const reading = read(orderOf('regression', jobs), candidate)
    return reading.is === 'measured' ? [reading.draft.state, reading.revert] : reading
  }

  it('shows that it holds, or that it is worse, and then it is asked back', () => {
    expect(state([], { wall_seconds: 10 })).toEqual(['clear', false])
    expect(state([undecided('a')], { wall_seconds: 40 })).toEqual(['open', false])
    const worse = {
      ...undecided('b'),
      pairs: undecided('b').pairs.map(pair => ({ ...pair, candidate: { wall_seconds: 12 } })),
    }
    expect(state([worse], { wall_seconds: 12 })).toEqual(['flagged', true])
  })

  it('that shows neither goes on, and is flagged after eight', () => {
    const nights = Array.from({ length: 7 }, (_, at) => undecided(`night ${at}`))
    expect(state(nights.slice(1), { wall_seconds: 10.5 })).toEqual(['open', false])
    expect(state(nights, { wall_seconds: 10.5 })).toEqual(['flagged', false])
  })
})
