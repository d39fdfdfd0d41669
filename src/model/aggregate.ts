import { type CampaignSpecText, readCampaignSpec } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'

export type Aggregation = NonNullable<Spec['measurement']['stability']>['aggregation']

/** How several samples become the one number that is judged and shown. The median where the spec says nothing. */
export function getAggregation(spec: Pick<Spec, 'measurement'> | null): Aggregation {
  return spec?.measurement.stability?.aggregation ?? 'median'
}

/** The same for a campaign, whose spec may be one that this release cannot read. */
export function getCampaignAggregation(campaign: CampaignSpecText): Aggregation {
  return getAggregation(readCampaignSpec(campaign))
}

/** One missing sample leaves no value (invariant 5). A boolean stays one where all samples agree. */
export function aggregateSamples(
  samples: readonly (number | boolean | null)[],
  aggregation: Aggregation,
): number | boolean | null {
  const [first] = samples
  if (typeof first === 'boolean' && samples.every(sample => sample === first)) return first
  const known = samples.filter(sample => typeof sample === 'number')
  return known.length < samples.length ? null : aggregateValues(known, aggregation)
}

function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  if (sorted.length % 2 === 1) return upper
  const lower = sorted[middle - 1] ?? Number.NaN
  return (lower + upper) / 2
}

function combineValues(values: readonly number[], aggregation: Aggregation): number {
  switch (aggregation) {
    case 'median':
      return computeMedian(values)
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
export function aggregateValues(values: readonly number[], aggregation: Aggregation): number | null {
  if (values.length === 0) return null
  const combined = combineValues(values, aggregation)
  return Number.isFinite(combined) ? combined : null
}
