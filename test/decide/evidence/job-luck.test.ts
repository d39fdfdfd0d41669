import { describe, expect, it } from 'vitest'
import { seeded } from '../../../bench/decide/random.ts'
import { isGainShownByJobs } from '../../../src/decide/evidence/job-luck.ts'

const TERMS = { minEffect: 0.02, nullEffect: 0.005 }

/** Pairs of jobs that favour the candidate by so much. */
function jobs(effects: readonly number[], pairs = 8): number[][] {
  return effects.map(effect => Array.from({ length: pairs }, (_, at) => effect + ((at * 3) % 7) * 0.0005))
}

const shown = (effects: readonly number[], pairs = 8) =>
  isGainShownByJobs({ jobs: jobs(effects, pairs), ...TERMS })

describe('jobs as observations', () => {
  it('show a gain of 3 % when four of them agree, and not when two do', () => {
    expect(shown([0.03, 0.03])).toBe(false)
    expect(shown([0.03, 0.035, 0.025, 0.03])).toBe(true)
  })

  it('do not when they differ by more than their mean', () => {
    expect(shown([0.15, -0.02, 0.01, 0.09])).toBe(false)
  })

  it('show in one job what no luck explains', () => {
    expect(shown([0.7], 3)).toBe(true)
    expect(shown([0.05], 24)).toBe(false)
  })

  it('do not count a job of few pairs beside long ones', () => {
    const [short = []] = jobs([-0.5], 2)
    expect(isGainShownByJobs({ jobs: [short, ...jobs([0.05, 0.05, 0.05, 0.05])], ...TERMS })).toBe(true)
  })

  it('show nothing without a pair, and nothing with a failed candidate in place of a gain', () => {
    expect(isGainShownByJobs({ jobs: [], ...TERMS })).toBe(false)
    expect(isGainShownByJobs({ jobs: [[]], ...TERMS })).toBe(false)
    expect(isGainShownByJobs({ jobs: [[null, null, null]], ...TERMS })).toBe(false)
  })

  it.each([0.01, 0.02, 0.05])('show a gain in at most 5 %% of changes without one, luck %s', sd => {
    const random = seeded('luck', sd)
    const lucky = () => shown(Array.from({ length: 5 }, () => sd * random.normal()))
    expect(Array.from({ length: 1_000 }, lucky).filter(Boolean).length).toBeLessThanOrEqual(50)
  })
})
