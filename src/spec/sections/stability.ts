import { z } from 'zod'
import { shareOfAnySizeSchema, countSchema, positiveSchema, textSchema } from './scalar.ts'

const comparisonSchema = z.strictObject({
  method: z.enum(['absolute', 'relative', 'paired']).default('absolute').describe('How a delta is judged.'),
  relative_threshold: shareOfAnySizeSchema.default(0.05).describe('Fraction of the base.'),
})

const futilitySchema = z.strictObject({
  worse_factor: z.number().default(1.2).describe('So many times worse ends it.'),
  after_elapsed_seconds: positiveSchema
    .nullable()
    .default(null)
    .describe('Not better after this long ends it.'),
})

const ladderSchema = z.strictObject({
  smoke_command: textSchema.nullable().default(null).describe('Runs first; failing is degenerate.'),
  exploratory_pairs: countSchema.default(1).describe('Samples before a first look.'),
  confirmation_repeats: countSchema
    .nullable()
    .default(null)
    .describe('Samples to keep; null is repeat_count.'),
  futility: futilitySchema.nullable().default(null).describe('When to give up early.'),
})

/** ce-optimize's comparison with a stored score. */
export const stabilitySection = z.strictObject({
  mode: z.enum(['stable', 'repeat', 'ladder']).default('stable').describe('Once, repeated, or in steps.'),
  repeat_count: countSchema.default(5).describe('Executions in repeat mode.'),
  aggregation: z.enum(['median', 'mean', 'min', 'max']).default('median').describe('Samples to one value.'),
  noise_threshold: z.number().nonnegative().default(0.02).describe('Metric units, not a fraction.'),
  comparison: comparisonSchema.prefault({}).describe('How base and candidate are compared.'),
  ladder: ladderSchema.nullable().default(null).describe('Steps of mode ladder.'),
})
