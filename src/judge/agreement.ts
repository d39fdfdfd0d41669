/** What several raters gave each thing that is rated; null: none. */
export type Ratings = readonly (readonly (number | null)[])[]

/**
 * Krippendorff's alpha for numbers: 1 is full agreement, 0 what chance gives, and less is worse than chance. Unlike a
 * share of equal scores it cannot be had by giving everything the same. Null: nothing was rated twice, or every rating
 * is the same number, so that nothing can be said.
 */
export function computeAgreement(ratings: Ratings): number | null {
  const units = ratings.map(unit => unit.filter(value => value !== null)).filter(unit => unit.length > 1)
  const all = units.flat()
  const observed =
    units.reduce((sum, unit) => sum + sumSquaredDifferences(unit) / (unit.length - 1), 0) / all.length
  const expected = sumSquaredDifferences(all) / (all.length * (all.length - 1))
  return expected > 0 ? 1 - observed / expected : null
}

/** The squared differences of all ordered pairs. */
function sumSquaredDifferences(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return 2 * values.length * values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}
