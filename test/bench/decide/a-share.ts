import { type Random, seeded } from '../../../bench/decide/random.ts'
import { shareError } from '../../../bench/decide/statistics.ts'

/** Standard errors that are still chance: one in 15,000 on one side, if the seed were drawn anew. */
const CHANCE = 4

export function shareOf(plays: number, seed: string, happens: (random: Random) => boolean): number {
  const random = seeded(seed)
  return Array.from({ length: plays }, () => happens(random)).filter(Boolean).length / plays
}

/** The highest share a sample shows when the true one is at most `share`. */
export function atMost(share: number, plays: number): number {
  return share + CHANCE * shareError(Math.max(share, 1 / plays), plays)
}

/** The lowest share a sample shows when the true one is at least `share`. */
export function atLeast(share: number, plays: number): number {
  return share - CHANCE * shareError(Math.min(share, 1 - 1 / plays), plays)
}
