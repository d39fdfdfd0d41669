import { z } from 'zod'

/** Outcomes of an experiment. `VERDICT_WORDS` maps each to the word that people read. */
export const outcomeSchema = z.enum([
  'kept',
  'runner_up_kept',
  /** A revert that a person requested. It landed, but it is not a gain. */
  'revert_landed',
  'runner_up_dropped',
  'not_selected',
  'inconclusive',
  'dropped',
  'degenerate',
  'censored',
  'refused',
  'error',
  'timeout',
  'withdrawn',
])
export type Outcome = z.infer<typeof outcomeSchema>

export const verdictWordSchema = z.enum(['kept', 'no gain', 'worse', 'not proven', 'refused', 'broken'])
export type VerdictWord = z.infer<typeof verdictWordSchema>

const VERDICT_WORDS = {
  kept: 'kept',
  runner_up_kept: 'kept',
  revert_landed: 'kept',
  runner_up_dropped: 'no gain',
  not_selected: 'no gain',
  inconclusive: 'not proven',
  dropped: 'no gain',
  degenerate: 'broken',
  censored: 'no gain',
  refused: 'refused',
  error: 'broken',
  timeout: 'broken',
  withdrawn: 'no gain',
} as const satisfies Record<Outcome, VerdictWord>

/** `worse` requires proven harm to the primary or a guardrail. */
export function toVerdictWord(result: Outcome, worse: boolean): VerdictWord {
  return result === 'dropped' && worse ? 'worse' : VERDICT_WORDS[result]
}

/** Labels for outcomes whose verdict word alone would mislead. */
const OUTCOME_LABELS = {
  not_selected: 'better, not taken',
  runner_up_dropped: 'promising alone',
  revert_landed: 'reverted',
  withdrawn: 'withdrawn',
} as const satisfies Partial<Record<Outcome, string>>

export type OutcomeLabel = (typeof OUTCOME_LABELS)[keyof typeof OUTCOME_LABELS]

/** Returns the label that people read: one of the six verdict words, or a more exact one. */
export function getOutcomeLabel(result: Outcome | null, verdict: VerdictWord): VerdictWord | OutcomeLabel {
  const labels: Partial<Record<Outcome, OutcomeLabel>> = OUTCOME_LABELS
  return (result === null ? undefined : labels[result]) ?? verdict
}

export function isBetterAlone(result: Outcome | null): boolean {
  return result === 'not_selected' || result === 'runner_up_dropped'
}

export function isLanded(result: Outcome): boolean {
  return result === 'kept' || result === 'runner_up_kept' || result === 'revert_landed'
}

/** Exit codes for scripts, by the verdict of a command. */
export const EXIT_CODES = {
  kept: 0,
  'no gain': 10,
  worse: 15,
  'not proven': 11,
  refused: 12,
  broken: 13,
} as const satisfies Record<VerdictWord, number>

export const WAITING_EXIT_CODE = 14
