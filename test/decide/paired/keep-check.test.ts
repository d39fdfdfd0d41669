import { describe, expect, it } from 'vitest'
import { evaluatePairs } from '../../../src/decide/paired/evaluate.ts'
import { renderEvidenceLine, renderEvidenceSentence } from '../../../src/decide/paired/evidence-text.ts'
import { describeSlowRuns } from '../../../src/decide/paired/mean-text.ts'
import type { KeepCheck } from '../../../src/model/order.ts'
import type { PairJob } from '../../../src/model/pairs.ts'
import { aCase, aJob, type Gains, gainsOf, someTerms } from './a-case.ts'

const CHECK: KeepCheck = { slow_runs: 0.05, jobs_agree: true, pairs: 24, agree_pairs: 8, jobs: 10 }

function timed(middle: number, count: number): Gains[] {
  return gainsOf('wall_seconds', middle, count)
}

/** Jobs in which the pairs alone show 5 %. */
const GAINED = [aJob('1', timed(0.05, 6)), aJob('2', timed(0.05, 4))]

/** Jobs of 24 pairs after them, in some of which the candidate took three times as long. */
function checking(jobs: number, slow: readonly number[] = [], middle = 0.05, pairs = 24): PairJob[] {
  return Array.from({ length: jobs }, (_, at) => {
    const gains = timed(middle, pairs).map((gain, pair) =>
      slow.includes(at * pairs + pair) ? { wall_seconds: (gain?.['wall_seconds'] ?? 0) - Math.log(3) } : gain,
    )
    return aJob((at + 3).toString(16), gains)
  })
}

function paired(
  jobs: readonly PairJob[],
  check: KeepCheck | null = CHECK,
  as: 'idea' | 'confirmed' = 'idea',
) {
  const primary = { type: 'hard', name: 'wall_seconds', direction: 'minimize' }
  const rule = { metrics: ['wall_seconds'], ...(check === null ? {} : { keep_check: check }) }
  return aCase(jobs, { metric: { primary }, rule, terms: someTerms({ as }) })
}

const evaluated = (...given: Parameters<typeof paired>) => evaluatePairs(paired(...given))

describe('a shown gain', () => {
  it('is enough where the order has no check, and for what was confirmed before', () => {
    expect(evaluated(GAINED, null)).toMatchObject({ status: 'keep', check: null })
    expect(evaluated(GAINED, CHECK, 'confirmed')).toMatchObject({ status: 'keep', check: null })
  })

  it('of a few per cent is measured on, in a job of its own', () => {
    expect(evaluated(GAINED)).toMatchObject({
      status: 'new-job',
      check: { is: 'new-job', runs: { done: 10, needed: 96 } },
    })
    const [half] = checking(1, [], 0.05, 12)
    expect(evaluated([...GAINED, ...(half ? [half] : [])])).toMatchObject({ status: 'continue' })
    expect(evaluated([...GAINED, ...checking(1)])).toMatchObject({ status: 'new-job' })
  })

  it('is kept once enough runs and jobs agree', () => {
    expect(evaluated([...GAINED, ...checking(4, [], 0.05, 22)])).toMatchObject({
      status: 'keep',
      check: { is: 'passed', runs: { done: 98, needed: 96 } },
    })
  })

  it('so large that neither slow runs nor luck explain it is kept at once', () => {
    const jobs = [aJob('1', timed(0.9, 6)), aJob('2', timed(0.9, 4))]
    expect(evaluated(jobs)).toMatchObject({ status: 'keep', check: { is: 'passed' } })
  })

  it('waits for a person when some of its runs are three times as slow', () => {
    const held = paired([...GAINED, ...checking(4, [3, 20, 44, 61, 80], 0.05, 22)])
    const evaluation = evaluatePairs(held)
    expect(evaluation).toMatchObject({ status: 'keep', check: { is: 'slower' } })
    expect(describeSlowRuns(held, evaluation)).toEqual({
      name: 'typically faster, sometimes slower (merge.sometimes_slower)',
      text: expect.stringMatching(
        /^wall_seconds: median \d\.\d % faster, mean \d\.\d % slower, in 1 of 20 pairs 2\.\dx slower or more \(98 runs of each side\)$/,
      ),
    })
    expect(renderEvidenceSentence(held, evaluation)).toMatch(/, but some of its runs are much slower\.$/)
    expect(renderEvidenceLine(held, evaluation)).toMatch(
      /; mean \d\.\d % slower, in 1 of 20 pairs 2\.\dx slower or more$/,
    )
  })

  it('is not held where the spec does not look for slow runs', () => {
    const jobs = [...GAINED, ...checking(5, [3, 20, 30], 0.05, 8)]
    const allowed = evaluated(jobs, { ...CHECK, slow_runs: null })
    expect(allowed).toMatchObject({ status: 'keep', check: { is: 'passed', runs: null } })
  })

  it('is not proven when its jobs do not agree', () => {
    const swaying = Array.from({ length: 10 }, (_, at) =>
      aJob((at + 3).toString(16), timed(at % 2 === 0 ? 0.08 : -0.07, 24)),
    )
    const open = paired([...GAINED, ...swaying.slice(0, 9)])
    expect(evaluatePairs(open).status).toBe('new-job')
    // Every order raises max_jobs above the jobs so far, which must not prolong the check.
    const luck = { ...paired([...GAINED, ...swaying]), terms: someTerms({ max_jobs: 13 }) }
    const evaluation = evaluatePairs(luck)
    expect(evaluation).toMatchObject({ status: 'not-proven', check: { is: 'luck' } })
    expect(renderEvidenceSentence(luck, evaluation)).toMatch(
      /, but its jobs do not agree on a gain \(4\.\d % faster, 4\.\d % faster, 7\.\d % faster, 7\.\d % slower, /,
    )
  })

  it('breaks when two executions of the candidate fail on the way', () => {
    const whole = aJob('3', timed(0.05, 12))
    const failing = {
      ...whole,
      pairs: whole.pairs.map((pair, at) => (at < 10 ? pair : { ...pair, candidate: null })),
    }
    expect(evaluated([...GAINED, failing]).status).toBe('drop')
  })

  it('says what it is measured for', () => {
    const open = paired(GAINED)
    expect(renderEvidenceSentence(open, evaluatePairs(open))).toMatch(
      /so far; measured on to see whether some runs are much slower \(10 of 96 runs\)\.$/,
    )
  })
})

describe('the mean beside the median', () => {
  it('is not mentioned where it says the same', () => {
    const plain = paired(GAINED, null)
    expect(renderEvidenceLine(plain, evaluatePairs(plain))).not.toContain('mean')
  })
})
