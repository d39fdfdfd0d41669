import { describe, expect, test } from 'vitest'
import {
  computeLnEvidence,
  computeLnMean,
  reverseDifferences,
} from '../../../src/decide/evidence/rank-test.ts'
import { endJob, observePair } from '../../../src/decide/evidence/observe.ts'
import { resumeEvidence } from '../../../src/decide/evidence/state.ts'
import { computeEvidenceVerdict, getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { HarnessError, UserError } from '../../../src/errors.ts'
import { begin, observed, pairOf } from './a-comparison.ts'

/** Five growing gains: E = 22.7, which screens. */
const PROMISING = [0.05, 0.06, 0.07, 0.08, 0.09]
const SCREENED = observed(begin(), PROMISING)
/** Neither promise nor proof: HL .02, E near 1. */
const UNDECIDED = [0.03, 0.01]

describe('a promising idea', () => {
  test('asks for a fresh runner as soon as E reaches 20, and carries its evidence', () => {
    expect(getEvidenceStatus(observed(begin(), PROMISING.slice(0, 4))).status).toBe('continue')
    const now = computeEvidenceVerdict(SCREENED)
    expect(now).toMatchObject({ status: 'new-job', reason: 'promising', stage: 'confirming', screened: true })
    expect(now.evidence).toBeCloseTo(22.77, 1)
    expect(now.threshold).toBe(100)
  })

  test('has the screen as threshold first, then 1/alpha', () => {
    expect(computeEvidenceVerdict(begin())).toMatchObject({
      status: 'new-job',
      reason: 'not-begun',
      threshold: 20,
      evidence: 1,
    })
    expect(computeEvidenceVerdict(begin())).toMatchObject({
      effect: null,
      interval: null,
      stage: 'screening',
    })
  })

  test('continues in the new job, and is kept when both jobs reach 1/alpha', () => {
    const confirming = observed(SCREENED, [0.05, 0.06], 2)
    expect(getEvidenceStatus(confirming).status).toBe('continue')
    const kept = computeEvidenceVerdict(observed(confirming, [0.07], 2))
    expect(kept).toMatchObject({ status: 'keep', reason: 'gain-shown', pairs: 8, jobs: 2 })
    expect(kept.evidence).toBeGreaterThan(100)
    expect(kept.effect).toBeCloseTo(0.065)
  })

  test('is never kept by another job on the runner that screened it', () => {
    const again = observed(SCREENED, [...PROMISING, 0.1, 0.11, 0.12], 2, { runner: '1' })
    expect(computeEvidenceVerdict(again)).toMatchObject({ status: 'new-job', reason: 'job-ended' })
    expect(computeEvidenceVerdict(again).evidence).toBeGreaterThan(1000)
    expect(getEvidenceStatus(observed(again, [0.05], 3)).status).toBe('keep')
  })

  test('with two machines seen before the screen still needs another than the one that screened it', () => {
    const before = endJob(observed(begin(), [0.01], 1, { runner: 'a' }), 1)
    const screened = observed(before, PROMISING.slice(0, 4), 2, { runner: 'b' })
    expect(getEvidenceStatus(screened).reason).toBe('promising')
    const again = observed(screened, [...PROMISING, 0.1, 0.11, 0.12], 3, { runner: 'b' })
    expect(getEvidenceStatus(again)).toEqual({ status: 'new-job', reason: 'job-ended' })
    expect(getEvidenceStatus(observed(again, [0.05], 4, { runner: 'a' })).status).toBe('keep')
  })

  test('is not kept without evidence from the fresh runner', () => {
    const loose = observed(begin({ alpha: 0.2 }), PROMISING)
    const against = observed(loose, [-0.01], 2)
    expect(computeEvidenceVerdict(against).evidence).toBeGreaterThan(
      computeEvidenceVerdict(against).threshold,
    )
    expect(getEvidenceStatus(against).status).toBe('continue')
  })

  test('on one machine is kept by a new job there', () => {
    const here = observed(begin({ singleMachine: true }), PROMISING, 1, { runner: 'here' })
    expect(getEvidenceStatus(observed(here, [0.05, 0.06, 0.07], 2, { runner: 'here' })).status).toBe('keep')
  })

  test('on one machine has to beat half of min_effect instead of a quarter', () => {
    const small = [0.006, 0.007, 0.008, 0.009]
    expect(computeEvidenceVerdict(observed(begin(), small)).evidence).toBeGreaterThan(1)
    expect(computeEvidenceVerdict(observed(begin({ singleMachine: true }), small)).evidence).toBeLessThan(1)
  })

  test('needs as many fresh runners as are asked for', () => {
    const start = observed(begin({ freshRunners: 2, pairsPerJob: 5 }), PROMISING)
    const one = observed(start, PROMISING, 2)
    expect(getEvidenceStatus(one)).toEqual({ status: 'new-job', reason: 'job-ended' })
    expect(getEvidenceStatus(observed(one, [0.05], 3)).status).toBe('keep')
  })

  test('without a fresh runner asked for is kept on one', () => {
    expect(getEvidenceStatus(observed(begin({ freshRunners: 0 }), [...PROMISING, 0.1, 0.11])).status).toBe(
      'continue',
    )
    expect(
      getEvidenceStatus(observed(begin({ freshRunners: 0 }), [...PROMISING, 0.1, 0.11, 0.12])).status,
    ).toBe('keep')
  })

  test('can still be given up, and all pairs count for that', () => {
    const against = observed(SCREENED, [-0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8], 2)
    expect(getEvidenceStatus(against).status).toBe('continue')
    const ruledOut = computeLnEvidence(reverseDifferences(against.differences), -0.02)
    expect(computeLnMean(against.drop)).toBeCloseTo(ruledOut, 12)
    expect(getEvidenceStatus(observed(against, [-0.9], 2))).toEqual({
      status: 'not-proven',
      reason: 'no-promise-after-job-2',
    })
  })
})

describe('an idea that was confirmed before, or is a combination', () => {
  test('confirmed: no screen, level .05', () => {
    const one = observed(begin({ confirmed: true, alpha: 0.001 }), PROMISING)
    expect(computeEvidenceVerdict(one)).toMatchObject({
      status: 'continue',
      stage: 'confirming',
      screened: false,
      threshold: 20,
    })
    expect(getEvidenceStatus(observed(one, [0.1], 2)).status).toBe('keep')
  })

  test('combination: no screen, two runners in all', () => {
    const one = observed(begin({ combination: true, pairsPerJob: 5, freshRunners: 0 }), PROMISING)
    expect(computeEvidenceVerdict(one)).toMatchObject({
      status: 'new-job',
      reason: 'job-ended',
      threshold: 20,
    })
    expect(getEvidenceStatus(observed(one, [0.1], 2, { runner: '1' })).status).toBe('continue')
    expect(getEvidenceStatus(observed(one, [0.1], 2)).status).toBe('keep')
  })
})

describe('an idea that stays open', () => {
  const unproven = observed(begin({ pairsPerJob: 2, maxJobs: 1 }), UNDECIDED)

  test('is not proven when its jobs are used up', () => {
    expect(getEvidenceStatus(unproven)).toEqual({ status: 'not-proven', reason: 'jobs-used-up' })
    expect(() => observed(unproven, [0.03], 2)).toThrow(UserError)
  })

  test('is not proven too when it screens in the last job', () => {
    expect(getEvidenceStatus(observed(begin({ maxJobs: 1 }), PROMISING)).status).toBe('not-proven')
  })

  test('resumes with more jobs where it stopped', () => {
    const more = resumeEvidence(unproven, { maxJobs: 2 })
    expect(getEvidenceStatus(more)).toEqual({ status: 'new-job', reason: 'job-ended' })
    expect(computeEvidenceVerdict(more).evidence).toBe(computeEvidenceVerdict(unproven).evidence)
    expect(getEvidenceStatus(observed(more, UNDECIDED, 2)).status).toBe('not-proven')
  })

  test('does not resume without more jobs, nor after a verdict', () => {
    expect(() => resumeEvidence(unproven, { maxJobs: 1 })).toThrow('1 jobs are used')
    expect(() => resumeEvidence(observed(begin(), [null, null]), { maxJobs: 9 })).toThrow(
      'a verdict was reached',
    )
  })
})

describe('failures', () => {
  test('a base that fails makes the pair void: recorded, not counted', () => {
    let state = begin()
    for (let pair = 0; pair < 20; pair++) state = observePair(state, { ...pairOf(1), base: null })
    expect(computeEvidenceVerdict(state)).toMatchObject({
      status: 'continue',
      pairs: 0,
      jobs: 1,
      evidence: 1,
    })
    expect(state.jobs[0]).toMatchObject({ pairs: 0, void_pairs: 20 })
    expect(observePair(state, { ...pairOf(null), base: null }).failures).toBe(0)
  })

  test('a candidate that fails once loses the pair, by more than any other', () => {
    const once = computeEvidenceVerdict(observed(begin(), [0.05, null]))
    expect(once).toMatchObject({ status: 'continue', pairs: 2 })
    expect(once.evidence).toBeLessThan(1)
  })

  test('a candidate that fails twice is broken', () => {
    const twice = observed(SCREENED, [null, 0.5, null], 2)
    expect(computeEvidenceVerdict(twice)).toMatchObject({ status: 'drop', reason: 'broken' })
  })

  test('a value that has no logarithm violates the pinned scale', () => {
    const state = begin({ scale: 'log' })
    expect(() => observePair(state, pairOf(0, 1, { base: 1 }))).toThrow(HarnessError)
    expect(() => observePair(state, pairOf(1, 1, { base: -1 }))).toThrow('a value of it is -1')
  })
})

describe('jobs', () => {
  test('that screened add pairs for effect and harm only', () => {
    const before = computeEvidenceVerdict(SCREENED)
    const later = computeEvidenceVerdict(observed(SCREENED, [0.05, 0.05, 0.05, 0.05, 0.05, 0.05], 1))
    expect(later).toMatchObject({ status: 'new-job', stage: 'confirming', pairs: before.pairs + 6 })
    expect(later.evidence).toBeCloseTo(before.evidence, 9)
    const harmful = Array.from({ length: 40 }, () => -0.4)
    expect(computeEvidenceVerdict(observed(SCREENED, harmful, 1)).status).toBe('drop')
  })

  test('that were followed by another take no more pairs', () => {
    const second = observed(SCREENED, [0.05], 2)
    expect(() => observed(second, [0.05], 1)).toThrow('followed by another')
  })

  test('run on one machine each', () => {
    const state = observed(begin(), [0.01], 1, { runner: 'a' })
    expect(() => observed(state, [0.01], 1, { runner: 'b' })).toThrow('ran on a')
  })

  test('end once, and only if they began', () => {
    expect(endJob(SCREENED, 1)).toBe(SCREENED)
    expect(() => endJob(begin(), 1)).toThrow('cannot end')
  })

  test('remember how often the base went first', () => {
    const state = observed(observed(begin(), [0.01]), [0.02], 1, { order: 'candidate-first' })
    expect(state.jobs[0]).toMatchObject({ pairs: 2, base_first: 1 })
  })
})

describe('after a verdict', () => {
  const kept = observed(SCREENED, [0.05, 0.06, 0.07], 2)

  test('further pairs count for effect and interval, and change no verdict', () => {
    const more = observed(observed(kept, [-1, -1, -1, -1], 2), [null, null], 3)
    expect(computeEvidenceVerdict(more)).toMatchObject({ status: 'keep', pairs: 14 })
    expect(computeEvidenceVerdict(more).evidence).toBe(computeEvidenceVerdict(kept).evidence)
    expect(computeEvidenceVerdict(more).effect).not.toBe(computeEvidenceVerdict(kept).effect)
  })

  test('the interval is computed only then', () => {
    expect(computeEvidenceVerdict(kept).interval).not.toBeNull()
    expect(
      computeEvidenceVerdict(observed(begin({ pairsPerJob: 20 }), [0.03, 0.01, 0.02, 0.03, 0.01, 0.02]))
        .interval,
    ).toBeNull()
  })
})
