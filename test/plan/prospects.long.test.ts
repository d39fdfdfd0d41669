import { describe, expect, it } from 'vitest'
import type { Noise } from '../../src/model/campaign.ts'
import { computeProspects } from '../../src/plan/prospects.ts'
import { NOISE } from '../report/campaign-of.ts'
import { winnowSpec } from '../spec/problems-of.ts'

const QUIET = { 'evidence.min_effect': 0.02 }

const LOSS = { type: 'loss', name: 'loss', direction: 'minimize' }

function seen(noise: Partial<Noise> = {}, changes: Record<string, unknown> = QUIET, singleMachine = true) {
  return computeProspects(winnowSpec(changes), {
    scale: 'log',
    noise: { ...NOISE, ...noise },
    singleMachine,
    runs: 60,
  })
}

describe('what a campaign can hope for', () => {
  it('is judged by the rule of its first idea', () => {
    expect(seen({}, { ...QUIET, 'stopping.max_iterations': 50 })).toMatchObject({
      min_effect: 0.02,
      null_effect: 0.01,
      level: 0.1 / 50,
      pairs_per_job: 8,
      max_jobs: 8,
      single_machine: true,
    })
    const fixed = { evidence: { campaign_control: 'fixed', alpha: 0.05, pairs_per_job: 5, max_jobs: 3 } }
    expect(seen({}, fixed, false)).toMatchObject({
      null_effect: 0.005,
      level: 0.05,
      pairs_per_job: 5,
      max_jobs: 3,
    })
  })

  it('asks for fewer pairs a job where an execution is long', () => {
    expect(seen({ execution_seconds: 60 }).pairs_per_job).toBe(4)
  })

  it('is a table from nothing to three times min_effect, in which nothing is never kept', () => {
    const { chance_to_keep } = seen()
    expect(chance_to_keep.map(({ effect }) => effect)).toEqual([0, 0.01, 0.02, 0.03, 0.04, 0.06])
    expect(chance_to_keep[0]?.chance).toBeLessThanOrEqual(0.01)
    const chances = chance_to_keep.map(({ chance }) => chance)
    expect(chances).toEqual(chances.toSorted((a, b) => a - b))
  })

  it('needs no way out on a quiet machine, and has three on a loud one', () => {
    const quiet = seen({ pair_sd: 0.005 })
    expect([quiet.sees_min_effect, quiet.ways_out]).toEqual([true, []])
    expect(quiet.smallest_visible_gain).toBeLessThanOrEqual(0.022)
    const loud = seen({ pair_sd: 0.1 })
    expect(loud.sees_min_effect).toBe(false)
    expect(loud.smallest_visible_gain).toBeGreaterThan(0.022)
    expect(loud.ways_out.map(({ way }) => way)).toEqual(['more-jobs', 'better-metric', 'quieter-machine'])
  })
})

describe('what a campaign costs', () => {
  it('counts the warm-ups of a job once, and what it takes besides once a job', () => {
    const { null_idea } = seen({ execution_seconds: 3, overhead_seconds: 26 })
    const { pairs, jobs, executions, minutes } = null_idea
    expect(executions).toBeCloseTo(2 * (pairs + jobs))
    expect(minutes * 60).toBeCloseTo(3 * 2 * pairs + 26 * jobs)
  })

  it('has no warm-ups in a suite, whose jobs are whole passes', () => {
    const tasks = ['a', 'b', 'c'].map(name => ({ name, task: name }))
    const suite = { 'measurement.suite': { tasks, seeds: 4 }, 'metric.primary': LOSS }
    const { null_idea, each_keep, headline } = seen({ pair_sd: 0.01, execution_seconds: 3 }, suite)
    expect(null_idea.executions).toBeCloseTo(2 * null_idea.pairs)
    expect(null_idea.pairs).toBeCloseTo(12 * null_idea.jobs)
    expect([each_keep.executions, headline.executions]).toEqual([24, 8 * 24])
  })

  it('is never less than its executions, however a job was timed', () => {
    const { null_idea } = seen({ execution_seconds: 3, overhead_seconds: 0 })
    expect(null_idea.minutes * 60).toBeCloseTo(3 * null_idea.executions)
  })

  it('lies between that of ideas without effect and that of good ones', () => {
    const { null_idea, good_idea, campaign } = seen({}, { ...QUIET, 'stopping.max_iterations': 30 })
    expect(campaign.ideas).toBe(30)
    expect(campaign.minutes[0]).toBe(30 * null_idea.minutes)
    expect(campaign.executions[0]).toBe(30 * null_idea.executions)
    expect(campaign.minutes[1]).toBeGreaterThan(30 * good_idea.minutes)
  })

  it('counts what every keep takes for the record, the holdout, and the headline', () => {
    const noise = { execution_seconds: 3, overhead_seconds: 12 }
    const plain = seen(noise)
    expect(plain.each_keep).toEqual({ executions: 18, minutes: (16 * 3 + 12) / 60 })
    expect(plain.headline).toEqual({ executions: 8 * 18, minutes: 8 })
    const allowed = seen(noise, { ...QUIET, 'merge.sometimes_slower': 'allow' })
    expect(allowed.keep_check.executions).toBe(3 * 18)
    expect(plain.keep_check.executions).toBeGreaterThan(2 * allowed.keep_check.executions)
    const held = seen(noise, { ...QUIET, 'measurement.holdout': { command: 'sh held.sh', pairs: 4 } })
    expect(held.each_keep).toEqual({ executions: 18 + 10, minutes: 1 + (8 * 3 + 12) / 60 })
    const [kept] = plain.chance_to_keep.filter(({ min_effects }) => min_effects === 2)
    const { ideas, minutes } = plain.campaign
    const each = plain.keep_check.minutes + plain.each_keep.minutes
    const record = ideas * (kept?.chance ?? 0) * each + plain.headline.minutes
    expect(minutes[1]).toBeCloseTo(ideas * plain.good_idea.minutes + record)
  })
})
