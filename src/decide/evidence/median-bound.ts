import type { Direction } from './difference.ts'

/**
 * How bad the median of what a harness prints may be: the value that it is not worse than, with 97.5 % confidence
 * and whatever the distribution, from the binomial law of how many runs lie beyond it. Null below six runs, where
 * none of them can say so.
 */
export function medianBound(values: readonly number[], direction: Direction): number | null {
  const worstFirst = values.toSorted((a, b) => (direction === 'minimize' ? b - a : a - b))
  let chance = 2 ** -values.length
  let below = chance
  if (below > ALPHA) return null
  let rank = 0
  for (; rank + 1 < values.length; rank++) {
    chance *= (values.length - rank) / (rank + 1)
    if (below + chance > ALPHA) break
    below += chance
  }
  return worstFirst[rank] ?? null
}

const ALPHA = 0.025
