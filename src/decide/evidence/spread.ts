/** MAD of a normal distribution times this is its standard deviation. */
const MAD_TO_SD = 1.4826

export function computeSampleSd(values: readonly number[]): number | null {
  if (values.length < 2) return null
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
}

function sortSizes(differences: readonly number[]): number[] {
  return differences.map(Math.abs).toSorted((a, b) => a - b)
}

/** Where more than half of all pairs tie exactly, the MAD is 0 and says nothing. */
function replaceZeroSpread(spread: number, differences: readonly number[]): number {
  return spread > 0 ? spread : Math.sqrt(differences.reduce((sum, d) => sum + d * d, 0) / differences.length)
}

/** 1.4826 times the median size of a difference: the coin has made 0 their middle. */
export function computeRobustSpread(differences: readonly number[]): number {
  const sizes = sortSizes(differences)
  const upper = sizes[sizes.length >> 1] ?? Number.NaN
  const lower = sizes[(sizes.length - 1) >> 1] ?? Number.NaN
  return replaceZeroSpread((MAD_TO_SD * (lower + upper)) / 2, differences)
}

/**
 * The upper confidence limit of the above, from the binomial law of how many sizes lie below their median:
 * exact whatever the distribution. Null when there are too few pairs for one.
 */
export function computeRobustSpreadUpper(differences: readonly number[], confidence: number): number | null {
  const sizes = sortSizes(differences)
  let lnChance = -sizes.length * Math.LN2
  let below = 0
  for (const [index, size] of sizes.entries()) {
    below += Math.exp(lnChance)
    if (below >= confidence) return replaceZeroSpread(MAD_TO_SD * size, differences)
    lnChance += Math.log((sizes.length - index) / (index + 1))
  }
  return null
}
