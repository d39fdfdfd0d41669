import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { checkKeep } from './keep-check.ts'
import { weigh } from './our-rule.ts'
import type { Random } from './random.ts'
import type { Change } from './rule.ts'
import { SCENARIOS, type ScenarioName } from './scenarios.ts'

const PLAYS = { quick: 200, usual: 1_000, full: 4_000 }

/** ln of the largest factor of Cauchy noise: numbers end somewhere. */
const LARGEST = Math.log(1_000)

type Side = 'base' | 'candidate'

export interface MeanCase {
  name: string
  scenario: ScenarioName
  /** Of the median, in log time. */
  effect: number
  disturb?: (random: Random, side: Side) => number
}

/** 5 % faster, but for this share of runs, which take three times as long. */
function harmful(share: number): MeanCase {
  const name = `5 % faster, ${100 * share} % of its runs x3`
  return { name, scenario: 'typical', effect: -Math.log(0.95), disturb: slowRuns(share, 3, 'candidate') }
}

function slowRuns(share: number, factor: number, only?: Side): NonNullable<MeanCase['disturb']> {
  return (random, side) => {
    const isSlow = random.fraction() < share
    return isSlow && (only === undefined || side === only) ? Math.log(factor) : 0
  }
}

function honest(scenario: ScenarioName, effect: number): MeanCase {
  return { name: `+${Math.round(100 * effect)} %, ${scenario}`, scenario, effect }
}

/** +5 % where both sides share what disturbs them. */
function shared(name: string, disturb: NonNullable<MeanCase['disturb']>): MeanCase {
  return { name: `+5 %, ${name}`, scenario: 'typical', effect: 0.05, disturb }
}

export const HARMFUL: readonly MeanCase[] = [harmful(0.05), harmful(0.1)]

export const HONEST: readonly MeanCase[] = [
  honest('typical', 0.03),
  honest('typical', 0.05),
  honest('typical', 0.1),
  honest('typical', 0.2),
  honest('typical', 0.4),
  honest('dedicated', 0.05),
  honest('quiet', 0.05),
  honest('noisy', 0.05),
]

export const SHARED: readonly MeanCase[] = [
  ...[0.005, 0.01, 0.02, 0.05, 0.1].map(share =>
    shared(`${100 * share} % of all runs x3`, slowRuns(share, 3)),
  ),
  shared('5 % of all runs x10', slowRuns(0.05, 10)),
  shared('Cauchy noise', random =>
    Math.max(-LARGEST, Math.min(LARGEST, 0.01 * Math.tan(Math.PI * (random.fraction() - 0.5)))),
  ),
  shared('two modes, 20 % apart', random => (random.coin() ? 0.2 : 0)),
]

const CASES = [...HARMFUL, ...HONEST, ...SHARED]

/** Whether the mean counts: harmful changes with a better median are held, and honest ones are not. */
export const mean: Section = {
  name: 'mean',
  cases: () => CASES.map(caseOf),
  tables: results => [table(results)],
}

function caseOf(each: MeanCase): Case {
  return { name: `mean/${each.name}`, plays: PLAYS, play: random => playMean(each, random) }
}

export function playMean({ scenario, effect, disturb }: MeanCase, random: Random): Tally {
  const world = { scenario: SCENARIOS[scenario], random, byRunner: 0 }
  const change: Change = { world, effect }
  if (disturb !== undefined) change.disturb = side => disturb(random, side)
  const weighed = weigh(change, {})
  const { gained, is, weighed: checked } = checkKeep(change, weighed)
  return {
    gained: gained ? 1 : 0,
    kept: is === 'passed' ? 1 : 0,
    held: is === 'slower' || is === 'unshown' ? 1 : 0,
    executions: gained ? weighed.executions : 0,
    'all executions': gained ? checked.executions : 0,
    jobs: gained ? weighed.jobs.length : 0,
    'all jobs': gained ? checked.jobs.length : 0,
  }
}

function table(results: Results): Table {
  return {
    title: 'The mean counts: % of changes (executions and jobs of those whose median gains)',
    columns: [
      'change',
      'median gains',
      'kept',
      'held',
      'held of gains',
      'executions before',
      'with the check',
      'jobs before',
      'with the check',
    ],
    rows: CASES.map(each => {
      const tally = tallyOf(results, caseOf(each).name)
      const percent = (key: string, of?: string) => (100 * per(tally, key, of)).toFixed(1)
      const ofGains = (key: string, digits: number) => per(tally, key, 'gained').toFixed(digits)
      return [
        each.name,
        percent('gained'),
        percent('kept'),
        percent('held'),
        percent('held', 'gained'),
        ofGains('executions', 0),
        ofGains('all executions', 0),
        ofGains('jobs', 1),
        ofGains('all jobs', 1),
      ]
    }),
    notes: ['median gains: kept by the rule without this check, and the change that today would land'],
  }
}
