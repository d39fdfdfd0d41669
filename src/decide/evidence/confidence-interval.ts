import { UserError } from '../../errors.ts'
import { reverseDifferences } from './crossing.ts'
import { computeWalshAverages } from './hodges-lehmann.ts'
import { type Difference, computeLnEvidence } from './rank-evidence.ts'

export type Interval = [low: number, high: number]

/** Ranks and signs about theta change at Walsh averages only, so one point of each gap says all. */
function listCandidatePoints(averages: readonly number[]): number[] {
  const first = averages[0] ?? 0
  const last = averages.at(-1) ?? 0
  const inner = averages.slice(1).map((average, index) => (average + (averages[index] ?? average)) / 2)
  return [first - 1, ...inner, last + 1]
}

/** The first of the points, from where theta is refuted on, at which it no longer is; -1: nowhere refuted. */
function findFirstOpen(points: readonly number[], refuted: (theta: number) => boolean): number {
  if (!refuted(points[0] ?? 0)) return -1
  let known = 0
  let open = points.length - 1
  while (open - known > 1) {
    const middle = (known + open) >> 1
    if (refuted(points[middle] ?? 0)) known = middle
    else open = middle
  }
  return open
}

/**
 * The confidence sequence of the rank process (decision 3.2): all theta with E(d - theta) and E(theta - d) below
 * 2/(1 - level), its ends found by bisection. Valid however often it is looked at; null while unbounded, as it
 * always is below 7 pairs.
 */
export function computeConfidenceInterval(
  differences: readonly Difference[],
  { level = 0.95 }: { level?: number } = {},
): Interval | null {
  if (!(level > 0 && level < 1)) throw new UserError(`a confidence level of ${level} is not between 0 and 1`)
  const lowest = findUpperEnd(reverseDifferences(differences), 2 / (1 - level))
  const highest = findUpperEnd(differences, 2 / (1 - level))
  return lowest === null || highest === null ? null : [0 - lowest, highest]
}

/**
 * The one-sided 95 % upper bound of the effect. It is known before both ends of an interval are. Null
 * while unbounded.
 */
export function computeUpperBound(differences: readonly Difference[]): number | null {
  return findUpperEnd(differences, 1 / 0.05)
}

/** The smallest Walsh average above which every theta is refuted: E(theta - d) >= evidence. */
function findUpperEnd(differences: readonly Difference[], evidence: number): number | null {
  const averages = [...new Set(computeWalshAverages(differences))].filter(average => Number.isFinite(average))
  const points = listCandidatePoints(averages).toReversed()
  const reversed = reverseDifferences(differences)
  const open = findFirstOpen(points, theta => computeLnEvidence(reversed, -theta) >= Math.log(evidence))
  return averages[averages.length - open] ?? null
}
