import { CALIBRATION_JOBS } from '../../src/decide/calibration.ts'
import { calibrateNoiseEvidence } from '../../src/decide/evidence/calibration.ts'
import { sameTreeTwice } from './calibration.ts'
import { type Case, per, type Results, type Section, type Table, type Tally, tallyOf } from './case.ts'
import type { Random } from './random.ts'
import { times } from './rule.ts'
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts'

const PLAYS = { quick: 4_000, usual: 20_000, full: 100_000 }

/** A harness that slows one copy by this much, and the luck of each build (sd). */
const HARNESSES = [
  { name: 'fair', bias: 0, luck: 0 },
  { name: 'fair, builds differ by 1 %', bias: 0, luck: 0.01 },
  { name: 'slows one copy by 3 %', bias: 0.03, luck: 0 },
  { name: 'slows one copy by 10 %', bias: 0.1, luck: 0 },
] as const
type Harness = (typeof HARNESSES)[number]

/** How often the fairness check raises an alarm, and how often a second calibration confirms it. */
export const fairness: Section = {
  name: 'fairness',
  cases: () => SCENARIO_NAMES.flatMap(scenario => HARNESSES.map(harness => caseOf(scenario, harness))),
  tables: results => [table(results)],
}

function caseName(scenario: ScenarioName, { name }: Harness): string {
  return `fairness/${scenario}/${name}`
}

function caseOf(scenario: ScenarioName, harness: Harness): Case {
  return {
    name: caseName(scenario, harness),
    plays: PLAYS,
    play: random => play(scenario, harness, random),
  }
}

function play(name: ScenarioName, { bias, luck }: Harness, random: Random): Tally {
  const world = { scenario: SCENARIOS[name], random, byRunner: 0 }
  const favours = () =>
    calibrateNoiseEvidence(
      times(CALIBRATION_JOBS, () => sameTreeTwice(world, bias + luck * (random.normal() - random.normal()))),
      { scale: 'log' },
    ).favours
  const first = favours()
  if (first === null) return { alarm: 0, refused: 0 }
  return { alarm: 1, refused: favours() === first ? 1 : 0 }
}

function table(results: Results): Table {
  const share = (scenario: ScenarioName, harness: Harness) => {
    const tally = tallyOf(results, caseName(scenario, harness))
    return [`${(100 * per(tally, 'alarm')).toFixed(2)}`, `${(100 * per(tally, 'refused')).toFixed(2)}`]
  }
  return {
    title: 'Fairness check of the calibration: first alarm, and refused after a second calibration',
    columns: ['harness', ...SCENARIO_NAMES.flatMap(name => [`${name}: alarm %`, 'refused %'])],
    rows: HARNESSES.map(harness => [harness.name, ...SCENARIO_NAMES.flatMap(name => share(name, harness))]),
    notes: [`each calibration: ${CALIBRATION_JOBS} jobs of 8 pairs; refused: both favour the same side`],
  }
}
