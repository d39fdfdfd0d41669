/** Counts insertions, deletions, substitutions and transpositions of neighbouring characters. */
export function computeEditDistance(left: string, right: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= right.length; j += 1) {
      const same = left[i - 1] === right[j - 1]
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      row[j] = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = row
  }
  return last[right.length] ?? left.length
}

const LONGEST_WORD = 64

/**
 * Returns the candidate that a person most likely meant, undefined when none is near. Ignores case and separators,
 * and prefers an equal first letter.
 */
export function findNearestWord(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined
  const plain = normalizeWord(word)
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    const distance = computeEditDistance(plain, normalizeWord(candidate))
    const allowed = Math.max(1, Math.floor(Math.max(plain.length, candidate.length) / 3))
    if (distance > allowed || candidate === word) continue
    const nearer = distance - (candidate[0] === word[0] ? 0.5 : 0)
    if (best === undefined || nearer < best.distance) best = { candidate, distance: nearer }
  }
  return best?.candidate
}

/** Asks whether the nearest candidate was meant. Returns `otherwise` when none is near. */
export function suggestWord(
  word: string,
  candidates: Iterable<string>,
  otherwise: string,
  prefix = '',
): string {
  const near = findNearestWord(word, candidates)
  return near === undefined ? otherwise : `did you mean ${prefix}${near}?`
}

/** Finds the candidate that has the word as one of its parts: `timeout_seconds` for `timeout`. */
export function findContainingWord(word: string, candidates: Iterable<string>): string | undefined {
  const parts = word.toLowerCase().split(/[_\s-]+/)
  for (const candidate of candidates) {
    const all = candidate.split(/[_-]/)
    if (candidate !== word && parts.every(part => all.includes(part))) return candidate
  }
  return undefined
}

function normalizeWord(word: string): string {
  return word.toLowerCase().replaceAll(/[_\s-]/g, '')
}
