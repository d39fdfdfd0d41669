import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluatePairs } from '../../../src/decide/paired/evaluate.ts'
import type { PairJob } from '../../../src/model/pairs.ts'
import { aCase, aJob, type Gains, gainsOf, together } from './a-case.ts'

const statusOf = (...given: Parameters<typeof aCase>) => evaluatePairs(aCase(...given)).status
/** After how many pairs a candidate's standing first is this one; 8 pairs to a job. */
function firstAt(
  status: string,
  count: number,
  of: (pairs: number) => ReturnType<typeof evaluatePairs>,
): number {
  return (
    Array.from({ length: count }, (_, at) => at + 1).find(pairs => of(pairs).status === status) ?? Infinity
  )
}

const SCREENED = aJob('1', gainsOf('bytes', 0.05, 6))

describe('the evaluation of one candidate', () => {
  it('needs a first job', () => {
    expect(evaluatePairs(aCase([]))).toMatchObject({ status: 'new-job', improved: [], harmed: [], tie: null })
  })

  it('continues in its job, screens, and is kept on a fresh runner', () => {
    expect(statusOf([aJob('1', gainsOf('bytes', 0.05, 5))])).toBe('continue')
    expect(statusOf([SCREENED])).toBe('new-job')
    expect(statusOf([SCREENED, aJob('2', gainsOf('bytes', 0.05, 2))])).toBe('continue')
    const kept = evaluatePairs(aCase([SCREENED, aJob('2', gainsOf('bytes', 0.05, 3))]))
    expect(kept).toMatchObject({ status: 'keep', improved: ['bytes'], harmed: [] })
  })

  it('needs another boot id, or a new job on a single machine', () => {
    const jobs = [SCREENED, aJob('2', gainsOf('bytes', 0.05, 8))]
    expect(statusOf(jobs, { rule: { single_machine: false } })).toBe('new-job')
    const elsewhere = [SCREENED, aJob('2', gainsOf('bytes', 0.05, 8), { runner: 'other' })]
    expect(statusOf(elsewhere, { rule: { single_machine: false } })).toBe('keep')
  })

  it('is dropped for no gain, and worse only when harm is shown', () => {
    expect(evaluatePairs(aCase([aJob('1', gainsOf('bytes', 0, 8))]))).toMatchObject({
      status: 'drop',
      harmed: [],
    })
    expect(evaluatePairs(aCase([aJob('1', gainsOf('bytes', -0.05, 8))]))).toMatchObject({
      status: 'drop',
      harmed: ['bytes'],
    })
  })

  it('is not proven when its jobs are used up, and continues with more', () => {
    const undecided: Gains[] = [0.05, -0.02, 0.04, -0.01, 0.03, 0.06, -0.03, 0.02].map(bytes => ({ bytes }))
    const jobs = [aJob('1', undecided)]
    expect(statusOf(jobs, { terms: { max_jobs: 1 } })).toBe('not-proven')
    expect(statusOf(jobs, { terms: { max_jobs: 2 } })).toBe('new-job')
  })

  it('loses a pair with a failed execution, and is dropped after two', () => {
    const once = [...gainsOf('bytes', 0.05, 3), null]
    expect(statusOf([aJob('1', once)])).toBe('continue')
    const twice = evaluatePairs(aCase([aJob('1', [...once, null])]))
    expect([twice.status, twice.primary.decided?.reason]).toEqual(['drop', 'broken'])
  })

  it('loses nothing by a pair whose base failed', () => {
    const { pairs, ...job } = aJob('1', gainsOf('bytes', 0.05, 6))
    const voided = pairs.map((pair, at) => (at === 2 ? { ...pair, base: null } : pair))
    const { primary, status } = evaluatePairs(aCase([{ ...job, pairs: voided }]))
    expect([status, primary.differences.length, primary.jobs[0]?.void_pairs]).toEqual(['continue', 5, 1])
  })

  it('needs no second screen after a keep on an earlier base, and level .05', () => {
    const jobs = [aJob('1', gainsOf('bytes', 0.05, 8)), aJob('2', gainsOf('bytes', 0.05, 1))]
    const terms = { alpha: 0.05 } as const
    expect(statusOf(jobs, { terms: { ...terms, as: 'confirmed' } })).toBe('keep')
    expect(statusOf(jobs.slice(0, 1), { terms: { ...terms, as: 'confirmed' } })).toBe('new-job')
    expect(statusOf(jobs, { terms: { ...terms, as: 'combination' } })).toBe('keep')
  })
})

