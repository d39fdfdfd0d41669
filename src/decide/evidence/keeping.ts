import { restartKeepSide, computeLnStage, computeLnTotal } from './keep-side.ts'
import { hasEnoughRunners } from './runners.ts'
import { isScoreGainEnough } from './scores.ts'
import type { EvidenceState } from './state.ts'

/** E has reached the screen (decision 3.3): a fresh runner is asked for. */
export function isScreenReached(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen === null || screened !== null) return false
  return computeLnStage(state) >= Math.log(rule.screen) && isGainEnough(state)
}

/** Ranks start again, and what was gathered is carried on. */
export function startConfirmation(state: EvidenceState): EvidenceState {
  const screened = { job: state.jobs.length - 1, ln: computeLnStage(state) }
  return { ...state, screened, given_up: null, keep: restartKeepSide(state) }
}

/** E has reached 1/level in all, on as many runners as it takes. */
export function isLevelReached(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen !== null && (screened === null || computeLnStage(state) <= 0)) return false
  return computeLnTotal(state) >= -Math.log(rule.level) && hasEnoughRunners(state) && isGainEnough(state)
}

function isGainEnough({ rule, differences }: EvidenceState): boolean {
  return !rule.graded || isScoreGainEnough(differences, { minEffect: rule.min_effect })
}
