export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN
  return (lower + upper) / 2
}

export function standardDeviation(values: readonly number[]): number {
  const centre = mean(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1))
}

/** Median absolute deviation, not scaled. */
export function medianDeviation(values: readonly number[]): number {
  const centre = median(values)
  return median(values.map(value => Math.abs(value - centre)))
}

/** z of Mann and Whitney's U with its continuity correction: positive where `low` tends to be the lower. */
export function mannWhitneyZ(low: readonly number[], high: readonly number[]): number {
  let wins = 0
  for (const a of low) for (const b of high) wins += a < b ? 1 : a === b ? 0.5 : 0
  const product = low.length * high.length
  return (wins - product / 2 - 0.5) / Math.sqrt((product * (low.length + high.length + 1)) / 12)
}

/** Chance that a standard normal is below z, to seven digits. */
export function normalBelow(z: number): number {
  const t = 1 / (1 + 0.3275911 * (Math.abs(z) / Math.SQRT2))
  const poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
  const upper = (poly * Math.exp(-(z * z) / 2)) / 2
  return z < 0 ? upper : 1 - upper
}

/** Standard error of a share. */
export function shareError(share: number, count: number): number {
  return Math.sqrt((share * (1 - share)) / count)
}
