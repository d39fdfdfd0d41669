import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { SUITE_RULES, type SuiteRule } from './suite-rules.ts'
import { suiteRun } from './suite-tasks.ts'

const TASKS = 40
const PLAYS = { quick: 200, usual: 2_000, full: 10_000 }
const EFFECTS = [-0.05, 0, 0.05, 0.1, 0.15]

export const suites: Section = {
  name: 'suites',
  cases: () => SUITE_RULES.flatMap(rule => EFFECTS.map(effect => caseOf(rule, effect))),
  tables: results => [table(results)],
}

function caseOf({ name, decide }: SuiteRule, effect: number): Case {
  return {
    name: `suites/${name}/${effect}`,
    plays: PLAYS,
    play: random => {
      const { kept, taskRuns } = decide(suiteRun(TASKS, effect, random))
      return { kept: kept ? 1 : 0, taskRuns }
    },
  }
}

function table(results: Results): Table {
  return {
    title: `A suite of ${TASKS} tasks that pass by chance: % kept (task runs used)`,
    columns: [
      'rule',
      ...EFFECTS.map(effect => (effect === 0 ? 'null' : `${effect > 0 ? '+' : ''}${100 * effect} pp`)),
    ],
    rows: SUITE_RULES.map(rule => [
      rule.name,
      ...EFFECTS.map(effect => cell(tallyOf(results, caseOf(rule, effect).name))),
    ]),
    notes: SUITE_RULES.map(({ name, source }) => `${name}: ${source}`),
  }
}

function cell(tally: Tally): string {
  return `${(100 * per(tally, 'kept')).toFixed(1)} (${per(tally, 'taskRuns').toFixed(0)})`
}
