import { hasCoarseSteps, listExplainedDifferences, selectSameSpeed } from './disturbances.ts'
import { computeStateEffect, estimateEffect, estimateHodgesLehmann } from './interval.ts'
import {
  computeLnEvidence,
  computeLnMean,
  type Difference,
  reverseDifferences,
  toComparable,
} from './rank-test.ts'
import type { EvidenceDecision, EvidenceState, GiveUp } from './state.ts'

/**
 * Ending the search for a gain, which saves money, is not the claim that there is none. "No gain" needs the
 * 95 % interval to end below min_effect, "worse" needs shown harm; without either the idea is not proven.
 */
const RULED_OUT_AT = Math.log(40)
const HARM_AT = Math.log(20)
const UNLIKELY_AT = Math.log(5)
/** A change of twice min_effect is excluded with 95 % confidence. */
const LARGE_RULED_OUT_AT = Math.log(20)

const LITTLE_PROMISE = 1 / 2

/** Pairs that a search given up may still take for a proof of harm, or of no gain. */
export const PROOF_PAIRS = 5

/** Average growth of the evidence per pair that speaks for the proof: one pair at most doubles it. */
const LN_GROWTH = Math.log(1.75)

const PROMISE_CHECKS: readonly { share: number; reason: GiveUp['reason'] }[] = [
  { share: 1 / 4, reason: 'no-promise-after-job-1' },
  { share: 1 / 2, reason: 'no-promise-after-job-2' },
]

export function giveUp(state: EvidenceState, reason: GiveUp['reason']): EvidenceState {
  return { ...state, given_up: state.given_up ?? { reason, pairs: state.differences.length } }
}

/** Checked after each pair: a gain of min_effect has become unlikely, or is ruled out. */
export function checkPromiseEachPair(state: EvidenceState): EvidenceState {
  const { rule, drop } = state
  if (isGainRuledOut(state) && rule.give_up !== 'equal') return giveUp(state, 'gain-ruled-out')
  const unlikely = rule.give_up === 'early' && computeLnMean(drop) >= UNLIKELY_AT
  return unlikely && !isGainOpen(state) ? giveUp(state, 'gain-unlikely') : state
}

/** The machine may explain what speaks against a gain, or every pair of the job ties so far. */
function isGainOpen(state: EvidenceState): boolean {
  const { measured, jobs, rule } = state
  if (rule.graded) return false
  const whole = (jobs.at(-1)?.pairs ?? 0) >= rule.pairs_per_job
  if (!whole && measured.every(each => each === 0)) return true
  return Math.max(...estimateExplainedEffects(state)) > rule.min_effect
}

/**
 * Estimates of the effect without what the machine explains: the order of the runs and, as a second estimate,
 * a difference between speeds. Ties that say nothing make ranks blind, so coarse steps are averaged.
 */
function estimateExplainedEffects(state: EvidenceState): number[] {
  if (state.rule.graded) return [estimateEffect(state)]
  if (isClockCoarse(state)) {
    const sum = state.measured.reduce<number>((total, each) => total + toComparable(each), 0)
    return [sum / state.measured.length]
  }
  const explained = listExplainedDifferences(state)
  return [explained, selectSameSpeed(explained)].map(estimateHodgesLehmann)
}

export function isClockCoarse({ rule, measured }: Pick<EvidenceState, 'rule' | 'measured'>): boolean {
  return !rule.graded && hasCoarseSteps(measured, rule.min_effect)
}

/** Pairs from `from` that say something: all, or those that do not tie where a tie says nothing. */
export function selectTelling(
  state: Pick<EvidenceState, 'rule' | 'measured' | 'differences'>,
  from = 0,
): Difference[] {
  const { differences, measured } = state
  const coarse = isClockCoarse(state)
  return differences.filter((_, index) => index >= from && !(coarse && measured[index] === 0))
}