describe('several required objectives', () => {
  const metric = { objectives: [{ name: 'other', direction: 'minimize' }] }
  const rule = { metrics: ['bytes', 'other'] }
  const standing = (
    first: Record<string, number>,
    second?: { pairs: number; of: Record<string, number> },
  ) => {
    const jobs = [
      aJob('1', together(8, first)),
      ...(second ? [aJob('2', together(second.pairs, second.of))] : []),
    ]
    return evaluatePairs(aCase(jobs, { metric, rule }))
  }

  it('share the level: two need twice the evidence', () => {
    const kept = (objectives: boolean) =>
      firstAt('keep', 8, pairs => {
        const jobs = [
          aJob('1', together(6, { bytes: 0.05, other: 0 })),
          aJob('2', together(pairs, { bytes: 0.05, other: 0 })),
        ]
        return evaluatePairs(aCase(jobs, objectives ? { metric, rule } : {}))
      })
    expect([kept(false), kept(true)]).toEqual([3, 4])
  })

  it('are satisfied by one gain without a shown loss', () => {
    const gain = { bytes: 0, other: 0.06 }
    expect(standing(gain, { pairs: 8, of: gain })).toMatchObject({ status: 'keep', improved: ['other'] })
    const loss = { bytes: -0.05, other: 0.06 }
    expect(standing(loss)).toMatchObject({ status: 'drop', harmed: ['bytes'] })
  })

  it('continue with a screened one after the primary dropped', () => {
    const gain = { bytes: 0, other: 0.06 }
    expect(standing(gain)).toMatchObject({ status: 'new-job', promising: 'other', improved: [] })
    const inJob = [1, 2, 3].map(pairs => standing(gain, { pairs, of: gain }).status)
    expect(inJob).toEqual(['continue', 'continue', 'continue'])
    expect(standing(gain, { pairs: 4, of: gain })).toMatchObject({ status: 'keep', improved: ['other'] })
  })

  it('end as not proven when the screened one is used up', () => {
    const mixed: Gains[] = [0.05, -0.02, 0.04, -0.01, 0.03, 0.06, -0.03, 0.02].map(other => ({
      bytes: 0,
      other,
    }))
    const jobs = [aJob('1', together(8, { bytes: 0, other: 0.06 })), aJob('2', mixed)]
    expect(statusOf(jobs, { metric, rule, terms: { max_jobs: 2 } })).toBe('not-proven')
    expect(statusOf(jobs, { metric, rule, terms: { max_jobs: 3 } })).toBe('new-job')
  })

  it('do not continue with one that has not screened', () => {
    expect(standing({ bytes: 0, other: 0.001 })).toMatchObject({ status: 'drop', promising: null })
  })
})

