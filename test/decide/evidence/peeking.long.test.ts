import { describe, expect, test } from 'vitest'
import { computeLnEvidencePath } from '../../../src/decide/evidence/rank-test.ts'
import { observePair } from '../../../src/decide/evidence/observe.ts'
import {
  createSeededRandom,
  drawHeavyTailed,
  drawNormal,
  type SeededRandom,
} from '../../../src/decide/evidence/planning.ts'
import { getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { begin } from './a-comparison.ts'

/**
 * What the same code reads in the first and the second slot of a pair, as the machine pleases: it may know every
 * difference so far, and only not the coin that says which side comes first.
 */
type Machine = (past: readonly number[], random: SeededRandom) => readonly [first: number, second: number]

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

const MACHINES: Record<string, Machine> = {
  'steady noise': (_, random) => [drawNormal(random), drawNormal(random)],
  'heavy tails': (_, random) => [drawHeavyTailed(random) ** 3, drawHeavyTailed(random) ** 3],
  'a trend through the job': past => [past.length, past.length + 0.5],
  'a slow first slot': (_, random) => [5 + drawNormal(random), drawNormal(random)],
  'spikes now and then': (_, random) => [random() < 0.1 ? 100 : drawNormal(random), drawNormal(random)],
  'a growing spread': (past, random) => [drawNormal(random) * 2 ** past.length, 0],
  'double or nothing: larger after each loss': past => [0, sum(past) < 0 ? 1 - sum(past) : 0.01],
  'quiet while ahead, loud while behind': (past, random) => [
    sum(past) > 0 ? 0.001 : 10 * drawNormal(random),
    0,
  ],
  'ties and zeros': (past, random) => [Math.floor(random() * 3), past.length % 2],
  'the opposite of the last difference': past => [past.at(-1) ?? 1, 2 * (past.at(-1) ?? 0)],
}

function difference(machine: Machine, past: readonly number[], random: SeededRandom): number {
  const [first, second] = machine(past, random)
  return random() < 0.5 ? first - second : second - first
}

/** How many of n may cross when each does with at most this chance: four standard deviations. */
function most(n: number, chance: number): number {
  return n * chance + 4 * Math.sqrt(n * chance * (1 - chance))
}

const EXPERIMENTS = 1500
const PAIRS = 40

describe('checking after every pair', () => {
  test.each(Object.entries(MACHINES))('%s: E reaches 1/alpha at most alpha of the time', (_, machine) => {
    const random = createSeededRandom(7)
    const crossed = { 0.1: 0, 0.05: 0, 0.01: 0 }
    for (let experiment = 0; experiment < EXPERIMENTS; experiment++) {
      const past: number[] = []
      for (let pair = 0; pair < PAIRS; pair++) past.push(difference(machine, past, random))
      const highest = Math.max(...computeLnEvidencePath(past, 0))
      for (const alpha of [0.1, 0.05, 0.01] as const) if (highest >= -Math.log(alpha)) crossed[alpha] += 1
    }
    expect(crossed[0.1]).toBeLessThanOrEqual(most(EXPERIMENTS, 0.1))
    expect(crossed[0.05]).toBeLessThanOrEqual(most(EXPERIMENTS, 0.05))
    expect(crossed[0.01]).toBeLessThanOrEqual(most(EXPERIMENTS, 0.01))
  })

  test('the coin is required: with the base always first, a slow first slot passes', () => {
    const biased = Array.from({ length: PAIRS }, () => 5)
    expect(Math.max(...computeLnEvidencePath(biased, 0))).toBeGreaterThan(Math.log(100))
  })
})

/** A whole experiment on machines of this kind, until it is kept or dropped, or 20 jobs are used. */
function isKept(machine: Machine, alpha: number, random: SeededRandom): boolean {
  const past: number[] = []
  let state = begin({ alpha, minEffect: 1e-6, nullEffect: 0, maxJobs: 20, pairsPerJob: 4 })
  for (let job = 0; getEvidenceStatus(state).status === 'new-job'; job++) {
    do {
      past.push(difference(machine, past, random))
      state = observePair(state, { base: 0, candidate: past.at(-1) ?? 0, job, order: 'base-first' })
    } while (getEvidenceStatus(state).status === 'continue')
  }
  return getEvidenceStatus(state).status === 'keep'
}

describe('a whole experiment with identical behaviour', () => {
  test.each(Object.entries(MACHINES))('%s: kept at most alpha of the time', (_, machine) => {
    const random = createSeededRandom(11)
    let kept = 0
    for (let experiment = 0; experiment < 1000; experiment++) if (isKept(machine, 0.05, random)) kept += 1
    expect(kept).toBeLessThanOrEqual(most(1000, 0.05))
  })
})
