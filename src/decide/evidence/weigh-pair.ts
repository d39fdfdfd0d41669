import {
  compareAcrossSpeeds,
  computeFirstRunCost,
  findSpeedBorder,
  leaveOutAcrossSpeeds,
  removeFirstRunCost,
} from './disturbances.ts'
import { isClockCoarse, selectTelling } from './give-up.ts'
import {
  addToSums,
  computeSignedRank,
  type Difference,
  type LnBets,
  NO_BETS,
  NO_SUMS,
  updateBets,
} from './rank-test.ts'
import { type EvidenceState, type KeepSide, NO_KEEP_BETS } from './state.ts'

/** Bets on one more difference. After a decision it counts for effect and interval alone. */
export function weighDifference(
  state: EvidenceState,
  measured: Difference,
  baseFirst: boolean,
): EvidenceState {
  const counted = recordDifference(state, measured, baseFirst)
  if (state.decided !== null) return counted
  const { min_effect } = state.rule
  if (isClockCoarse(counted)) return updateWithoutTies(counted)
  const drop = updateBets(state.drop, -computeSignedRank(counted.differences, 0, min_effect))
  const harm = updateBets(state.harm, -computeSignedRank(counted.differences, 0, 0))
  const keep = isStale(counted) ? restartKeepSide(counted) : updateKeepSide(counted)
  return { ...counted, drop, harm, keep }
}

/** Later pairs of the job that screened are not fresh: they count for everything but the keep side. */
export function isStale({ screened, jobs }: EvidenceState): boolean {
  return screened !== null && screened.job === jobs.length - 1
}

export function restartKeepSide({ rule, differences }: EvidenceState): KeepSide {
  const sums = rule.noise === null ? null : NO_SUMS
  return { from: differences.length, ...NO_KEEP_BETS, sums }
}

/**
 * The keep side after a pair of unknown difference: as if that had been the largest loss so far. No pair
 * could have lowered it more, so it stays an e-process no matter which pair is lost.
 */
export function addLoss({ differences, keep }: EvidenceState): KeepSide {
  const pairs = differences.length - keep.from + 1
  const z = (-2 * pairs) / (pairs + 1)
  const ln = updateBets(keep.ln, z)
  const ln_centred = updateBets(keep.ln_centred, z)
  return { from: keep.from, ln, ln_centred, ln_lost: updateBets(keep.ln_lost, z), sums: null }
}

/** Scores of items depend on no machine, so that none explains them. */
function recordDifference(state: EvidenceState, measured: Difference, baseFirst: boolean): EvidenceState {
  const record = {
    measured: [...state.measured, measured],
    base_first: [...state.base_first, baseFirst],
    failures: state.failures + (measured === null ? 1 : 0),
  }
  if (state.rule.graded) {
    const differences = [...state.differences, measured]
    return { ...state, ...record, differences, centred: differences }
  }
  const border = findSpeedBorder(state.differences)
  const { differences, centred, keep } = Number.isFinite(border) ? applySpeeds(state, border) : state
  const difference = removeFirstRunCost(measured, baseFirst, computeFirstRunCost(state))
  return {
    ...state,
    ...record,
    keep,
    differences: [...differences, difference],
    centred: [...centred, compareAcrossSpeeds(differences, difference, border)],
  }
}

/**
 * Once two speeds are seen, bets again on the pairs before, without those across speeds. The sizes that show
 * the speeds do not depend on the coins, so these bets are as fair as if the speeds had been known.
 */
function applySpeeds(state: EvidenceState, border: number): EvidenceState {
  const { rule, differences, centred, keep } = state
  if (centred.some((each, index) => each !== differences[index])) return state
  const known = leaveOutAcrossSpeeds(differences, border)
  let bets = keep.ln_lost
  for (let last = keep.from; last < known.length; last++) {
    const isLeftOut = known[last] !== differences[last]
    bets = updateBets(bets, isLeftOut ? 0 : computeSignedRank(known, keep.from, rule.null_effect, last))
  }
  return { ...state, centred: known, keep: { ...keep, ln_centred: bets } }
}

function updateKeepSide({ rule, differences, centred, keep }: EvidenceState): KeepSide {
  const { from } = keep
  const { noise, null_effect } = rule
  const newest = differences.at(-1) ?? null
  if (rule.graded && newest === 0) return keep
  const own = rule.graded ? differences.slice(from).filter(each => each !== 0) : differences
  const z = computeSignedRank(own, rule.graded ? 0 : from, null_effect)
  const isLeftOut = centred.at(-1) === 0 && newest !== 0
  const z_centred = isLeftOut ? 0 : computeSignedRank(centred, from, null_effect)
  return {
    ...keep,
    ln: updateBets(keep.ln, z),
    ln_centred: updateBets(keep.ln_centred, rule.graded ? z : z_centred),
    sums: noise === null ? null : addToSums(keep.sums, newest, { ...rule, noise }),
  }
}

/**
 * Bets from the start, on the pairs that do not tie. Which pairs tie does not depend on the coins, so the ties
 * before the steps were seen may be left out as well.
 */
function updateWithoutTies(state: EvidenceState): EvidenceState {
  const { rule, keep } = state
  const ln = computeBets(keep.ln_lost, selectTelling(state, keep.from), rule.null_effect, 1)
  const telling = selectTelling(state)
  return {
    ...state,
    keep: isStale(state) ? restartKeepSide(state) : { ...keep, ln, ln_centred: ln, sums: null },
    drop: computeBets(NO_BETS, telling, rule.min_effect, -1),
    harm: computeBets(NO_BETS, telling, 0, -1),
  }
}

function computeBets(
  before: LnBets,
  differences: readonly Difference[],
  theta: number,
  direction: 1 | -1,
): LnBets {
  let bets = before
  for (const last of differences.keys())
    bets = updateBets(bets, direction * computeSignedRank(differences, 0, theta, last))
  return bets
}
