import { type Difference, valueOf } from './rank-evidence.ts'

/** All means of two differences (each with itself too), in order: where ranks or signs about theta change. */
export function walshAverages(differences: readonly Difference[]): Float64Array {
  const averages = new Float64Array((differences.length * (differences.length + 1)) / 2)
  let at = 0
  for (const [index, first] of differences.entries()) {
    for (let other = 0; other <= index; other++) {
      averages[at++] = valueOf(first) / 2 + valueOf(differences[other]) / 2
    }
  }
  return averages.sort()
}

/**
 * The Hodges-Lehmann estimate (decision 3.2): the median of all Walsh averages. NaN without a pair, -Infinity
 * when failed candidates outweigh the rest.
 */
export function hodgesLehmann(differences: readonly Difference[]): number {
  const averages = walshAverages(differences)
  const upper = averages[averages.length >> 1] ?? Number.NaN
  if (averages.length % 2 === 1) return upper
  return ((averages[(averages.length >> 1) - 1] ?? Number.NaN) + upper) / 2
}
