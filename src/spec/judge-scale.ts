/** Lowest and highest score: whatever lies outside counts as missing (invariant 5). */
export type ScoreScale = readonly [low: number, high: number]

interface ScoredSection {
  rubric: string
  scoring: { scale: { lowest: number; highest: number } | null }
}

const RANGE = /(?<![\d.,-])(-?\d+(?:\.\d+)?)\s*(?:-|–|—|\.{2,3}|to|through)\s*(-?\d+(?:\.\d+)?)(?![\d.]*\d)/gi

/** In a sentence with one of these a range is a scale; elsewhere it may count words, topics or anything. */
const SCORING = /\b(?:rate|rating|score|scoring|grade|grading|rank|scale|points?)\b/i
const SENTENCE = /[\n;]|[.!?](?=\s|$)/

/**
 * As the spec gives it, else the one range that its rubric scores by; null: it names none, or several. Where no sentence
 * speaks of scoring, it is the one range that there is.
 */
export function findScoreScale({ rubric, scoring }: ScoredSection): ScoreScale | null {
  if (scoring.scale !== null) {
    const given: ScoreScale = [scoring.scale.lowest, scoring.scale.highest]
    return isScale(given) ? given : null
  }
  const scored = rubric
    .split(SENTENCE)
    .filter(sentence => SCORING.test(sentence))
    .flatMap(findRanges)
  return getOnlyScale(scored.length > 0 ? scored : findRanges(rubric))
}

function findRanges(text: string): ScoreScale[] {
  const named = [...text.matchAll(RANGE)].map(([, low, high]): ScoreScale => [Number(low), Number(high)])
  return named.filter(isScale)
}

function getOnlyScale([first, ...others]: readonly ScoreScale[]): ScoreScale | null {
  if (first === undefined) return null
  return others.every(([low, high]) => low === first[0] && high === first[1]) ? first : null
}

function isScale([low, high]: ScoreScale): boolean {
  return Number.isFinite(low) && Number.isFinite(high) && low < high
}
