import { describe, expect, it } from 'vitest'
import { drawRunner, type World } from '../../../bench/decide/noise.ts'
import { seeded } from '../../../bench/decide/random.ts'
import { pairOf, times } from '../../../bench/decide/rule.ts'
import { type Scenario, type ScenarioName, SCENARIOS } from '../../../bench/decide/scenarios.ts'
import { mean, medianDeviation, standardDeviation } from '../../../bench/decide/statistics.ts'

const JOBS = 6_000
/** The design gives its figures with one or two digits, and for heavy tails. */
const ROUNDING = 0.08

function world(scenario: Scenario, byRunner = 0): World {
  return { scenario, random: seeded('noise', scenario.name, byRunner), byRunner }
}

/** A scenario without everything that varies. */
const STILL: Scenario = {
  name: 'still',
  cpus: [{ chance: 1, offset: 0 }],
  job: 0,
  drift: { phi: 0, sd: 0 },
  execution: { sd: 0, df: 4 },
  spike: { chance: 0, mean: 0 },
  warmUp: 0,
  slot: 0,
  calendar: 0,
  effectSpread: 0,
}

/** Standard error of a standard deviation, whatever the tails. */
function spreadError(values: readonly number[]): number {
  const centre = mean(values)
  const squares = values.map(value => (value - centre) ** 2)
  return standardDeviation(squares) / (2 * standardDeviation(values) * Math.sqrt(values.length))
}

describe.each([
  ['dedicated', 0.01, 0.01, 0.013],
  ['quiet', 0.03, 0.014, 0.023],
  ['typical', 0.083, 0.03, 0.054],
  ['noisy', 0.18, 0.06, 0.14],
] as const satisfies [ScenarioName, number, number, number][])('a %s runner', (name, runs, robust, plain) => {
  const noise = world(SCENARIOS[name])
  const measured = times(JOBS, () => {
    const job = drawRunner(noise).startJob()
    pairOf(job, 0, noise.random.coin())
    return pairOf(job, 0, noise.random.coin())
  })
  const differences = measured.map(({ base, candidate }) => base - candidate)

  it('has the run-to-run spread of the design', () => {
    const times1 = measured.map(({ base }) => base)
    const error = 4 * spreadError(times1)
    expect(Math.abs(standardDeviation(times1) - runs)).toBeLessThan(ROUNDING * runs + error)
  })

  it('has the pair noise of the design, robust and plain', () => {
    const robustly = 1.4826 * medianDeviation(differences)
    const robustError = 4 * 1.17 * (robust / Math.sqrt(JOBS))
    expect(Math.abs(robustly - robust)).toBeLessThan(ROUNDING * robust + robustError)
    const plainError = 4 * spreadError(differences)
    expect(Math.abs(standardDeviation(differences) - plain)).toBeLessThan(ROUNDING * plain + plainError)
  })

  it('treats both sides alike when a coin says who goes first', () => {
    const error = standardDeviation(differences) / Math.sqrt(JOBS)
    expect(Math.abs(mean(differences))).toBeLessThan(4 * error)
  })
})

describe('one execution', () => {
  it('is slower while the job is cold, and when it goes first', () => {
    const job = drawRunner(world({ ...STILL, warmUp: 0.1, slot: 0.01 })).startJob()
    const [first, second, third] = [job(0, true), job(0, false), job(0, false)]
    expect(first).toBeCloseTo(0.11, 12)
    expect(second).toBeCloseTo(0.03, 12)
    expect(third).toBeCloseTo(0.009, 12)
  })

  it('gains what the change gains on its runner', () => {
    const runner = drawRunner(world(STILL))
    expect(runner.startJob()(runner.gainOf(0.05), false)).toBeCloseTo(-0.05, 12)
  })
})

describe('a runner', () => {
  it('is as fast in one job as in the next, and another is not', () => {
    const noise = world({ ...STILL, job: 0.1 })
    const runner = drawRunner(noise)
    expect(runner.startJob()(0, false)).toBe(runner.startJob()(0, false))
    expect(drawRunner(noise).startJob()(0, false)).not.toBe(runner.startJob()(0, false))
  })

  it('is one of the CPU models, as often as they are in the fleet', () => {
    const noise = world({ ...STILL, cpus: SCENARIOS.typical.cpus })
    const levels = times(JOBS, () => drawRunner(noise).startJob()(0, false))
    for (const { chance, offset } of SCENARIOS.typical.cpus) {
      const share = levels.filter(level => level === offset).length / JOBS
      expect(Math.abs(share - chance)).toBeLessThan(4 * Math.sqrt((chance * (1 - chance)) / JOBS))
    }
  })

  it('shifts a stored score by the calendar, and nothing else', () => {
    const noise = world({ ...STILL, calendar: 0.02 })
    expect(drawRunner(noise).startJob()(0, false)).toBe(0)
    const shifts = times(JOBS, () => drawRunner(noise, true).startJob()(0, false))
    expect(Math.abs(standardDeviation(shifts) - 0.02)).toBeLessThan(4 * spreadError(shifts))
  })

  it('makes something of a change that is nothing on average, under null*', () => {
    const gains = times(JOBS, () => drawRunner(world(STILL)).gainOf(0))
    expect(new Set(gains)).toEqual(new Set([0]))
    const noise = world(STILL, 0.01)
    const varied = times(JOBS, () => drawRunner(noise).gainOf(0))
    expect(Math.abs(standardDeviation(varied) - 0.01)).toBeLessThan(4 * spreadError(varied))
  })
})
