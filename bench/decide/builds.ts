import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import { MIN_EFFECT, type OurOptions, outcomeOf, weigh } from './our-rule.ts'
import type { Random } from './random.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts'

const PLAYS = { quick: 400, usual: 4_000, full: 10_000 }
/** Standard deviation of what layout and link order do to one build. */
const BUILD_LUCK = 0.01

const RULES: readonly { name: string; options: OurOptions }[] = [
  { name: 'theta0 = 0', options: { nullEffect: 0 } },
  { name: 'theta0 = .25 %', options: { nullEffect: MIN_EFFECT / 8 } },
  { name: 'theta0 = .5 % (winnow)', options: {} },
  { name: 'theta0 = 1 %', options: { nullEffect: MIN_EFFECT / 2 } },
  { name: 'one machine (theta0 = 1 %)', options: { singleMachine: true } },
]

type Redrawn = 'built once' | 'built again for every job'
const BUILDING: readonly Redrawn[] = ['built once', 'built again for every job']

export const builds: Section = {
  name: 'builds',
  cases: () =>
    SCENARIO_NAMES.flatMap(scenario =>
      RULES.flatMap(rule =>
        BUILDING.flatMap(building => [0, 0.03].map(effect => caseOf(scenario, rule, building, effect))),
      ),
    ),
  tables: results => [table(results)],
}

function caseOf(
  scenario: ScenarioName,
  { name, options }: (typeof RULES)[number],
  building: Redrawn,
  effect: number,
): Case {
  return {
    name: `builds/${scenario}/${name}/${building}/${effect}`,
    plays: PLAYS,
    play: random => play(scenario, options, building, effect, random),
  }
}

function play(
  scenario: ScenarioName,
  options: OurOptions,
  building: Redrawn,
  effect: number,
  random: Random,
): Tally {
  const draw = () => BUILD_LUCK * (random.normal() - random.normal())
  const once = draw()
  const buildLuck = building === 'built once' ? () => once : draw
  const world = { scenario: SCENARIOS[scenario], random, byRunner: 0 }
  const { kept } = outcomeOf(weigh({ world, effect, buildLuck }, options))
  return { kept: kept ? 1 : 0 }
}

function table(results: Results): Table {
  const share = (scenario: ScenarioName, rule: (typeof RULES)[number], building: Redrawn, effect: number) =>
    (100 * per(tallyOf(results, caseOf(scenario, rule, building, effect).name), 'kept')).toFixed(1)
  return {
    title: 'Lucky builds: each build is faster or slower by 1 % (sd) for no reason; % kept, no-op / +3 %',
    columns: [
      'rule',
      ...BUILDING.flatMap(building => SCENARIO_NAMES.map(scenario => `${scenario}, ${building}`)),
    ],
    rows: RULES.map(rule => [
      rule.name,
      ...BUILDING.flatMap(building =>
        SCENARIO_NAMES.map(
          scenario => `${share(scenario, rule, building, 0)} / ${share(scenario, rule, building, 0.03)}`,
        ),
      ),
    ]),
    notes: ['built once: the luck is the same in every job and no number of pairs shows it'],
  }
}
