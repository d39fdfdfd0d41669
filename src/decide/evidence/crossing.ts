import { type Difference, computeLnEvidencePath, toComparable } from './rank-evidence.ts'

/** After which pair E(d - theta) first reached `threshold`; Infinity: not yet. */
export function findFirstCrossing(
  differences: readonly Difference[],
  theta: number,
  threshold: number,
): number {
  const at = computeLnEvidencePath(differences, theta).findIndex(ln => ln >= Math.log(threshold))
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

/** The same differences seen from the other side: what was better is worse. */
export function reverseDifferences(differences: readonly Difference[]): number[] {
  return differences.map(difference => 0 - toComparable(difference))
}
