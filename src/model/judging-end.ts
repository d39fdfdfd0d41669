/**
 * Why a job that asks models stopped before everything had been asked for: its time or its money was up, or no model
 * could be asked.
 */
export const JUDGING_ENDS = ['late', 'set-aside', 'refused', 'unreachable'] as const
export type JudgingEnd = (typeof JUDGING_ENDS)[number]

/** Those that say nothing against asking on at once. */
export function isRetryableEnd(is: JudgingEnd): boolean {
  return is === 'late' || is === 'set-aside'
}
