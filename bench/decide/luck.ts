import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { checkKeep } from './keep-check.ts'
import { weigh } from './our-rule.ts'
import type { Random } from './random.ts'
import type { Change } from './rule.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

const PLAYS = { quick: 400, usual: 2_000, full: 10_000 }

export interface LuckCase {
  name: string
  scenario: ScenarioName
  effect: number
  /** How much a job favours the candidate, drawn once per job. */
  luck: (random: Random) => number
}

function spread(sd: number, effect = 0, scenario: ScenarioName = 'typical'): LuckCase {
  const what = effect === 0 ? 'no effect' : `+${100 * effect} %`
  const name = `${what}, luck of ${100 * sd} %, ${scenario}`
  return { name, scenario, effect, luck: random => sd * random.normal() }
}

export const NO_OPS: readonly LuckCase[] = [
  spread(0),
  spread(0.01),
  spread(0.02),
  spread(0.05),
  ...[0.02, 0.05].map(sd => spread(sd, 0, 'dedicated')),
  {
    name: 'no effect, each job +5 % or -5 %, typical',
    scenario: 'typical',
    effect: 0,
    luck: random => (random.coin() ? 0.05 : -0.05),
  },
]

const GAINS: readonly LuckCase[] = [0, 0.01, 0.02, 0.05].flatMap(sd => [
  spread(sd, 0.03),
  spread(sd, 0.05),
  spread(sd, 0.1),
])

const CASES = [...NO_OPS, ...GAINS]

/** A build, its user or its slot favours one side for a whole job: every job is one observation. */
export const luck: Section = {
  name: 'luck',
  cases: () => CASES.map(caseOf),
  tables: results => [table(results)],
}

function caseOf(each: LuckCase): Case {
  return { name: `luck/${each.name}`, plays: PLAYS, play: random => playLuck(each, random) }
}

export function playLuck({ scenario, effect, luck: draw }: LuckCase, random: Random): Tally {
  const world = { scenario: SCENARIOS[scenario], random, byRunner: 0 }
  const change: Change = { world, effect, buildLuck: () => draw(random) }
  const { gained, is, weighed } = checkKeep(change, weigh(change, {}))
  const counted = { gained: gained ? 1 : 0, executions: weighed.executions, jobs: weighed.jobs.length }
  return { ...counted, kept: is === 'passed' ? 1 : 0, held: is === 'slower' || is === 'unshown' ? 1 : 0 }
}

function table(results: Results): Table {
  return {
    title: 'Luck of a job: % of changes (all executions and jobs)',
    columns: ['change', 'pairs show a gain', 'kept', 'held', 'executions', 'jobs'],
    rows: CASES.map(each => {
      const tally = tallyOf(results, caseOf(each).name)
      const percent = (key: string) => (100 * per(tally, key)).toFixed(2)
      return [
        each.name,
        percent('gained'),
        percent('kept'),
        percent('held'),
        per(tally, 'executions').toFixed(0),
        per(tally, 'jobs').toFixed(1),
      ]
    }),
    notes: ['pairs show a gain: kept by the rule without this check'],
  }
}
