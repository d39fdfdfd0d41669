import { checkRegression } from '../../src/decide/evidence/rules.ts'
import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { drawRunner, type World } from './noise.ts'
import { jobOfDifferences, MIN_EFFECT, PAIRS_PER_JOB } from './our-rule.ts'
import { times } from './rule.ts'
import { SCENARIOS } from './scenarios.ts'
import { mean } from './statistics.ts'

const PLAYS = { quick: 200, usual: 2_000, full: 5_000 }
const EFFECTS = [0.05, 0.03, 0, -0.02, -0.03, -0.05, -0.1]
const MOST_NIGHTS = 8

type Watch = { name: string; judge: (world: World, effect: number) => Tally }

const WATCHES: readonly Watch[] = [
  { name: 'mean of 3 worse than stored: rolled back (AWP)', judge: meanOfThree },
  { name: 'winnow, nightly tip against the tree before', judge: nightly },
]

export const rollback: Section = {
  name: 'rollback',
  cases: () => WATCHES.flatMap(watch => EFFECTS.map(effect => caseOf(watch, effect))),
  tables: results => [table(results)],
}

function caseOf({ name, judge }: Watch, effect: number): Case {
  return {
    name: `rollback/${name}/${effect}`,
    plays: PLAYS,
    play: random => judge({ scenario: SCENARIOS.typical, random, byRunner: 0 }, effect),
  }
}

function meanOfThree(world: World, effect: number): Tally {
  const before = drawRunner(world, true).startJob()
  const runner = drawRunner(world)
  const [after, gain] = [runner.startJob(), runner.gainOf(effect)]
  const worse = mean(times(3, () => after(gain, false))) > mean(times(3, () => before(0, false)))
  return { reverted: worse ? 1 : 0, cleared: worse ? 0 : 1, executions: 3 }
}

export function nightly(world: World, effect: number): Tally {
  const differences: number[] = []
  for (let night = 1; night <= MOST_NIGHTS; night++) {
    differences.push(...jobOfDifferences({ world, effect }))
    const said = checkRegression(differences, MIN_EFFECT)
    const executions = night * (2 + 2 * PAIRS_PER_JOB)
    if (said !== 'open') {
      return { reverted: said === 'revert' ? 1 : 0, cleared: said === 'clear' ? 1 : 0, executions }
    }
  }
  return { reverted: 0, cleared: 0, executions: MOST_NIGHTS * (2 + 2 * PAIRS_PER_JOB) }
}

function table(results: Results): Table {
  return {
    title: 'Rollback of a merge by its true effect, typical runner: % reverted / cleared (executions)',
    columns: ['rule', ...EFFECTS.map(effect => `${(100 * effect).toFixed(0)} %`)],
    rows: WATCHES.map(watch => [
      watch.name,
      ...EFFECTS.map(effect => cell(tallyOf(results, caseOf(watch, effect).name))),
    ]),
    notes: [`at most ${MOST_NIGHTS} nights of ${PAIRS_PER_JOB} pairs; what is neither stays flagged`],
  }
}

function cell(tally: Tally): string {
  const [reverted, cleared] = [per(tally, 'reverted'), per(tally, 'cleared')].map(x => (100 * x).toFixed(1))
  return `${reverted} / ${cleared} (${per(tally, 'executions').toFixed(0)})`
}
