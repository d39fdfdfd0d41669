import type { Comparison } from './ce/comparison.ts'
import type { NextMeasurement } from './ce/stability.ts'

/** JSON: the result of one order's report for one candidate. */
export type Assessment = {
  outcome:
    | 'eligible'
    | 'dropped'
    | 'inconclusive'
    | 'degenerate'
    | 'error'
    | 'timeout'
    | 'censored'
    | 'refused'
    | 'promising' // its pairs so far are worth another job
  /** No verdict: the base, the set-up of both sides or the runner failed, so measure again. */
  retry: boolean
  failure_class: 'build' | 'eval' | 'hypothesis' | null
  /** Harm was shown on the primary, or an objective or guardrail was violated. */
  worse: boolean
  comparisons: Record<string, Comparison>
  improved_objectives: string[]
  violated_objectives: string[]
  primary_delta: number | null
  rank_score: number
  target_reached: boolean
  next_measurement: NextMeasurement
  /** Repeats of a deterministic harness differed: that status ends for the campaign. */
  determinism_lost: boolean
  /** Kept by its median, but not shown to gain on average: a reason for a person to decide. */
  sometimes_slower: { name: string; text: string } | null
  /** Inconclusive because measuring ended early. `for_now`: a second look is worth it. */
  given_up: 'for_now' | 'for_good' | null
  reason: string
  warnings: string[]
}

export type AssessmentFinding = Omit<Assessment, 'warnings'>

export function createFinding(
  outcome: Assessment['outcome'],
  reason: string,
  known: Partial<Omit<AssessmentFinding, 'outcome' | 'reason'>> = {},
): AssessmentFinding {
  return {
    outcome,
    retry: false,
    failure_class: null,
    worse: false,
    comparisons: {},
    improved_objectives: [],
    violated_objectives: [],
    primary_delta: null,
    rank_score: 0,
    target_reached: false,
    next_measurement: 'none',
    determinism_lost: false,
    sometimes_slower: null,
    given_up: null,
    ...known,
    reason,
  }
}

export function createRetryFinding(reason: string): AssessmentFinding {
  return createFinding('error', reason, { retry: true })
}

/** Recorded with every verdict, so that a replay applies the rules under which it was given (invariant 3). */
export const RULE_VERSION = '6'