describe('a guardrail', () => {
  const objectives = (rest = {}) => ({
    objectives: [{ name: 'guard', direction: 'minimize', role: 'guardrail', ...rest }],
  })
  const rule = { metrics: ['bytes', 'guard'] }
  const with_ = (guard: number, { pairs = 8, rest = {}, terms = {} } = {}) => {
    const gain = { bytes: 0.05, guard }
    const jobs = [aJob('1', together(6, gain)), aJob('2', together(pairs, gain))]
    return evaluatePairs(aCase(jobs, { metric: objectives(rest), rule, terms }))
  }

  it('allows a gain when shown harmless', () => {
    expect(with_(0)).toMatchObject({ status: 'keep', open: [], harmed: [] })
  })

  it('drops any gain when shown harmful', () => {
    expect(with_(-0.05)).toMatchObject({ status: 'drop', harmed: ['guard'], improved: ['bytes'] })
  })

  it('is measured further while open, and ends as not proven', () => {
    const swaying: Gains[] = [0.05, -0.06, 0.03, -0.03, 0.06, -0.05, 0.02, -0.02].map(guard => ({
      bytes: 0.05,
      guard,
    }))
    const [first, second] = [aJob('1', swaying.slice(0, 6)), aJob('2', swaying)]
    const cut = aJob('2', swaying.slice(0, 4))
    const metric = objectives()
    expect(evaluatePairs(aCase([first, cut], { metric, rule }))).toMatchObject({
      status: 'continue',
      open: ['guard'],
    })
    expect(statusOf([first, second], { metric, rule })).toBe('new-job')
    expect(statusOf([first, second], { metric, rule, terms: { max_jobs: 2 } })).toBe('not-proven')
  })

  it('may be worse by max_regression, and not without it', () => {
    expect(with_(-0.03).status).toBe('drop')
    expect(with_(-0.03, { rest: { max_regression: { type: 'relative', value: 0.1 } } }).status).toBe('keep')
  })

  it('stays harmful after a job without a report: pairs that start again are not earlier', () => {
    const metric = objectives({ max_regression: { type: 'relative', value: 0.1 } })
    const swaying: Gains[] = [0.15, -0.16, 0.13, -0.13, 0.16, -0.15, 0.12, -0.12].map(guard => ({
      bytes: 0.05,
      guard,
    }))
    const jobs = [aJob('1', swaying), aJob('2', together(16, { bytes: 0.05, guard: -0.2 }))]
    const gap = aJob('3', [], { unreported: true })
    const last = aJob('4', together(12, { bytes: 0.05, guard: -0.05 }))
    expect(evaluatePairs(aCase(jobs, { metric, rule })).harmed).toEqual(['guard'])
    expect(evaluatePairs(aCase([...jobs, gap, last], { metric, rule })).harmed).toEqual(['guard'])
  })

  it('is harmless when it never changes', () => {
    const same = { max_regression: { type: 'absolute', value: 0 } }
    const equal = (count: number): Gains[] =>
      gainsOf('bytes', 0.05, count).map(gains => ({ ...gains, guard: 0 }))
    const jobs = [aJob('1', equal(6)), aJob('2', equal(4))]
    expect(statusOf(jobs, { metric: objectives(same), rule })).toBe('keep')
  })
})

describe('a tie-breaker', () => {
  const policy = { tie_breakers: [{ lower: 'size' }] }
  const rule = { metrics: ['bytes', 'size'] }
  /** A primary whose gain is ruled out late enough for the tie-breaker to have shown its own. */
  const late = (bytes: number, size: number) => {
    const wanted = [
      0.02, -0.005, 0.025, -0.01, 0.03, 0, 0.02, -0.002, 0.018, -0.012, 0.022, 0.001, 0.015, -0.004, 0.01,
      0.0,
    ]
    const all: Gains[] = wanted.map((gain, at) => ({
      bytes: gain + bytes,
      size: size + (at % 2 === 0 ? 0.001 : -0.0012),
    }))
    const jobs = [aJob('1', all.slice(0, 8)), aJob('2', all.slice(8))].map(inTurns)
    return evaluatePairs(aCase(jobs, { policy, rule }))
  }
  /** Turns that do not explain the signs of the differences. */
  const inTurns = (job: PairJob): PairJob => {
    const pairs = job.pairs.map(
      (pair, at) => ({ ...pair, first: at % 4 < 2 ? 'base' : 'candidate' }) as const,
    )
    return { ...job, pairs }
  }

  it('decides where the primary has dropped without harm and the tie-breaker itself is shown to gain', () => {
    expect(late(0, 0.05)).toMatchObject({ status: 'keep', tie: 'size', improved: [] })
  })

  it('does not decide while its own gain is not shown', () => {
    expect(late(0, 0)).toMatchObject({ status: 'continue', tie: null })
  })

  it('does not decide while the primary may have lost', () => {
    expect(late(-0.05, 0.05)).toMatchObject({ status: 'drop', tie: null })
  })
})