/** HL <= theta1/4 after job 1, HL <= theta1/2 after job 2; or large changes are excluded. */
export function checkPromiseEachJob(state: EvidenceState): EvidenceState {
  const { rule, jobs } = state
  const estimates = estimateExplainedEffects(state).map(each => each / rule.min_effect)
  const estimate = Math.max(...estimates)
  switch (rule.give_up) {
    case 'early': {
      const check = PROMISE_CHECKS[jobs.length - 1]
      return check !== undefined && estimate <= check.share ? giveUp(state, check.reason) : state
    }
    case 'late': {
      const little = estimate <= LITTLE_PROMISE && isLargeGainExcluded(state)
      return little ? giveUp(state, 'large-gain-ruled-out') : state
    }
    case 'equal': {
      const little = estimates.every(each => Math.abs(each) <= LITTLE_PROMISE)
      const equal = little && isLargeGainExcluded(state) && isLargeLossExcluded(state)
      return equal ? giveUp(state, 'large-change-ruled-out') : state
    }
    case 'never':
      return state
    default:
      return rule.give_up satisfies never
  }
}

/** Wrong for at most one gain of twice min_effect in twenty, no matter how often it is checked. */
export function isLargeGainExcluded(state: EvidenceState): boolean {
  const against = reverseDifferences(selectTelling(state))
  return computeLnEvidence(against, -2 * state.rule.min_effect) >= LARGE_RULED_OUT_AT
}

function isLargeLossExcluded(state: EvidenceState): boolean {
  const { rule } = state
  if (rule.graded)
    return (computeStateEffect(state).interval?.[0] ?? Number.NEGATIVE_INFINITY) > -2 * rule.min_effect
  return computeLnEvidence(selectTelling(state), -2 * rule.min_effect) >= LARGE_RULED_OUT_AT
}

/**
 * Given up early, with an estimate that is still a gain and large gains open: worth a second look after all
 * other work.
 */
export function isWorthSecondLook(state: EvidenceState): boolean {
  const { rule, given_up, decided } = state
  if (rule.give_up !== 'early' || given_up === null || decided !== null) return false
  return estimateEffect(state) > 0 && !isLargeGainExcluded(state)
}

/** Keeps the evidence, and goes on until a large gain is excluded. */
export function startSecondLook(state: EvidenceState): EvidenceState {
  return { ...state, given_up: null, rule: { ...state.rule, give_up: 'late' } }
}

/** Whether the remaining proof pairs would reach one of the two proofs, if all of them spoke for it. */
export function isProofWithinReach(state: EvidenceState): boolean {
  if (state.given_up === null || state.rule.graded) return false
  const left = countProofPairsLeft(state)
  if (left <= 0) return false
  const noGain = computeLnMean(state.drop)
  return (
    isHarmWithinReach(state, left) || (noGain < RULED_OUT_AT && noGain + left * LN_GROWTH >= RULED_OUT_AT)
  )
}

function countProofPairsLeft({ given_up: since, differences }: EvidenceState): number {
  return since === null ? PROOF_PAIRS : PROOF_PAIRS - (differences.length - since.pairs)
}

function isHarmWithinReach(state: EvidenceState, left: number): boolean {
  if (state.rule.graded || computeLnMean(state.harm) + left * LN_GROWTH < HARM_AT) return false
  return estimateEffect(state) < 0
}

/** Checks harm first, and no gain once harm is out of reach. */
export function findReasonToDrop(state: EvidenceState): EvidenceDecision['reason'] | null {
  if (computeLnMean(state.harm) >= HARM_AT) return 'harm-shown'
  if (!isGainRuledOut(state) || isHarmWithinReach(state, countProofPairsLeft(state))) return null
  return state.rule.give_up !== 'equal' || isLargeLossExcluded(state) ? 'gain-ruled-out' : null
}

/** The 95 % interval of all pairs ends below min_effect. */
export function isGainExcluded(state: EvidenceState): boolean {
  const { rule } = state
  if (rule.graded)
    return (computeStateEffect(state).interval?.[1] ?? Number.POSITIVE_INFINITY) < rule.min_effect
  return computeLnEvidence(reverseDifferences(selectTelling(state)), -rule.min_effect) >= RULED_OUT_AT
}

/** Reads the running product, which has every pair in it as long as no decision was made. */
function isGainRuledOut(state: EvidenceState): boolean {
  return state.rule.graded ? isGainExcluded(state) : computeLnMean(state.drop) >= RULED_OUT_AT
}

/** After the last job a shown "no gain" decides, even if more pairs could have shown harm. */
export function decideLastJob(state: EvidenceState): EvidenceState {
  const { jobs, rule, decided } = state
  if (decided !== null || jobs.length < rule.max_jobs || !isGainRuledOut(state)) return state
  return { ...state, decided: { status: 'drop', reason: 'gain-ruled-out' } }
}
