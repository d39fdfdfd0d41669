import type { Spec } from '../spec/schema.ts'

export type Aggregation = NonNullable<Spec['measurement']['stability']>['aggregation']

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  if (sorted.length % 2 === 1) return upper
  const lower = sorted[middle - 1] ?? Number.NaN
  return (lower + upper) / 2
}

function combine(values: readonly number[], aggregation: Aggregation): number {
  switch (aggregation) {
    case 'median':
      return median(values)
    case 'mean':
      return values.reduce((sum, value) => sum + value, 0) / values.length
    case 'min':
      return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
    case 'max':
      return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
    default:
      return aggregation satisfies never
  }
}

/** One number for several samples; null when there are none or their combination is not finite. */
export function aggregate(values: readonly number[], aggregation: Aggregation): number | null {
  if (values.length === 0) return null
  const combined = combine(values, aggregation)
  return Number.isFinite(combined) ? combined : null
}
