import type { AbsentMetric } from '../decide/absent-metrics.ts'
import { findNearestWord } from '../spec/suggest.ts'

/** What is missing, what is there instead, and which of that was probably meant. */
export function describeAbsentMetric({ name, key, printed }: AbsentMetric, names: readonly string[]): string {
  if (printed) return `${name} (${key}) is printed, but not as a finite number: NaN, infinite or null`
  const near = findNearestWord(name, names)
  const there =
    names.length === 0 ? 'no metric is' : `printed ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
  return `${name} (${key}) is not printed; ${there}${near === undefined ? '' : `: did you mean ${near}?`}`
}
