import { isLargeGainExcluded, isWorthSecondLook, startSecondLook } from '../../src/decide/evidence/give-up.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { weigh, weighOn, type Weighed } from './our-rule.ts'
import { SCENARIO_NAMES, SCENARIOS, type Scenario } from './scenarios.ts'

/** Machines on which two runs side by side differ by this much: louder than most. */
function loud(name: string, pairSd: number): Scenario {
  const execution = { sd: pairSd / Math.SQRT2, df: 4 }
  return { ...SCENARIOS.quiet, name, execution, spike: { chance: 0, mean: 0 } }
}

const RUNNERS: readonly Scenario[] = [
  ...SCENARIO_NAMES.map(name => SCENARIOS[name]),
  loud('pairs differ by 10 %', 0.1),
  loud('pairs differ by 24 %', 0.24),
]

const EFFECTS = [-1, -0.05, -0.02, 0, 0.02, 0.04, 0.05] as const
const PLAYS = { quick: 400, usual: 4_000, full: 10_000 }
const WORDS = ['kept', 'worse', 'no gain', 'not proven'] as const

/** Which word an idea gets, what that costs, and how often the rule before would have said "no gain". */
export const words: Section = {
  name: 'words',
  cases: () => RUNNERS.flatMap(runner => EFFECTS.map(effect => caseOf(runner, effect))),
  tables: results => RUNNERS.map(runner => tableOf(runner, results)),
}

export function wordsCase(runner: string, effect: number): string {
  return `words/${runner}/${effect}`
}

function caseOf(scenario: Scenario, effect: number): Case {
  return {
    name: wordsCase(scenario.name, effect),
    plays: PLAYS,
    play: random => {
      const change = { world: { scenario, random, byRunner: 0 }, effect }
      const first = weigh(change, {})
      const postponed = isWorthSecondLook(first.state)
      const last = postponed ? weighOn(change, { ...first, state: startSecondLook(first.state) }) : first
      return {
        ...tallied('first', first),
        ...tallied('last', last),
        search: first.search.executions,
        'search jobs': first.search.jobs,
        'given up': first.search.givenUp ? 1 : 0,
        'given up for good': isGivenUpForGood(last) ? 1 : 0,
      }
    },
  }
}

function isGivenUpForGood({ state }: Weighed): boolean {
  return state.given_up !== null && state.decided === null && isLargeGainExcluded(state)
}

function tallied(look: 'first' | 'last', weighed: Weighed): Tally {
  const { state, executions } = weighed
  const tally = { [`${look} executions`]: executions, [`${look} jobs`]: state.jobs.length }
  return { ...tally, [`${look} ${wordOf(weighed)}`]: 1 }
}

function wordOf({ state }: Weighed): (typeof WORDS)[number] {
  const { status, reason } = getEvidenceStatus(state)
  if (status === 'keep') return 'kept'
  if (status !== 'drop') return 'not proven'
  return reason === 'harm-shown' ? 'worse' : 'no gain'
}

function tableOf({ name }: Scenario, results: Results): Table {
  return {
    title: `Words, ${name}: % (executions/jobs), with the second look; worth having: 2 %`,
    columns: [
      'true effect',
      ...WORDS,
      'given up for good',
      'before: "no gain"',
      'search',
      'first look',
      'all',
    ],
    rows: EFFECTS.map(effect => {
      const tally = tallyOf(results, wordsCase(name, effect))
      const percent = (key: string) => (100 * per(tally, key)).toFixed(1)
      const cost = (executions: string, jobs: string) =>
        `${per(tally, executions).toFixed(0)}/${per(tally, jobs).toFixed(1)}`
      return [
        effectText(effect),
        ...WORDS.map(word => percent(`last ${word}`)),
        percent('given up for good'),
        percent('given up'),
        cost('search', 'search jobs'),
        cost('first executions', 'first jobs'),
        cost('last executions', 'last jobs'),
      ]
    }),
    notes:
      name === 'dedicated'
        ? [
            'before: "no gain" was said of whatever is given up early now, with or without a proof',
            'search: what is used until it is given up or decided; first look: with the proof of harm or of no gain',
          ]
        : [],
  }
}

function effectText(effect: number): string {
  if (effect === 0) return 'null'
  if (effect === -1) return `${Math.E.toFixed(1)}x slower`
  return `${effect > 0 ? '+' : ''}${(100 * effect).toFixed(0)} %`
}
