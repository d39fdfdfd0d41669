import { UserError } from '../../errors.ts'
import { turned } from './crossing.ts'
import { walshAverages } from './hodges-lehmann.ts'
import { type Difference, lnEvidence } from './rank-evidence.ts'

export type Interval = [low: number, high: number]

/** Ranks and signs about theta change at Walsh averages only, so one point of each gap says all. */
function pointsBetween(averages: readonly number[]): number[] {
  const first = averages[0] ?? 0
  const last = averages.at(-1) ?? 0
  const inner = averages.slice(1).map((average, index) => (average + (averages[index] ?? average)) / 2)
  return [first - 1, ...inner, last + 1]
}

/** The first of the points, from where theta is refuted on, at which it no longer is; -1: nowhere refuted. */
function firstOpen(points: readonly number[], refuted: (theta: number) => boolean): number {
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
export function confidenceInterval(
  differences: readonly Difference[],
  { level = 0.95 }: { level?: number } = {},
): Interval | null {
  if (!(level > 0 && level < 1)) throw new UserError(`a confidence level of ${level} is not between 0 and 1`)
  const averages = [...new Set(walshAverages(differences))].filter(average => Number.isFinite(average))
  const points = pointsBetween(averages)
  const bound = Math.log(2 / (1 - level))
  const reversed = turned(differences)
  const low = firstOpen(points, theta => lnEvidence(differences, theta) >= bound)
  const high = firstOpen(points.toReversed(), theta => lnEvidence(reversed, -theta) >= bound)
  const lowest = averages[low - 1]
  const highest = averages[averages.length - high]
  return lowest === undefined || highest === undefined ? null : [lowest, highest]
}
