import { describe, expect, it } from 'vitest'
import { playMany } from '../../../bench/decide/case.ts'
import { costCompared, FIGURES, figureTable, keptCompared } from '../../../bench/decide/figures.ts'
import { seeded } from '../../../bench/decide/random.ts'
import type { Rule } from '../../../bench/decide/rule.ts'
import { ALL_RULES, CAREFUL_HALF, FIRST_KEEP, ONE_MACHINE, WINNOW } from '../../../bench/decide/rules.ts'
import type { ScenarioName } from '../../../bench/decide/scenarios.ts'
import { caseName, decide, type Effect, single } from '../../../bench/decide/single.ts'
import { atLeast, atMost, shareOf } from './a-share.ts'

const PLAYS = 1_000

function kept(rule: Rule, scenario: ScenarioName, effect: Effect, plays = PLAYS): number {
  const seed = `${rule.name} ${scenario} ${effect}`
  return shareOf(plays, seed, random => decide(rule, scenario, effect, random).kept)
}

/** What the design asks for, in percent. */
function figure(scenario: ScenarioName, effect: Effect): number {
  const found = FIGURES.find(
    each => each.rule === WINNOW && each.scenario === scenario && each.effect === effect,
  )
  if (found === undefined) throw new Error(`no figure for ${scenario}, ${effect}`)
  return found.kept / 100
}

describe('the rule, on changes that do nothing', () => {
  it.each([
    ['dedicated', 'null'],
    ['quiet', 'null'],
    ['typical', 'null'],
    ['noisy', 'null'],
    ['dedicated', 'null*'],
    ['quiet', 'null*'],
    ['typical', 'null*'],
    ['noisy', 'null*'],
    ['typical', '-2 %'],
  ] as const)('keeps no more than its figure on a %s runner (%s)', (scenario, effect) => {
    expect(kept(WINNOW, scenario, effect)).toBeLessThanOrEqual(atMost(figure(scenario, effect), PLAYS))
  })

  it('keeps next to none at the level of a campaign’s first keep', () => {
    expect(kept(FIRST_KEEP, 'typical', 'null')).toBeLessThanOrEqual(atMost(0.001, PLAYS))
  })

  it('keeps no more than alpha of them where there is one machine only', () => {
    expect(kept(ONE_MACHINE, 'typical', 'null')).toBeLessThanOrEqual(atMost(0.01, PLAYS))
  })

  it('keeps no more of them as a careful hybrid whose calibration understates the noise by half', () => {
    expect(kept(CAREFUL_HALF, 'typical', 'null')).toBeLessThanOrEqual(
      atMost(figure('typical', 'null'), PLAYS),
    )
  })
})

describe('the rule, on real gains', () => {
  it.each([
    ['typical', '+3 %'],
    ['typical', '+5 %'],
    ['quiet', '+3 %'],
    ['dedicated', '+2 %'],
    ['noisy', '+5 %'],
  ] as const)('keeps as many as its figure on a %s runner (%s)', (scenario, effect) => {
    expect(kept(WINNOW, scenario, effect)).toBeGreaterThanOrEqual(atLeast(figure(scenario, effect), PLAYS))
  })

  it('finds a gain with about the executions and jobs of its figure, warm-ups counted', () => {
    const tally = playMany(PLAYS, seeded('cost'), {
      play: random => {
        const { search = { executions: 0, jobs: 0 } } = decide(WINNOW, 'typical', '+5 %', random)
        return search
      },
    })
    expect((tally['executions'] ?? 0) / PLAYS).toBeCloseTo(32, -1)
    expect((tally['jobs'] ?? 0) / PLAYS).toBeCloseTo(2.5, 0)
  })
})

describe('the rules of others', () => {
  it('keep half of what does nothing when they compare one run with a stored score', () => {
    const share = kept(named('one run, strictly better'), 'typical', 'null')
    expect(share).toBeGreaterThanOrEqual(atLeast(0.5, PLAYS))
    expect(share).toBeLessThanOrEqual(atMost(0.5, PLAYS))
  })

  it('are fine where the machine is quiet: a median of five', () => {
    const median = named('median of 5 better by 2 %')
    expect(kept(median, 'dedicated', 'null')).toBeLessThanOrEqual(atMost(0.006, PLAYS))
    expect(kept(median, 'dedicated', '+5 %')).toBeGreaterThanOrEqual(atLeast(0.999, PLAYS))
  })

  it('keep three of four no-ops when the base always goes first', () => {
    const share = kept(named('same runner, one run, base first'), 'typical', 'null')
    expect(share).toBeGreaterThanOrEqual(atLeast(0.77, PLAYS))
  })

  it('keep as much as the level they promise where their assumptions hold', () => {
    const share = kept(named('10 pairs in random order, paired t, p < .05'), 'dedicated', 'null')
    expect(share).toBeLessThanOrEqual(atMost(0.05, PLAYS))
  })
})

function named(name: string): Rule {
  const rule = ALL_RULES.find(each => each.name === name)
  if (rule === undefined) throw new Error(`no rule ${name}`)
  return rule
}

describe('the table of single decisions', () => {
  it('names the source of every rule', () => {
    for (const { source } of ALL_RULES) expect(source).not.toBe('')
  })

  it('has a case for every rule, runner and effect', () => {
    const names = single.cases().map(({ name }) => name)
    expect(new Set(names).size).toBe(ALL_RULES.length * 4 * 8)
  })
})

describe('a figure to reach', () => {
  const tally = (share: number) => ({ plays: 4_000, kept: 4_000 * share })

  it('of a no-op is missed by keeping more, not by keeping less', () => {
    const figureOfNull = { kept: 0.2, effect: 'null' } as const
    expect(keptCompared(tally(0), figureOfNull).met).toBe(true)
    expect(keptCompared(tally(0.003), figureOfNull).met).toBe(true)
    expect(keptCompared(tally(0.01), figureOfNull).met).toBe(false)
  })

  it('of a gain is missed by keeping less, not by keeping more', () => {
    const figureOfGain = { kept: 88.3, effect: '+3 %' } as const
    expect(keptCompared(tally(0.99), figureOfGain).met).toBe(true)
    expect(keptCompared(tally(0.87), figureOfGain).met).toBe(true)
    expect(keptCompared(tally(0.85), figureOfGain).met).toBe(false)
  })

  it('is compared with the cost of the search and with all of it, side by side', () => {
    const cost = { executions: 17, 'executions²': 290, jobs: 1, 'jobs²': 1 }
    const search = { 'search executions': 9, 'search executions²': 82, 'search jobs': 1, 'search jobs²': 1 }
    const each = { plays: 1, kept: 0, ...cost, ...search }
    const many = Object.fromEntries(Object.entries(each).map(([key, value]) => [key, 4_000 * value]))
    expect(costCompared(many, 'search executions', 9)).toEqual({ text: '9', met: true })
    expect(costCompared(many, 'executions', 9)).toEqual({ text: '17', met: false })
    const names = FIGURES.map(({ scenario, rule, effect }) => caseName(scenario, rule, effect))
    const { columns, rows } = figureTable(new Map(names.map(name => [name, many])))
    const row = rows.find(
      ([rule, runner, effect]) => `${rule} ${runner} ${effect}` === 'winnow dedicated null',
    )
    const shown = (column: string) => row?.slice(columns.indexOf(column)).slice(0, 3)
    expect(shown('search executions')).toEqual(['9', '9', 'met'])
    expect(shown('all executions')?.slice(0, 2)).toEqual(['17', 'MISSED'])
  })
})
