import type { Difference } from './rank-evidence.ts'

/** Sums of squares about the null effect and about each alternative. */
export type VarianceSums = {
  pairs: number
  about_null: number
  about_alternatives: readonly number[]
}

export type VariancePrior = { null_effect: number; min_effect: number; noise: number }

const PRIOR_PAIRS = 6
/** In units of min_effect: with one alternative only, gains far above it would gather evidence no faster. */
const ALTERNATIVE_EFFECTS = [1, 2.5, 5]

export const NO_SUMS: VarianceSums = {
  pairs: 0,
  about_null: 0,
  about_alternatives: ALTERNATIVE_EFFECTS.map(() => 0),
}

/** One more pair. A failed candidate ends this half of the evidence: an infinite loss has no likelihood. */
export function addToSums(
  sums: VarianceSums | null,
  difference: Difference,
  prior: VariancePrior,
): VarianceSums | null {
  if (sums === null || difference === null) return null
  return {
    pairs: sums.pairs + 1,
    about_null: sums.about_null + (difference - prior.null_effect) ** 2,
    about_alternatives: sums.about_alternatives.map(
      (sum, index) => sum + (difference - (ALTERNATIVE_EFFECTS[index] ?? 1) * prior.min_effect) ** 2,
    ),
  }
}

/**
 * ln of the GSPRT likelihood ratio with a variance prior (decision 2b, nu0 = 6, s0 = noise), the mean over
 * alternatives: [(nu0 s0^2 + S_null)/(nu0 s0^2 + S_alternative)]^((nu0 + n)/2).
 */
export function computeLnVarianceRatio(sums: VarianceSums, noise: number): number {
  const prior = PRIOR_PAIRS * noise ** 2
  const top = Math.log(prior + sums.about_null)
  const power = (PRIOR_PAIRS + sums.pairs) / 2
  const ratios = sums.about_alternatives.map(sum => power * (top - Math.log(prior + sum)))
  const most = Math.max(...ratios)
  return most + Math.log(ratios.reduce((total, ratio) => total + Math.exp(ratio - most), 0) / ratios.length)
}
