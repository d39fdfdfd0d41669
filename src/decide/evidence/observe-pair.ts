import { UserError } from '../../errors.ts'
import { computeSignedDifference } from './difference.ts'
import { checkPromiseEachPair, isProofWithinReach, findReasonToDrop } from './giving-up.ts'
import { judgeWholeJob, endCurrentJob, type JobTurn, recordTurn } from './job.ts'
import { restartKeepSide, updateKeepSide, addLoss } from './keep-side.ts'
import { isLevelReached, startConfirmation, isScreenReached } from './keeping.ts'
import { type Difference, computeSignedRank, updateBets } from './rank-evidence.ts'
import type { EvidenceDecision, EvidenceState } from './state.ts'

/** One base and one candidate execution side by side; null: that execution failed. */
export type EvidencePair = JobTurn & {
  base: number | null
  candidate: number | null
  /** The run was interrupted after the pair had begun. */
  lost?: true | undefined
}

const MAX_CANDIDATE_FAILURES = 2

function weighDifference(state: EvidenceState, difference: Difference): EvidenceState {
  const counted = {
    ...state,
    differences: [...state.differences, difference],
    failures: state.failures + (difference === null ? 1 : 0),
  }
  if (state.decided !== null) return counted
  const drop = updateBets(state.drop, -computeSignedRank(counted.differences, 0, state.rule.min_effect))
  const harm = updateBets(state.harm, -computeSignedRank(counted.differences, 0, 0))
  return {
    ...counted,
    drop,
    harm,
    keep: isStale(counted) ? restartKeepSide(counted) : updateKeepSide(counted),
  }
}

/** What the job that screened goes on to measure is not fresh: it counts for everything but the keep side. */
function isStale({ screened, jobs }: EvidenceState): boolean {
  return screened !== null && screened.job === jobs.length - 1
}

function findDropReason(state: EvidenceState): EvidenceDecision['reason'] | null {
  if (state.failures >= MAX_CANDIDATE_FAILURES) return 'broken'
  return findReasonToDrop(state)
}

/**
 * The order after each pair (decision 3.3): drop, screen or keep, give up, end of job. A search that was given up asks
 * for no fresh runner: its last pairs are for proofs of harm and of no gain.
 */
function judgePair(state: EvidenceState): EvidenceState {
  if (state.decided !== null) return state
  if (state.rule.graded) return judgeGraded(state)
  const reason = findDropReason(state)
  if (reason !== null) return { ...state, decided: { status: 'drop', reason } }
  if (state.given_up === null && isScreenReached(state)) return endCurrentJob(startConfirmation(state))
  if (isLevelReached(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  return continueOrEndJob(checkPromiseEachPair(state))
}

/** All items of a sample are scored before any is read: nothing is saved by stopping within it. */
function judgeGraded(state: EvidenceState): EvidenceState {
  if (state.failures >= MAX_CANDIDATE_FAILURES)
    return { ...state, decided: { status: 'drop', reason: 'broken' } }
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  return pairs >= state.rule.pairs_per_job && !ended ? judgeWholeJob(state) : state
}

function continueOrEndJob(state: EvidenceState): EvidenceState {
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  if (ended) return state
  if (state.given_up !== null) return isProofWithinReach(state) ? state : endCurrentJob(state)
  return pairs >= state.rule.pairs_per_job ? judgeWholeJob(state) : state
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
  if (pair.lost) return addLostPair(recordTurn(state, pair, false))
  if (base === null) return recordTurn(state, pair, false)
  const difference = candidate === null ? null : computeSignedDifference(state.rule, base, candidate)
  return judgePair(weighDifference(recordTurn(state, pair, true), difference))
}

/**
 * A pair that was lost after it had begun counts as the worst one there can be for keeping, and for nothing else: a
 * candidate that ends its machine when it is behind is no better off than one that loses the pair, and one whose machine
 * died is not called worse (decision 039).
 */
function addLostPair(state: EvidenceState): EvidenceState {
  if (state.decided !== null || isStale(state)) return state
  return { ...state, keep: addLoss(state) }
}

/** The nth job of which nothing came back: evidence for keeping starts again, below 1. */
export function resetKeepSide(state: EvidenceState, nth: number): EvidenceState {
  if (state.decided !== null) return state
  let anew: EvidenceState = { ...state, screened: null, keep: restartKeepSide(state) }
  for (let gap = 0; gap < nth; gap++) anew = { ...anew, keep: addLoss(anew) }
  return anew
}
