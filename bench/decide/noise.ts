import type { Random } from './random.ts'
import type { Scenario } from './scenarios.ts'

/** Where things are measured, and how unlike its runners treat two builds that are the same on average. */
export interface World {
  scenario: Scenario
  random: Random
  /** Standard deviation, by runner, of an effect that is zero on average (null*); 0 where nothing differs. */
  byRunner: number
}

/** One machine: how fast it is, and what an effect comes to on it. */
export interface Runner {
  gainOf: (effect: number) => number
  startJob: () => Job
}

/** One job on a runner: every call is one execution, and answers its log time. */
export type Job = (gain: number, first: boolean) => number

/** What is left of the warm-up after each execution. */
const STILL_COLD = 0.3

/** A runner drawn from the fleet. What is measured for a stored score carries the calendar's shift too. */
export function drawRunner(world: World, stored = false): Runner {
  const { scenario, random, byRunner } = world
  const shift = stored ? scenario.calendar * random.normal() : 0
  const level = cpuOffset(scenario, random) + scenario.job * random.normal() + shift
  return {
    gainOf: effect =>
      effect * (1 + scenario.effectSpread * random.normal()) +
      (byRunner > 0 ? byRunner * random.normal() : 0),
    startJob: () => startJob(scenario, random, level),
  }
}

function cpuOffset({ cpus }: Scenario, random: Random): number {
  let left = random.fraction()
  for (const { chance, offset } of cpus) {
    left -= chance
    if (left < 0) return offset
  }
  return cpus.at(-1)?.offset ?? 0
}

function startJob(scenario: Scenario, random: Random, level: number): Job {
  const { drift, execution, spike, warmUp, slot } = scenario
  let wandered = (drift.sd / Math.sqrt(1 - drift.phi ** 2)) * random.normal()
  let cold = warmUp
  return (gain, first) => {
    const spiked = random.fraction() < spike.chance ? random.exponential(spike.mean) : 0
    const time =
      level +
      wandered +
      cold +
      (first ? slot : 0) -
      gain +
      execution.sd * random.student(execution.df) +
      spiked
    wandered = drift.phi * wandered + drift.sd * random.normal()
    cold *= STILL_COLD
    return time
  }
}
