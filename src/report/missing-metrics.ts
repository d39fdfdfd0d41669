import { findNearestWord } from '../spec/suggest.ts'
import { limitLines } from './listed.ts'

/** What to write instead of a metric that a spec asks for and its harness did not print. */
export interface MissingMetrics {
  fix: string
  /** What it did print. */
  printed: string[]
}

export function findMissingMetrics(
  needed: readonly string[],
  printed: readonly string[],
): MissingMetrics | null {
  const missing = needed.filter(name => !printed.includes(name))
  if (missing.length === 0) return null
  const advice = missing.map(name => {
    const meant = printed.find(each => each.startsWith(`${name}.`)) ?? findNearestWord(name, printed)
    return meant === undefined ? `${name} is not printed.` : `${name} is not printed: did you mean ${meant}?`
  })
  const fix = `${advice.join(' ')} Name one of the printed metrics, or print it.`
  return { fix: printed.length === 0 ? `print ${missing.join(', ')}` : fix, printed: limitLines(printed) }
}
