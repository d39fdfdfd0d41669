import { UserError } from '../../errors.ts'
import { signedDifference } from './difference.ts'
import { givesUpAfterPair, mayStillProve, shownAgainst } from './giving-up.ts'
import { afterWholeJob, currentJobEnded, type JobTurn, withTurn } from './job.ts'
import { keepSideAnew, keepSideRaised, withLoss } from './keep-side.ts'
import { keeps, screenedNow, screens } from './keeping.ts'
import { type Difference, placing, raised } from './rank-evidence.ts'
import type { Decided, EvidenceState } from './state.ts'

/** One base and one candidate execution side by side; null: that execution failed. */
export type EvidencePair = JobTurn & {
  base: number | null
  candidate: number | null
  /** The run was interrupted after the pair had begun. */
  lost?: true | undefined
}

const FAILURES_THAT_END = 2

function weighed(state: EvidenceState, difference: Difference): EvidenceState {
  const counted = {
    ...state,
    differences: [...state.differences, difference],
    failures: state.failures + (difference === null ? 1 : 0),
  }
  if (state.decided !== null) return counted
  const drop = raised(state.drop, -placing(counted.differences, 0, state.rule.min_effect))
  const harm = raised(state.harm, -placing(counted.differences, 0, 0))
  return { ...counted, drop, harm, keep: isStale(counted) ? keepSideAnew(counted) : keepSideRaised(counted) }
}

/** What the job that screened goes on to measure is not fresh: it counts for everything but the keep side. */
function isStale({ screened, jobs }: EvidenceState): boolean {
  return screened !== null && screened.job === jobs.length - 1
}

function dropped(state: EvidenceState): Decided['reason'] | null {
  if (state.failures >= FAILURES_THAT_END) return 'broken'
  return shownAgainst(state)
}

/**
 * The order after each pair (decision 3.3): drop, screen or keep, give up, end of job. A search that was given up asks
 * for no fresh runner: its last pairs are for proofs of harm and of no gain.
 */
function judged(state: EvidenceState): EvidenceState {
  if (state.decided !== null) return state
  if (state.rule.graded) return graded(state)
  const reason = dropped(state)
  if (reason !== null) return { ...state, decided: { status: 'drop', reason } }
  if (state.given_up === null && screens(state)) return currentJobEnded(screenedNow(state))
  if (keeps(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  return jobGoesOn(givesUpAfterPair(state))
}

/** All items of a sample are scored before any is read: nothing is saved by stopping within it. */
function graded(state: EvidenceState): EvidenceState {
  if (state.failures >= FAILURES_THAT_END) return { ...state, decided: { status: 'drop', reason: 'broken' } }
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  return pairs >= state.rule.pairs_per_job && !ended ? afterWholeJob(state) : state
}

function jobGoesOn(state: EvidenceState): EvidenceState {
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  if (ended) return state
  if (state.given_up !== null) return mayStillProve(state) ? state : currentJobEnded(state)
  return pairs >= state.rule.pairs_per_job ? afterWholeJob(state) : state
}

function checkFinite(value: number | null, side: string): void {
  if (value === null || Number.isFinite(value)) return
  throw new UserError(`evidence: the ${side}'s value is ${value}`, { fix: 'give a failed execution as null' })
}

/**
 * The state after one more pair; the given one is left as it is. A failed base makes the pair void, a failed
 * candidate a loss of the highest rank, and two of them the end (invariant 5). What is observed after a verdict (for
 * guardrails, say) is recorded for effect and interval and changes no verdict.
 */
export function observePair(state: EvidenceState, pair: EvidencePair): EvidenceState {
  const { base, candidate } = pair
  checkFinite(base, 'base')
  checkFinite(candidate, 'candidate')
  if (pair.lost) return lostPair(withTurn(state, pair, false))
  if (base === null) return withTurn(state, pair, false)
  const difference = candidate === null ? null : signedDifference(state.rule, base, candidate)
  return judged(weighed(withTurn(state, pair, true), difference))
}

/**
 * A pair that was lost after it had begun counts as the worst one there can be for keeping, and for nothing else: a
 * candidate that ends its machine when it is behind is no better off than one that loses the pair, and one whose machine
 * died is not called worse (decision 039).
 */
function lostPair(state: EvidenceState): EvidenceState {
  if (state.decided !== null || isStale(state)) return state
  return { ...state, keep: withLoss(state) }
}

/** The nth job of which nothing came back: evidence for keeping starts again, below 1. */
export function keepSideLost(state: EvidenceState, nth: number): EvidenceState {
  if (state.decided !== null) return state
  let anew: EvidenceState = { ...state, screened: null, keep: keepSideAnew(state) }
  for (let gap = 0; gap < nth; gap++) anew = { ...anew, keep: withLoss(anew) }
  return anew
}
