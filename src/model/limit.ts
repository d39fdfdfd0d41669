/** Rules that a person can move in the spec; the others end a campaign, or are about ideas and not about the spec. */
const MOVABLE_LIMITS: ReadonlySet<string> = new Set([
  'target_reached',
  'max_iterations',
  'max_hours',
  'plateau',
  'max_runner_minutes',
  'max_total_cost_usd',
  'max_failures',
])

/** By the code of a stop. */
export function isMovable(code: string): boolean {
  return MOVABLE_LIMITS.has(code)
}
