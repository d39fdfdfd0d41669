/** The order in which what passed is merged: largest relative gain, then smallest diff, then first come. */
export type RankedCandidate = { id: string; number: number; rankScore: number; changedLines: number }

function compareDescending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return a === b ? 0 : Math.sign(b - a)
}

export function rankCandidates<T extends RankedCandidate>(eligible: readonly T[]): T[] {
  return eligible.toSorted(
    (a, b) =>
      compareDescending(a.rankScore, b.rankScore) || a.changedLines - b.changedLines || a.number - b.number,
  )
}