describe('a simplification', () => {
  const terms = { as: 'simplify' } as const

  it('merges once it is shown to cost less than min_effect', () => {
    const cost = (middle: number) =>
      firstAt('keep', 8, pairs =>
        evaluatePairs(aCase([aJob('1', gainsOf('bytes', middle, pairs))], { terms })),
      )
    expect(cost(0)).toBe(6)
    expect(cost(-0.01)).toBe(6)
    expect(cost(-0.03)).toBe(Infinity)
  })

  it('is dropped for harm, and not proven when it stays open', () => {
    expect(statusOf([aJob('1', gainsOf('bytes', -0.05, 8))], { terms })).toBe('drop')
    const open: Gains[] = [0.02, -0.05, 0.01, -0.04, 0.03, -0.03, 0.02, -0.06].map(bytes => ({ bytes }))
    expect(statusOf([aJob('1', open)], { terms: { ...terms, max_jobs: 1 } })).toBe('not-proven')
    expect(statusOf([aJob('1', open)], { terms })).toBe('new-job')
  })
})

describe('an evaluation', () => {
  const gains = fc.array(fc.double({ min: -0.2, max: 0.2, noNaN: true }), { minLength: 1, maxLength: 24 })
  const jobsOf = (all: number[]) => {
    const pairs = all.map((bytes): Gains => ({ bytes }))
    return Array.from({ length: Math.ceil(pairs.length / 8) }, (_, at) =>
      aJob(`${at}`, pairs.slice(at * 8, at * 8 + 8)),
    )
  }

  it('stays dropped with further pairs', () => {
    fc.assert(
      fc.property(gains, gains, (before, after) => {
        const first = evaluatePairs(aCase(jobsOf(before)))
        fc.pre(first.status === 'drop')
        expect(evaluatePairs(aCase(jobsOf([...before, ...after]))).primary.decided).toEqual(
          first.primary.decided,
        )
      }),
      { numRuns: 60 },
    )
  })

  it('does not depend on the unit of the metric', () => {
    fc.assert(
      fc.property(gains, fc.double({ min: 0.001, max: 1000, noNaN: true }), (all, unit) => {
        const jobs = jobsOf(all.map(gain => Math.round(gain * 1000) / 1000))
        const scaled = jobs.map(job => ({
          ...job,
          pairs: job.pairs.map(({ first, base, candidate }) => ({
            first,
            base: { bytes: (base?.['bytes'] ?? 0) * unit },
            candidate: { bytes: (candidate?.['bytes'] ?? 0) * unit },
          })),
        }))
        expect(evaluatePairs(aCase(scaled)).status).toBe(evaluatePairs(aCase(jobs)).status)
      }),
      { numRuns: 60 },
    )
  })
})

describe('a candidate scored by models', () => {
  const metric = {
    primary: { type: 'judge', name: 'bytes', direction: 'minimize' },
    judge: { rubric: 'Score 1 to 5.', scoring: { primary: 'bytes' }, minimum_improvement: 0.5 },
  }
  const unscored: PairJob['pairs'] = Array.from({ length: 8 }, () => ({
    first: 'base',
    base: null,
    candidate: null,
  }))
  const statusWith = (...jobs: PairJob[]) => evaluatePairs(aCase(jobs, { metric })).status

  it('has no further job when all items were scored', () => {
    const second = { ...aJob('2', []), complete: true, pairs: unscored }
    expect(statusWith(SCREENED, second)).toBe('not-proven')
    expect(statusWith(SCREENED, { ...second, complete: false })).not.toBe('not-proven')
    expect(evaluatePairs(aCase([SCREENED, second])).status).not.toBe('not-proven')
  })

  it('has a further job when the first one got no scores', () => {
    expect(statusWith({ ...aJob('1', []), complete: true, pairs: unscored })).toBe('new-job')
  })
})
