import { describe, expect, test } from 'vitest'
import { computeUpperBound } from '../../../src/decide/evidence/interval.ts'
import { isWorthSecondLook, PROOF_PAIRS, startSecondLook } from '../../../src/decide/evidence/give-up.ts'
import { endJob } from '../../../src/decide/evidence/observe.ts'
import { type EvidenceState, resumeEvidence } from '../../../src/decide/evidence/state.ts'
import { computeEvidenceVerdict, getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { begin, observed } from './a-comparison.ts'

/** min_effect is .02 throughout. */
const SWAYING = [0.03, -0.03, 0.02, -0.02]

describe('the search for a gain is given up', () => {
  test('after job 1 when HL is at most a quarter of min_effect', () => {
    const before = observed(begin({ pairsPerJob: 4 }), SWAYING.slice(0, 3))
    expect(getEvidenceStatus(before)).toEqual({ status: 'continue', reason: 'measuring' })
    const after = computeEvidenceVerdict(observed(before, SWAYING.slice(3)))
    expect(after).toMatchObject({ status: 'not-proven', reason: 'no-promise-after-job-1', worse: false })
  })

  test('after job 2 when HL is at most half of min_effect', () => {
    const gains = [0.03, -0.016, 0.022, -0.004]
    const one = observed(begin({ pairsPerJob: 4 }), gains)
    expect(computeEvidenceVerdict(one)).toMatchObject({ status: 'new-job', effect: expect.closeTo(0.008) })
    expect(getEvidenceStatus(observed(one, gains, 2))).toEqual({
      status: 'not-proven',
      reason: 'no-promise-after-job-2',
    })
  })

  test('but not after job 3', () => {
    let state = begin({ pairsPerJob: 2 })
    for (const job of [1, 2]) state = observed(state, [0.03, 0.01], job)
    const three = observed(state, [-0.03, -0.02], 3)
    expect(computeEvidenceVerdict(three)).toMatchObject({ status: 'new-job', effect: expect.closeTo(0) })
  })

  test('but not after a job that was cut short', () => {
    const short = observed(begin({ pairsPerJob: 4 }), [0.03, -0.03])
    expect(getEvidenceStatus(endJob(short, 1, { whole: false }))).toEqual({
      status: 'new-job',
      reason: 'job-ended',
    })
    expect(getEvidenceStatus(observed(short, [0.03], 2)).status).toBe('continue')
  })

  test('when the runner says the job is over, though base failures left it short of pairs', () => {
    const short = observed(begin({ pairsPerJob: 4 }), [0.03, -0.03])
    expect(getEvidenceStatus(endJob(short, 1))).toEqual({
      status: 'not-proven',
      reason: 'no-promise-after-job-1',
    })
  })

  test('in the middle of a job once E_drop reaches 5', () => {
    const unlikely = observed(begin(), [0.001, 0.0012, -0.001])
    expect(unlikely.given_up).toEqual({ reason: 'gain-unlikely', pairs: 3 })
  })
})

describe('after giving up, a few more pairs may prove', () => {
  test('harm: then it is worse, after no more pairs than that takes', () => {
    const likely = observed(begin(), [-0.01, -0.02, -0.03])
    expect(likely.given_up?.reason).toBe('gain-unlikely')
    expect(computeEvidenceVerdict(likely)).toMatchObject({ status: 'continue', worse: false })
    const shown = observed(likely, [-0.04, -0.05])
    expect(computeEvidenceVerdict(shown)).toMatchObject({ status: 'drop', reason: 'harm-shown', worse: true })
  })

  test('no gain: then the interval ends below min_effect', () => {
    const none = [0.001, 0.0012, -0.001, 0.0008, -0.0012, 0.0004, -0.0006, 0.0002]
    let state = begin()
    for (const d of none) if (getEvidenceStatus(state).status !== 'drop') state = observed(state, [d])
    const said = computeEvidenceVerdict(state)
    expect(said).toMatchObject({ status: 'drop', reason: 'gain-ruled-out', worse: false })
    expect(computeUpperBound(state.differences)).toBeLessThan(0.02)
  })

  test('beyond the pairs of a job, while the proof is within reach', () => {
    const full = observed(begin({ pairsPerJob: 3 }), [-0.01, -0.02, -0.03])
    expect(full.jobs[0]).toMatchObject({ pairs: 3, ended: false })
    expect(getEvidenceStatus(full).status).toBe('continue')
    const shown = observed(full, [-0.04, -0.05])
    expect(computeEvidenceVerdict(shown)).toMatchObject({ status: 'drop', worse: true })
  })

  test('but never more pairs than that, and none once no proof can be reached', () => {
    let state = observed(begin(), [-0.01, -0.02, -0.03])
    for (let more = 0; more < PROOF_PAIRS; more++) {
      if (getEvidenceStatus(state).status === 'continue')
        state = observed(state, [more % 2 === 0 ? 0.06 : -0.002])
    }
    expect(getEvidenceStatus(state)).toEqual({ status: 'not-proven', reason: 'gain-unlikely' })
    expect(state.differences.length).toBeLessThanOrEqual(3 + PROOF_PAIRS)
  })

  describe('after giving up, a gain', () => {
    /** Above the null effect (.005) and below min_effect, one like the other. */
    const small = observed(begin(), [0.009, 0.007, 0.014, 0.013, 0.016, 0.019])

    test('that reaches the screen is not promising', () => {
      expect(small.given_up).toEqual({ reason: 'gain-unlikely', pairs: 4 })
      expect(computeEvidenceVerdict(small).evidence).toBeGreaterThan(
        small.rule.screen ?? Number.POSITIVE_INFINITY,
      )
      expect(small.screened).toBeNull()
      expect(getEvidenceStatus(small).status).toBe('continue')
    })

    test('counts when the search is resumed', () => {
      const again = resumeEvidence(endJob(small, 1, { whole: false }), { maxJobs: 8 })
      expect(observed(again, [0.015], 2).screened).toMatchObject({ job: 1 })
    })
  })
})

describe('an idea that was given up', () => {
  const swaying = observed(begin({ pairsPerJob: 4 }), [0.08, -0.06, 0.07, -0.08])

  test('gets a second look when its estimate is a gain and large gains are open', () => {
    expect(getEvidenceStatus(swaying)).toMatchObject({ status: 'not-proven' })
    expect(isWorthSecondLook(swaying)).toBe((computeEvidenceVerdict(swaying).effect ?? 0) > 0)
    const losing = observed(begin({ pairsPerJob: 4 }), [0.03, -0.06, 0.02, -0.08])
    expect(isWorthSecondLook(losing)).toBe(false)
  })

  test('is measured further until a gain of twice min_effect is excluded', () => {
    const look = startSecondLook(swaying)
    expect(getEvidenceStatus(look)).toEqual({ status: 'new-job', reason: 'job-ended' })
    const idle = afterJobs(look, [0.004, -0.004, 0.003, -0.003])
    expect(['large-gain-ruled-out', 'gain-ruled-out']).toContain(computeEvidenceVerdict(idle).reason)
    expect(idle.jobs.length).toBeLessThanOrEqual(8)
    expect(isWorthSecondLook(idle)).toBe(false)
  })

  test('is not given up again when a person resumes it', () => {
    const asked = resumeEvidence(swaying, { maxJobs: 3 })
    expect(computeEvidenceVerdict(afterJobs(asked, [0.08, -0.06, 0.07, -0.08]))).toMatchObject({
      status: 'not-proven',
      reason: 'jobs-used-up',
      jobs: 3,
    })
  })
})

describe('a comparison that guards against regressions', () => {
  const equal = () => begin({ giveUp: 'equal', pairsPerJob: 4 })

  test('continues while a loss is open', () => {
    const losing = observed(equal(), [-0.02, 0.002, -0.03, 0.001])
    expect(getEvidenceStatus(losing)).toEqual({ status: 'new-job', reason: 'job-ended' })
  })

  test('continues to the proof of harm', () => {
    const state = afterJobs(equal(), [-0.02, 0.002, -0.03, -0.01])
    expect(computeEvidenceVerdict(state)).toMatchObject({ status: 'drop', reason: 'harm-shown', worse: true })
  })

  test('says no gain of what equals its base, once losses of twice min_effect are excluded', () => {
    const state = afterJobs(equal(), [0.001, -0.0012, 0.0008, -0.0009])
    expect(computeEvidenceVerdict(state)).toMatchObject({
      status: 'drop',
      reason: 'gain-ruled-out',
      worse: false,
    })
    expect(computeEvidenceVerdict(state).interval?.[0]).toBeGreaterThan(-0.04)
  })

  test('says no gain, when its jobs are used up and only that is shown', () => {
    const state = afterJobs(
      begin({ giveUp: 'equal', pairsPerJob: 8, maxJobs: 1 }),
      [-0.0001, -0.05, 0.005, -0.04, 0.004, -0.06, 0.003, -0.03],
    )
    expect(['gain-ruled-out', 'harm-shown', 'jobs-used-up']).toContain(computeEvidenceVerdict(state).reason)
  })
})

/** Jobs of these differences, a little different each, until a verdict or the end of all jobs. */
function afterJobs(start: EvidenceState, differences: readonly number[]): EvidenceState {
  let state = start
  for (let job = 10; getEvidenceStatus(state).status === 'new-job' && job < 30; job++) {
    for (const [at, d] of differences.entries()) {
      if (at > 0 && getEvidenceStatus(state).status !== 'continue') break
      state = observed(state, [d * (1 + job / 1000)], job)
    }
    while (getEvidenceStatus(state).status === 'continue') state = observed(state, [differences[0] ?? 0], job)
  }
  return state
}
