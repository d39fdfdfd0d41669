import type { ParsedSpec } from './schema.ts'

type JudgeSampleSection = NonNullable<ParsedSpec['metric']['judge']>
type PrimaryTypeSection = { metric: { primary: { type: ParsedSpec['metric']['primary']['type'] } } }

/** A model scores what the harness prints as items: nothing the harness prints is the primary metric itself. */
export function isJudgedMetric({ metric }: PrimaryTypeSection): boolean {
  return metric.primary.type === 'judge'
}

/** How many items of each side one job scores: its strata, or more where the sample is larger. */
export function countSampleItems({
  sample_size,
  stratification,
}: Pick<JudgeSampleSection, 'sample_size' | 'stratification'>): number {
  const strata = (stratification ?? []).reduce((sum, { count }) => sum + count, 0)
  return Math.max(sample_size, strata)
}
