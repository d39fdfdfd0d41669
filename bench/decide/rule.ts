import type { Job, World } from './noise.ts'

/** What a rule made of one proposed change, and what that took. */
export interface Outcome {
  kept: boolean
  /** What it says the change gains, in log time. */
  claimed: number
  executions: number
  jobs: number
  /** What of that was used to find out whether it is kept; all of it unless told. */
  search?: { executions: number; jobs: number }
}

interface Named {
  name: string
  /** Where the rule is written down. */
  source: string
}

/** A rule that compares new numbers with remembered ones. */
export interface StoredRule extends Named {
  kind: 'stored'
  /** Executions of the base it remembers. */
  samples: number
  judge: (memory: Memory, measure: () => Run) => StoredOutcome
}

/** Executions of the candidate in a job of its own. */
export type Run = () => number

export interface Memory {
  best: readonly number[]
  /** Every score seen so far, of whatever. */
  history: readonly number[]
}

export interface StoredOutcome extends Outcome {
  /** What it will remember if it keeps the change. */
  scores: readonly number[]
}

/** A rule that runs base and candidate itself. */
export interface SideBySideRule extends Named {
  kind: 'side-by-side'
  decide: (change: Change) => Outcome
}

export type Rule = StoredRule | SideBySideRule

/** A change with its true effect (log time, positive is better) in a world. */
export interface Change {
  world: World
  effect: number
  /** How much luckier the candidate's build is than the base's, asked once per job. */
  buildLuck?: () => number
  /** What is added to the log time of one execution of this side. */
  disturb?: (side: 'base' | 'candidate') => number
}

export function times<T>(count: number, run: () => T): T[] {
  return Array.from({ length: count }, run)
}

/** One pair of a job, signed so that positive is better. */
export function pairOf(job: Job, gain: number, baseFirst: boolean): { base: number; candidate: number } {
  if (baseFirst) {
    const base = job(0, true)
    return { base, candidate: job(gain, false) }
  }
  const candidate = job(gain, true)
  return { base: job(0, false), candidate }
}
