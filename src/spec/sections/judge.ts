import { z } from 'zod'
import { countSchema, fractionSchema, naturalSchema, positiveSchema, textSchema } from './scalar.ts'

const stratumSchema = z.strictObject({
  bucket: textSchema.describe('Bucket the items carry.'),
  count: countSchema.describe('Items drawn from it.'),
})

const scoreScaleSchema = z.strictObject({
  lowest: z.number().describe('Least score.'),
  highest: z.number().describe('Greatest score.'),
})

const scoringSchema = z.strictObject({
  primary: textSchema.describe('Rubric field that is optimised; metric.primary.name names it.'),
  secondary: z.array(textSchema).default([]).describe('Other rubric fields, logged.'),
  scale: scoreScaleSchema
    .nullable()
    .default(null)
    .describe('Which scores there are; null: the one range that the rubric names, as in "1 to 5".'),
})

const calibrationSchema = z.strictObject({
  labels: textSchema.describe('File of human scores.'),
  min_agreement: fractionSchema.default(0.8).describe('Least agreement with them.'),
})

/** Model-graded metrics: what is sampled, how it is scored, and what it may cost. */
export const judgeSection = z.strictObject({
  rubric: textSchema.describe('What a judge scores, with its scale.'),
  scoring: scoringSchema.describe('Fields of a score.'),
  model: textSchema.default('cheap').describe('cheap, strong, haiku, sonnet or a model id.'),
  sample_size: countSchema
    .default(10)
    .describe('Items of each side that one job scores; the harness prints at least twice as many.'),
  stratification: z
    .array(stratumSchema)
    .nullable()
    .default(null)
    .describe('Sample per bucket; null is uniform.'),
  singleton_sample: naturalSchema.default(0).describe('Singletons scored with singleton_rubric.'),
  singleton_rubric: textSchema.nullable().default(null).describe('Rubric for singletons.'),
  sample_seed: z.number().int().default(42).describe('Seed of the sample.'),
  batch_size: countSchema.default(5).describe('Items per request; 1 keeps them from each other.'),
  minimum_improvement: z.number().nonnegative().default(0.3).describe('Score gain that counts.'),
  max_total_cost_usd: positiveSchema
    .nullable()
    .default(5)
    .describe('Cap of all that judging costs; null, for none, is refused.'),
  judges: countSchema.default(1).describe('Judges per item; their mean counts.'),
  confirmation_seed: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe('Seed of the samples that confirm, of other items; null: sample_seed + 1.'),
  calibration: calibrationSchema
    .nullable()
    .default(null)
    .describe('Agreement with human labels, checked first.'),
})

export const lossSection = z.strictObject({
  weights: z
    .record(textSchema, z.number().nonnegative())
    .default({ eval: 0.4, critique: 0.3, gate_rejections: 0.15, budget: 0.05, status: 0.1 })
    .describe('Weight of each component, all in [0, 1].'),
  max_rejections: positiveSchema.default(3).describe('Gate rejections that count as 1.'),
  missing: z.enum(['error', 'neutral']).default('error').describe('What a missing component is.'),
})
