import type { MetricDirection } from './difference.ts'

/**
 * How bad the median of what a harness prints may be: the value that it is not worse than, with 97.5 % confidence
 * and whatever the distribution, from the binomial law of how many runs lie beyond it. Null below six runs, where
 * none of them can say so.
 */
export function computeMedianBound(values: readonly number[], direction: MetricDirection): number | null {
  const worstFirst = values.toSorted((a, b) => (direction === 'minimize' ? b - a : a - b))
  let chance = 2 ** -values.length
  let below = chance
  if (below > MEDIAN_ALPHA) return null
  let rank = 0
  for (; rank + 1 < values.length; rank++) {
    chance *= (values.length - rank) / (rank + 1)
    if (below + chance > MEDIAN_ALPHA) break
    below += chance
  }
  return worstFirst[rank] ?? null
}

const MEDIAN_ALPHA = 0.025
