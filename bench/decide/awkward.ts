import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import type { SideBySideRule } from './rule.ts'
import { FIRST_KEEP, WINNOW } from './rules.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

const PLAYS = { quick: 400, usual: 4_000, full: 10_000 }

const { typical } = SCENARIOS

/** Noises under which two identical sides are exchangeable, however unlike the usual one they look. */
export const AWKWARD: readonly Scenario[] = [
  typical,
  { ...typical, name: 'drift .95, sd 3 %', drift: { phi: 0.95, sd: 0.03 } },
  { ...typical, name: 'drift .99, sd 1 %', drift: { phi: 0.99, sd: 0.01 } },
  { ...typical, name: 'two speeds, 30 % apart', modes: { slow: 0.5, slower: 0.3 } },
  { ...typical, name: 'two speeds, 10 % apart', modes: { slow: 0.5, slower: 0.1 } },
  { ...typical, name: 'two speeds in streaks', modes: { slow: 0.5, slower: 0.3, stays: 0.8 } },
  { ...typical, name: 'every fifth run +20 %', periodic: { every: 5, slower: 0.2 } },
  { ...typical, name: 'machine gets warm, 30 %', thermal: { slower: 0.3, rate: 0.1 } },
  { ...typical, name: 'Cauchy', execution: { sd: 0.02, df: 1 } },
  { ...typical, name: 'spikes 20 % of +50 %', spike: { chance: 0.2, mean: 0.5 } },
  { ...typical, name: 'first run of a pair +10 %', slot: 0.1 },
  { ...typical, name: 'cold start 20 %, first run +3 %', warmUp: 0.2, slot: 0.03 },
  { ...typical, name: 'clock in steps of 10 %', clockStep: 0.1 },
]

interface Column {
  name: string
  rule: SideBySideRule
  effect: number
}

const COLUMNS: readonly Column[] = [
  { name: 'null', rule: WINNOW, effect: 0 },
  { name: 'null, level .001', rule: FIRST_KEEP, effect: 0 },
  { name: '-5 %', rule: WINNOW, effect: -0.05 },
  { name: '+5 %', rule: WINNOW, effect: 0.05 },
  { name: '+30 %', rule: WINNOW, effect: 0.3 },
]

export const awkward: Section = {
  name: 'awkward',
  cases: () => AWKWARD.flatMap(scenario => COLUMNS.map(column => caseOf(scenario, column))),
  tables: results => [tableOf(results)],
}

export function playAwkward(scenario: Scenario, column: Pick<Column, 'rule' | 'effect'>): Case['play'] {
  return (random): Tally => {
    const { kept, executions } = column.rule.decide({
      world: { scenario, random, byRunner: 0 },
      effect: column.effect,
    })
    return { kept: kept ? 1 : 0, executions }
  }
}

function caseOf(scenario: Scenario, column: Column): Case {
  return {
    name: `awkward/${scenario.name}/${column.name}`,
    plays: PLAYS,
    play: playAwkward(scenario, column),
  }
}

function tableOf(results: Results): Table {
  const cell = (scenario: Scenario, column: Column) => {
    const tally = tallyOf(results, caseOf(scenario, column).name)
    const percent = (100 * per(tally, 'kept')).toFixed(column.effect > 0 ? 1 : 2)
    return `${percent} (${per(tally, 'executions').toFixed(0)})`
  }
  return {
    title: 'Awkward noise on a typical runner: % kept (executions used)',
    columns: ['noise', ...COLUMNS.map(({ name }) => name)],
    rows: AWKWARD.map(scenario => [scenario.name, ...COLUMNS.map(column => cell(scenario, column))]),
    notes: ['two identical sides are exchangeable under each of these noises: at most the level may be kept'],
  }
}
