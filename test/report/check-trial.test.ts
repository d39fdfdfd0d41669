import { describe, expect, it } from 'vitest'
import type { WayOut } from '../../src/decide/evidence/planning.ts'
import type { Prospects } from '../../src/plan/prospects.ts'
import { describeGuessedMetric, type HarnessTrial, renderTrial } from '../../src/report/check-trial.ts'
import { NOISE } from './campaign-of.ts'

const COST = { pairs: 9.25, jobs: 1.5, executions: 21.5, minutes: 1.234 }
const PROSPECTS: Prospects = {
  min_effect: 0.02,
  null_effect: 0.01,
  level: 0.001,
  pairs_per_job: 8,
  max_jobs: 8,
  single_machine: true,
  chance_to_keep: [
    { min_effects: 0, effect: 0, chance: 0 },
    { min_effects: 2, effect: 0.04, chance: 0.876 },
  ],
  smallest_visible_gain: 0.021,
  sees_min_effect: true,
  ways_out: [],
  null_idea: COST,
  good_idea: { ...COST, minutes: 4.5 },
  each_keep: { executions: 18, minutes: 1.5 },
  keep_check: { executions: 170, minutes: 14 },
  headline: { executions: 144, minutes: 12 },
  campaign: { ideas: 100, minutes: [123.4, 450], executions: [2150, 4000] },
}

function said(prospects: Partial<Prospects> = {}, more: Partial<HarnessTrial> = {}): string[] {
  const calibration = {
    deterministic: false,
    scale: 'log',
    reason: 'ms varies; pairs differ',
    noise: NOISE,
  } as const
  const whole = { ...PROSPECTS, ...prospects }
  return renderTrial({
    seconds: 2.0456,
    metrics: { ms: 12 },
    gates: ['tests'],
    warnings: [],
    calibration,
    prospects: whole,
    ...more,
  })
}

describe('the trial of a noisy harness', () => {
  it('is described line by line', () => {
    expect(said()).toEqual([
      'tried: ms 12 in 2.05 s; passed tests',
      'repeats exactly: no, ms varies',
      'scale: log, gains are shares of the base',
      'noise: pairs of the base with itself differ by 3.0 % (at most 4.5 %, 16 pairs in 2 jobs), jobs by 1.0 %',
      'fair: two copies of the base did not differ in 16 pairs',
      'an idea without effect: 9.3 pairs in 1.5 jobs, 22 executions, 1.2 min',
      'an idea that gains 4.0 %: 9.3 pairs in 1.5 jobs, 22 executions, 4.5 min',
      'before it is kept: 170 executions, 14 min more, to exclude slow runs and the luck of a job',
      'a kept idea: 18 executions, 1.5 min more, for its reported effect',
      'total improvement: 144 executions, 12 min, once, before the campaign stops',
      'time: 120 to 450 min and 2150 to 4000 executions for 100 ideas, with set-up, gates and total improvement; less where ideas share a base',
      'chance to keep, by true gain:',
      '  true gain  0.0 %  4.0 %',
      '  kept       0 %    88 %',
      'smallest visible gain: 2.1 % is kept with a chance of 80 %; evidence.min_effect is 2.0 %',
    ])
  })

  it('shows gains in units of the metric on a linear scale', () => {
    const linear = {
      deterministic: false,
      scale: 'linear',
      reason: 'r',
      noise: { ...NOISE, pair_sd: 12 },
    } as const
    const lines = said({ min_effect: 5, smallest_visible_gain: 7 }, { calibration: linear })
    expect(lines).toContain('scale: linear, gains are differences')
    expect(lines).toContain(
      'smallest visible gain: 7 is kept with a chance of 80 %; evidence.min_effect is 5',
    )
  })

  it('does not claim determinism for values that never varied', () => {
    const still = {
      deterministic: false,
      scale: 'log',
      reason: 'r',
      noise: { ...NOISE, pair_sd: 0 },
    } as const
    expect(said({}, { calibration: still })).toContain('repeats exactly: not shown')
  })

  it('reports that min_effect is not visible, with each remedy', () => {
    const ways_out: WayOut[] = [
      { way: 'more-jobs', max_jobs: 16 },
      { way: 'better-metric', times: 1.75 },
      { way: 'quieter-machine', pair_sd: 0.012 },
    ]
    expect(said({ smallest_visible_gain: 0.035, sees_min_effect: false, ways_out }).slice(-4)).toEqual([
      'smallest visible gain: 3.5 % is kept with a chance of 80 %; evidence.min_effect is 2.0 %, and winnow usually misses an idea with exactly that gain',
      'to see more: more jobs: evidence.max_jobs: 16',
      'to see more: a better metric: one that the same idea moves 1.8 times as far, with this noise',
      'to see more: a quieter machine: pairs that differ by 1.2 % instead of 3.0 %',
    ])
  })

  it('reports remedies that do not help', () => {
    const ways_out: WayOut[] = [
      { way: 'more-jobs', max_jobs: null },
      { way: 'better-metric', times: null },
      { way: 'quieter-machine', pair_sd: null },
    ]
    expect(said({ smallest_visible_gain: null, sees_min_effect: false, ways_out }).slice(-4)).toEqual([
      'smallest visible gain: none, however much an idea gains; evidence.min_effect is 2.0 %',
      'to see more: more jobs alone do not help, not even evidence.max_jobs: 32',
      'to see more: no metric would help that moves less than 64 times as far',
      'to see more: a quieter machine does not help: it is not noise that hides the gain',
    ])
  })
})

describe('the trial of another harness', () => {
  it('shows whether it repeats when only that matters', () => {
    const calibration = {
      deterministic: true,
      scale: 'linear',
      reason: 'equal in 3 runs',
      noise: null,
    } as const
    expect(said({}, { calibration, prospects: null })).toEqual([
      'tried: ms 12 in 2.05 s; passed tests',
      'repeats exactly: yes, equal in 3 runs',
      'scale: linear, gains are differences',
    ])
  })

  it('warns about a drafted metric that never changes and may be a checksum', () => {
    const calibration = { deterministic: true, scale: 'log', reason: 'equal in 3 runs', noise: null } as const
    expect(describeGuessedMetric({ calibration }, 'total')).toBe(
      'total repeats exactly in every build: if it is a checksum and not a cost, use wall_seconds as the metric',
    )
    expect(
      describeGuessedMetric({ calibration: { ...calibration, deterministic: false } }, 'total'),
    ).toBeNull()
    expect(describeGuessedMetric({ calibration: null }, 'total')).toBeNull()
  })

  it('does not describe a difference as a share', () => {
    const calibration = { deterministic: true, scale: 'log', reason: 'equal in 3 runs', noise: null } as const
    expect(said({}, { calibration, prospects: null }).at(-1)).toBe(
      'scale: log for evidence.min_effect and progress; the effect of one change is a difference',
    )
  })

  it('shows only the printed values for stored scores', () => {
    expect(said({}, { calibration: null, prospects: null, gates: [], metrics: {} })).toEqual([
      'tried: no metric in 2.05 s',
    ])
  })
})
