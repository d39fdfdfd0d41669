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
  const disturb = startDisturbances(scenario, random)
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
    return readClock(scenario, time + disturb())
  }
}

/** How much slower each execution of a job is because of what only some scenarios have. */
function startDisturbances({ modes, periodic, thermal }: Scenario, random: Random): () => number {
  let count = periodic === undefined ? 0 : Math.floor(periodic.every * random.fraction())
  let slow: boolean | null = null
  let heat = 0
  return () => {
    count += 1
    if (thermal !== undefined) heat += thermal.rate * (thermal.slower - heat)
    if (modes !== undefined && (slow === null || random.fraction() >= (modes.stays ?? 0)))
      slow = random.fraction() < modes.slow
    return (
      heat +
      (slow === true ? (modes?.slower ?? 0) : 0) +
      (periodic !== undefined && count % periodic.every === 0 ? periodic.slower : 0)
    )
  }
}

/** A Cauchy draw can exceed every number. */
const LARGEST = 300

/** The log time that a clock with steps shows. */
function readClock({ clockStep }: Scenario, time: number): number {
  const bounded = Math.min(LARGEST, Math.max(-LARGEST, time))
  if (clockStep === undefined) return bounded
  return Math.log(Math.max(1, Math.round(Math.exp(bounded) / clockStep)) * clockStep)
}
