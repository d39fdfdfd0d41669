import { keepSideAnew, lnStage, lnTotal } from './keep-side.ts'
import { enoughRunners } from './runners.ts'
import { scoresGainEnough } from './scores.ts'
import type { EvidenceState } from './state.ts'

/** E has reached the screen (decision 3.3): a fresh runner is asked for. */
export function screens(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen === null || screened !== null) return false
  return lnStage(state) >= Math.log(rule.screen) && isEnough(state)
}

/** Ranks start again, and what was gathered is carried on. */
export function screenedNow(state: EvidenceState): EvidenceState {
  const screened = { job: state.jobs.length - 1, ln: lnStage(state) }
  return { ...state, screened, given_up: null, keep: keepSideAnew(state) }
}

/** E has reached 1/level in all, on as many runners as it takes. */
export function keeps(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen !== null && (screened === null || lnStage(state) <= 0)) return false
  return lnTotal(state) >= -Math.log(rule.level) && enoughRunners(state) && isEnough(state)
}

function isEnough({ rule, differences }: EvidenceState): boolean {
  return !rule.graded || scoresGainEnough(differences, { minEffect: rule.min_effect })
}
