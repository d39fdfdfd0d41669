import { describe, expect, it } from 'vitest'
import { measureTogether } from '../../../bench/decide/blocks.ts'
import { builds } from '../../../bench/decide/builds.ts'
import { pairNoise } from '../../../bench/decide/calibration.ts'
import { campaigns } from '../../../bench/decide/campaigns.ts'
import { type Case, per, playMany, type Section } from '../../../bench/decide/case.ts'
import { seeded } from '../../../bench/decide/random.ts'
import { nightly } from '../../../bench/decide/rollback.ts'
import { rounds } from '../../../bench/decide/rounds.ts'
import { times } from '../../../bench/decide/rule.ts'
import { SCENARIOS } from '../../../bench/decide/scenarios.ts'
import { median } from '../../../bench/decide/statistics.ts'
import { SUITE_RULES } from '../../../bench/decide/suite-rules.ts'
import { suiteRun } from '../../../bench/decide/suite-tasks.ts'
import { getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { atLeast, atMost, shareOf } from './a-share.ts'

function played(section: Section, name: string, plays: number) {
  const found = section.cases().find((each: Case) => each.name === name)
  if (found === undefined) throw new Error(`no case ${name}`)
  return playMany(plays, seeded(name), found)
}

function typical(seed: string) {
  return { scenario: SCENARIOS.typical, random: seeded(seed), byRunner: 0 }
}

describe('a campaign of 100', () => {
  it('has few false keeps and most of the gain with evidence', () => {
    const tally = played(campaigns, 'campaigns/typical/winnow (e-LOND, q .1)', 12)
    expect(per(tally, 'falseShare')).toBeLessThan(0.1)
    expect(per(tally, 'gain', 'possible')).toBeGreaterThan(0.8)
    expect(per(tally, 'harmful')).toBeLessThanOrEqual(per(tally, 'false'))
  })

  it('reports what it gained, from a job that nothing selected', () => {
    const tally = played(campaigns, 'campaigns/typical/winnow, alpha .01 for each', 12)
    const keeps = tally['kept'] ?? 0
    const perKeep = Math.abs((tally['reported'] ?? 0) - (tally['gain'] ?? 0)) / keeps
    expect(perKeep).toBeLessThan((4 * 0.02) / Math.sqrt(keeps))
  })

  it('keeps mostly worthless changes where one run is compared with a ratcheted score', () => {
    const tally = played(campaigns, 'campaigns/typical/one run, strictly better', 40)
    expect(per(tally, 'falseShare')).toBeGreaterThan(0.4)
    expect(per(tally, 'claimed', 'gain')).toBeGreaterThan(1.2)
    expect(per(tally, 'executions')).toBe(100)
  })
})

describe('a round measured against one base', () => {
  it('takes far fewer jobs than each alone, and re-measuring leaves next to nothing redundant', () => {
    const [apart, together] = ['separate jobs', 'shared-base blocks'].map(engine =>
      played(rounds, `rounds/typical/${engine}, re-measure combination`, 10),
    )
    if (apart === undefined || together === undefined) throw new Error('two engines')
    expect(per(together, 'jobs')).toBeLessThan(0.6 * per(apart, 'jobs'))
    expect(per(together, 'executions')).toBeLessThan(0.9 * per(apart, 'executions'))
    expect(per(together, 'idle', 'kept')).toBeLessThan(0.05)
  })

  it('keeps at most alpha of what does nothing, beside whatever else', () => {
    const plays = 400
    const world = typical('blocks')
    const kept = shareOf(plays, 'blocks', () => {
      const [nothing] = measureTogether(world, [0, 0.05, -0.05, 0.1]).states
      return nothing !== undefined && getEvidenceStatus(nothing).status === 'keep'
    })
    expect(kept).toBeLessThanOrEqual(atMost(0.01, plays))
  })

  it('counts one base and each candidate still measured', () => {
    const { states, executions, jobs } = measureTogether(typical('count'), [-0.5, -0.5])
    const pairs = states.map(({ differences }) => differences.length)
    expect(jobs).toBe(1)
    expect(executions).toBe(3 + Math.max(...pairs) + pairs.reduce((sum, count) => sum + count, 0))
  })
})

describe('a nightly check', () => {
  const reverted = (effect: number, plays: number) => {
    const world = typical(`nights ${effect}`)
    return shareOf(plays, 'nights', () => nightly(world, effect)['reverted'] === 1)
  }

  it('reverts a merge that costs 5 %, and not one that changes nothing', () => {
    expect(reverted(-0.05, 150)).toBeGreaterThanOrEqual(atLeast(0.96, 150))
    expect(reverted(0, 150)).toBeLessThanOrEqual(atMost(0.01, 150))
  })
})

describe('a suite of tasks that pass by chance', () => {
  it('passes more often by exactly the effect', () => {
    const suite = suiteRun(40, 0.15, seeded('suite'))
    const gains = times(500, () => suite.differencesOfPass().reduce((sum, d) => sum + d, 0) / 40)
    const error = Math.sqrt(0.3 / 40 / 500)
    expect(Math.abs(gains.reduce((sum, gain) => sum + gain, 0) / 500 - 0.15)).toBeLessThan(4 * error)
  })

  it.each([
    ['winnow suite, alpha .01', 0.01],
    ['winnow suite, alpha .05', 0.05],
  ])('%s keeps no more of what does nothing', (name, alpha) => {
    const rule = SUITE_RULES.find(each => each.name === name)
    const kept = shareOf(400, name, random => rule?.decide(suiteRun(40, 0, random)).kept ?? true)
    expect(kept).toBeLessThanOrEqual(atMost(alpha, 400))
  })

  it('looks better by chance for every second no-op when a pass is compared with a stored one', () => {
    const rule = SUITE_RULES.find(each => each.name === 'one pass, mean not worse')
    const kept = shareOf(400, 'stored suite', random => rule?.decide(suiteRun(40, 0, random)).kept ?? false)
    expect(kept).toBeGreaterThan(0.45)
  })
})

describe('a lucky build', () => {
  const kept = (rule: string, building: string) => {
    const tally = played(builds, `builds/typical/${rule}/${building}/0`, 600)
    return per(tally, 'kept')
  }

  it('looks like a gain when it is built once, less so when it is built again for every job', () => {
    const [once, again] = [
      kept('theta0 = .5 % (winnow)', 'built once'),
      kept('theta0 = .5 % (winnow)', 'built again for every job'),
    ]
    expect(once).toBeGreaterThan(atMost(0.03, 600))
    expect(again).toBeLessThan(once / 2)
  })

  it('is kept less often with a null effect above 0', () => {
    const [without, with1] = ['theta0 = 0', 'theta0 = 1 %'].map(rule => kept(rule, 'built once'))
    expect(with1 ?? 1).toBeLessThan(without ?? 0)
  })
})

describe('a simulated calibration', () => {
  it('has an upper limit that lies above the pair noise nine times in ten', () => {
    const world = typical('calibration')
    const limits = times(400, () => pairNoise(world))
    const above = limits.filter(limit => limit > 0.0285).length / limits.length
    expect(above).toBeGreaterThanOrEqual(atLeast(0.9, 400))
    expect(median(limits)).toBeLessThan(2 * 0.0285)
  })
})
