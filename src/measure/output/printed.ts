import { HarnessError } from '../../errors.ts'
import type { MetricValue, MetricValues } from '../../model/report.ts'
import { BUILT_IN_METRICS } from '../../spec/built-in-metrics.ts'
import type { Item } from './items.ts'

/** What a harness printed, wherever it printed it. */
export interface HarnessOutput {
  metrics: MetricValues
  tasks?: Record<string, number | null>
  artifacts?: Record<string, string>
  /** Where a judge scores them. */
  items?: Item[]
}

export const NO_OUTPUT: HarnessOutput = { metrics: {} }
const LINE_CHARACTERS = 200
const MAX_METRICS = 10_000

export function toOutputError(what: string, line: string, example: string): HarnessError {
  return new HarnessError(what, { line: line.slice(0, LINE_CHARACTERS), example })
}

/** Collects metrics, refusing a second value for a name and the names winnow measures itself. */
export class MetricCollector {
  readonly #values = new Map<string, MetricValue>()

  add(name: string, value: MetricValue, line: string, example: string): void {
    if (BUILT_IN_METRICS.has(name)) {
      throw toOutputError(
        `${name} is measured by winnow and cannot be printed: choose another name`,
        line,
        example,
      )
    }
    if (this.#values.has(name)) throw toOutputError(`${name} is given twice`, line, example)
    if (this.#values.size >= MAX_METRICS)
      throw toOutputError(`more than ${MAX_METRICS} metrics`, line, example)
    // Infinity and NaN are printed values that are not numbers anyone can compare (invariant 5).
    this.#values.set(name, typeof value === 'number' && !Number.isFinite(value) ? null : value)
  }

  all(): MetricValues {
    return Object.fromEntries(this.#values)
  }
}
