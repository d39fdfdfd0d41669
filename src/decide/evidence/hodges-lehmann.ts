import { type Difference, toComparable } from './rank-evidence.ts'

/** All means of two differences (each with itself too), in order: where ranks or signs about theta change. */
export function computeWalshAverages(differences: readonly Difference[]): Float64Array {
  return averagesOfTwo(differences).sort()
}

function averagesOfTwo(differences: readonly Difference[]): Float64Array {
  const halves = Float64Array.from(differences, difference => toComparable(difference) / 2)
  const averages = new Float64Array((halves.length * (halves.length + 1)) / 2)
  let at = 0
  for (let index = 0; index < halves.length; index++) {
    const half = halves[index] ?? Number.NaN
    for (let other = 0; other <= index; other++) averages[at++] = half + (halves[other] ?? Number.NaN)
  }
  return averages
}

/**
 * The Hodges-Lehmann estimate (decision 3.2): the median of all Walsh averages. NaN without a pair, -Infinity
 * when failed candidates outweigh the rest.
 */
export function estimateHodgesLehmann(differences: readonly Difference[]): number {
  const averages = averagesOfTwo(differences)
  const middle = averages.length >> 1
  const upper = moveIntoPlace(averages, middle)
  if (averages.length % 2 === 1) return upper
  let lower = averages[0] ?? Number.NaN
  for (let index = 1; index < middle; index++) lower = Math.max(lower, averages[index] ?? Number.NaN)
  return (lower + upper) / 2
}

/**
 * Moves the value of this rank to its place, and all smaller ones before it (Hoare's selection). Sorting them all
 * would be most of the time of a forecast, which estimates after every simulated pair.
 */
function moveIntoPlace(values: Float64Array, rank: number): number {
  let [left, right] = [0, values.length - 1]
  while (left < right) {
    const pivot = values[(left + right) >> 1] ?? Number.NaN
    let [low, high] = [left, right]
    while (low <= high) {
      while ((values[low] ?? pivot) < pivot) low++
      while ((values[high] ?? pivot) > pivot) high--
      if (low > high) break
      const moved = values[low] ?? pivot
      values[low++] = values[high] ?? pivot
      values[high--] = moved
    }
    if (rank <= high) right = high
    else if (rank >= low) left = low
    else break
  }
  return values[rank] ?? Number.NaN
}
