import type { Random } from './random.ts'

/** What a round of a campaign proposes: log gains, positive is better. */
export function drawEffect(random: Random): number {
  const kind = random.fraction()
  if (kind < 0.65) return 0
  return kind < 0.8 ? -random.exponential(0.03) : random.exponential(0.04)
}

export const PROPOSALS_TEXT =
  '65 % of proposals do nothing, 15 % harm (3 % on average), 20 % are real (4 % on average)'
