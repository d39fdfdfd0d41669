import { computeLnMean, computeSignedRank, NO_BETS, updateBets } from '../../src/decide/evidence/rank-test.ts'
import { type Case, per, type Results, type Section, type Table, tallyOf } from './case.ts'
import type { World } from './noise.ts'
import { jobOfDifferences } from './our-rule.ts'
import type { Random } from './random.ts'
import { CAREFUL, CAREFUL_HALF, FIRST_KEEP, HYBRID, HYBRID_HALF, ONE_MACHINE, WINNOW } from './rules.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { T_TEST } from './side-by-side-rules.ts'

const PLAYS = { quick: 400, usual: 4_000, full: 10_000 }
const MOST_PAIRS = 100
const TRIES = 5

const { typical } = SCENARIOS

export const STRESSES: readonly Scenario[] = [
  typical,
  { ...typical, name: 'drift .95, sd 3 %', drift: { phi: 0.95, sd: 0.03 } },
  { ...typical, name: 'spikes 20 % of +50 %', spike: { chance: 0.2, mean: 0.5 } },
  { ...typical, name: 'sd x 3, t3', execution: { sd: 3 * typical.execution.sd, df: 3 } },
  { ...typical, name: 'warm-up 20 %, slot 3 %', warmUp: 0.2, slot: 0.03 },
]

interface Stressed {
  name: string
  keepsNothing: (world: World) => boolean
}

/** Every one of them is asked about a change that does nothing. */
const STRESSED: readonly Stressed[] = [
  ...[WINNOW, FIRST_KEEP, ONE_MACHINE, HYBRID, HYBRID_HALF, CAREFUL, CAREFUL_HALF].map(
    ({ name, decide }) => ({
      name,
      keepsNothing: (world: World) => decide({ world, effect: 0 }).kept,
    }),
  ),
  peeking('evidence, never give up, alpha .01', 0.01, 0, 'coin'),
  peeking('evidence, never give up, alpha .05', 0.05, 0, 'coin'),
  peeking('the same (.05), null effect .5 %', 0.05, 0.005, 'coin'),
  { name: 'paired t, p < .05, until it passes (5 tries)', keepsNothing: untilItPasses },
  peeking('evidence (.05) but base always first', 0.05, 0, 'base-first'),
  peeking('the same, null effect .5 %', 0.05, 0.005, 'base-first'),
]

export const stress: Section = {
  name: 'stress',
  cases: () => STRESSED.flatMap(rule => STRESSES.map(scenario => caseOf(rule, scenario))),
  tables: results => [table(results)],
}

function caseOf({ name, keepsNothing }: Stressed, scenario: Scenario): Case {
  const play = (random: Random) => ({ kept: keepsNothing({ scenario, random, byRunner: 0 }) ? 1 : 0 })
  return { name: `stress/${name}/${scenario.name}`, plays: PLAYS, play }
}

/** Looks after every pair for 100 pairs, and keeps if the evidence was ever enough. */
function peeking(name: string, alpha: number, nullEffect: number, order: 'coin' | 'base-first'): Stressed {
  return { name, keepsNothing: world => everReaches(world, 1 / alpha, nullEffect, order) }
}

export function everReaches(
  world: World,
  threshold: number,
  nullEffect: number,
  order: 'coin' | 'base-first',
): boolean {
  const baseFirst = order === 'coin' ? world.random.coin : () => true
  const differences: number[] = []
  let bets = NO_BETS
  while (differences.length < MOST_PAIRS) {
    for (const difference of jobOfDifferences({ world, effect: 0 }, baseFirst)) {
      differences.push(difference)
      bets = updateBets(bets, computeSignedRank(differences, 0, nullEffect))
      if (computeLnMean(bets) >= Math.log(threshold)) return true
    }
  }
  return false
}

function untilItPasses(world: World): boolean {
  for (let tried = 0; tried < TRIES; tried++) if (T_TEST.decide({ world, effect: 0 }).kept) return true
  return false
}

function table(results: Results): Table {
  return {
    title: 'Validity stress: % of changes that do nothing and are kept (typical runner, made worse)',
    columns: ['rule', ...STRESSES.map(({ name }) => name)],
    rows: STRESSED.map(rule => [
      rule.name,
      ...STRESSES.map(scenario =>
        (100 * per(tallyOf(results, caseOf(rule, scenario).name), 'kept')).toFixed(2),
      ),
    ]),
    notes: [
      'base always first: what a fixed order does to the same evidence, and why every pair has its own coin',
    ],
  }
}
