import { type Difference, lnEvidencePath, valueOf } from './rank-evidence.ts'

/** After which pair E(d - theta) first reached `threshold`; Infinity: not yet. */
export function firstReached(differences: readonly Difference[], theta: number, threshold: number): number {
  const at = lnEvidencePath(differences, theta).findIndex(ln => ln >= Math.log(threshold))
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

/** The same differences seen from the other side: what was better is worse. */
export function turned(differences: readonly Difference[]): number[] {
  return differences.map(difference => 0 - valueOf(difference))
}
