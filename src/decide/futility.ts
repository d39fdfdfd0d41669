import { type Objective, computeSignedDelta } from './objectives.ts'
import type { StabilitySpec } from './ladder.ts'

type FutilityInput = { base: number; candidate: number; samples: number; elapsedSeconds: number | null }

/** The primary is at least `factor` times worse; says nothing about bases that are not positive. */
function isHopeless(primary: Objective, standing: FutilityInput, factor: number): boolean {
  if (!(factor > 1) || !(standing.base > 0)) return false
  const bound = primary.direction === 'minimize' ? standing.base * factor : standing.base / factor
  return computeSignedDelta(bound, standing.candidate, primary.direction) <= 0
}

/** Whether the futility bound, declared before the measurement, allows to stop looking at a loser. */
export function isFutile(stability: StabilitySpec, primary: Objective, standing: FutilityInput): boolean {
  const futility = stability.mode === 'ladder' ? stability.ladder?.futility : null
  if (futility === null || futility === undefined) return false
  const { base, candidate, samples, elapsedSeconds } = standing
  const late =
    futility.after_elapsed_seconds !== null &&
    elapsedSeconds !== null &&
    elapsedSeconds >= futility.after_elapsed_seconds
  if (late && computeSignedDelta(base, candidate, primary.direction) <= 0) return true
  const exploring = samples <= (stability.ladder?.exploratory_pairs ?? 1)
  return exploring && isHopeless(primary, standing, futility.worse_factor)
}
