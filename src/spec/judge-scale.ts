/** Lowest and highest score: whatever lies outside counts as missing (invariant 5). */
export type Scale = readonly [low: number, high: number]

interface Scored {
  rubric: string
  scoring: { scale: { lowest: number; highest: number } | null }
}

const RANGE = /(?<![\d.,-])(-?\d+(?:\.\d+)?)\s*(?:-|–|—|\.{2,3}|to|through)\s*(-?\d+(?:\.\d+)?)(?![\d.]*\d)/gi

/** As the spec gives it, else the one range that its rubric names; null: it names none, or several. */
export function scaleOf({ rubric, scoring }: Scored): Scale | null {
  if (scoring.scale !== null) {
    const given: Scale = [scoring.scale.lowest, scoring.scale.highest]
    return isScale(given) ? given : null
  }
  const named = [...rubric.matchAll(RANGE)].map(([, low, high]): Scale => [Number(low), Number(high)])
  const [first, ...others] = named.filter(isScale)
  if (first === undefined) return null
  return others.every(([low, high]) => low === first[0] && high === first[1]) ? first : null
}

function isScale([low, high]: Scale): boolean {
  return Number.isFinite(low) && Number.isFinite(high) && low < high
}
