import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { observePair } from '../../src/decide/evidence/observe.ts'
import { startEvidence } from '../../src/decide/evidence/state.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { evaluatePairs } from '../../src/decide/paired/evaluate.ts'
import { type PairRequest, type PairJob, buildPairJob, aggregateReadings } from '../../src/model/pairs.ts'
import type { Execution } from '../../src/model/report.ts'
import { aCase, aRule } from '../decide/paired/a-case.ts'
import { run } from '../decide/a-spec.ts'
import { settle } from '../plan/a-world.ts'
import { answered, noisy } from '../plan/noisy.ts'

const ASKED: PairRequest = { order: 'a'.repeat(64), metrics: ['bytes'], pairs: 3 }
const of = (executions: Execution[], asked: Partial<PairRequest> = {}, label = 'exp-001') =>
  buildPairJob({ ...ASKED, ...asked }, { executions, runner: 'boot' }, label)
const base = (bytes: number) => run('base', { bytes })
const candidate = (bytes: number) => run('exp-001', { bytes })
const crashed = (side: 'base' | 'exp-001') => run(side, {}, { status: 'crashed', exit_code: 1 })

describe('the pairs of a report', () => {
  it('are the raw values of both sides by block, and the side that ran first', () => {
    const job = of([base(10), candidate(9), candidate(8), base(11), base(12), candidate(7)])
    expect(job).toEqual({
      order: ASKED.order,
      runner: 'boot',
      complete: true,
      pairs: [
        { first: 'base', base: { bytes: 10 }, candidate: { bytes: 9 } },
        { first: 'candidate', base: { bytes: 11 }, candidate: { bytes: 8 } },
        { first: 'base', base: { bytes: 12 }, candidate: { bytes: 7 } },
      ],
    })
  })

  it('are aggregated over all jobs, not only the last one', () => {
    const jobs = [
      of([base(10), candidate(9), base(12), candidate(5), base(11), candidate(7)]),
      of([base(90), candidate(80)]),
      of([base(13), crashed('exp-001')]),
    ]
    expect(aggregateReadings(jobs, 'base', 'median')).toEqual({ bytes: 12 })
    expect(aggregateReadings(jobs, 'candidate', 'median')).toEqual({ bytes: 8 })
    expect(aggregateReadings([], 'base', 'median')).toEqual({})
  })

  it('leave out warm-ups and everything else that is no sample', () => {
    const warm = [
      run('base', { bytes: 99 }, { role: 'warmup' }),
      run('exp-001', { bytes: 98 }, { role: 'warmup' }),
    ]
    expect(of([...warm, base(10), candidate(9)]).pairs).toEqual([
      { first: 'base', base: { bytes: 10 }, candidate: { bytes: 9 } },
    ])
  })

  it('are fewer in an incomplete job that ended early', () => {
    expect(of([base(10), candidate(9)])).toMatchObject({ complete: false, pairs: [{}] })
    expect(of([base(10), candidate(9), base(10)]).pairs).toHaveLength(1)
    expect(of([])).toMatchObject({ complete: false, pairs: [] })
  })

  it('of one candidate are independent of other candidates in the block', () => {
    const other = run('exp-002', { bytes: 5 })
    const executions = [other, base(10), candidate(9), base(11), candidate(8)]
    expect(of(executions).pairs.map(({ first }) => first)).toEqual(['base', 'base'])
    expect(of(executions, {}, 'exp-002').pairs).toEqual([
      { first: 'candidate', base: { bytes: 10 }, candidate: { bytes: 5 } },
    ])
  })

  it('have null for a failed side, even if it printed values', () => {
    const { pairs } = of([crashed('base'), candidate(9), base(10), crashed('exp-001')])
    expect(pairs.map(pair => [pair.base, pair.candidate])).toEqual([
      [null, { bytes: 9 }],
      [{ bytes: 10 }, null],
    ])
  })

  it('have null for a missing or non-finite number (invariant 5)', () => {
    const strange = run('exp-001', { other: 3, bytes: null })
    const job = of([base(10), strange, base(Number.NaN), candidate(Infinity)], {
      metrics: ['bytes', 'other'],
    })
    expect(job.pairs).toEqual([
      { first: 'base', base: { bytes: 10, other: null }, candidate: { bytes: null, other: 3 } },
      { first: 'base', base: { bytes: null, other: null }, candidate: { bytes: null, other: null } },
    ])
  })
})

describe('evidence carried from order to order', () => {
  const gains = fc.array(fc.double({ min: -0.08, max: 0.12, noNaN: true }), { minLength: 64, maxLength: 64 })

  /** The jobs of one candidate whose n-th pair has the n-th gain, as they are in the campaign while it is open. */
  function carried(all: readonly number[]): readonly PairJob[] {
    const built = noisy().withExperiment()
    let jobs: readonly PairJob[] = []
    for (;;) {
      settle(built)
      const from = jobs.flatMap(({ pairs }) => pairs).length
      const candidateOf = (nth: number) => ({ bytes: 1000 * Math.exp(-(all[from + nth] ?? 0)) })
      const orders = answered(built, { base: () => ({ bytes: 1000 }), 'exp-001': candidateOf })
      const { evidence, resumed, give_up: giveUp } = built.experiment('exp-001')
      if (orders.length === 0 || resumed > 0 || giveUp !== 'early' || !evidence) return jobs
      jobs = structuredClone(evidence.jobs)
    }
  }

  it('equals the evidence of all pairs observed at once', () => {
    const rule = aRule()
    fc.assert(
      fc.property(gains, all => {
        const jobs = carried(all)
        let direct = startEvidence({
          direction: 'minimize',
          minEffect: rule.min_effect,
          nullEffect: rule.null_effect,
          alpha: 0.001,
          pairsPerJob: rule.pairs,
          singleMachine: true,
        })
        const lengths = jobs.flatMap(({ pairs }, job) => pairs.map(() => job))
        for (const [at, job] of lengths.entries()) {
          const candidate = 1000 * Math.exp(-(all[at] ?? 0))
          direct = observePair(direct, { base: 1000, candidate, job, order: 'base-first' })
        }
        const { primary, status } = evaluatePairs(aCase(jobs, { terms: { alpha: 0.001 } }))
        expect(getEvidenceStatus(direct).status).toBe(status)
        expect(status).not.toBe('continue')
        expect(primary.differences).toEqual(direct.differences)
        expect([primary.keep, primary.drop, primary.screened, primary.decided]).toEqual([
          direct.keep,
          direct.drop,
          direct.screened,
          direct.decided,
        ])
      }),
      { numRuns: 20 },
    )
  })
})
