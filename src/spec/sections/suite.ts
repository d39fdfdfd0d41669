import { z } from 'zod'
import {
  shareOfAnySizeSchema,
  countSchema,
  maxRegressionSchema,
  positiveSchema,
  textSchema,
} from './scalar.ts'

const suiteTaskSchema = z.strictObject({
  name: textSchema.describe('Unique in the suite.'),
  command: textSchema.optional().describe('Runs this task.'),
  args: z.array(z.string()).optional().describe('Appended to measurement.command instead.'),
  task: textSchema.optional().describe('What the workflow is asked to do.'),
  workflow: textSchema.optional().describe('Workflow file.'),
  model: textSchema.optional().describe('Model of this task.'),
  worker_model: textSchema.optional().describe('Model of its workers.'),
  weight: positiveSchema.default(1).describe('Weight in the mean.'),
  weights: z.record(textSchema, z.number().nonnegative()).optional().describe('Loss weights of this task.'),
  budget: z.record(textSchema, positiveSchema).optional().describe('Budget of this task, by name.'),
  timeout_seconds: positiveSchema.optional().describe('Instead of measurement.timeout_seconds.'),
})

export const suiteSection = z.strictObject({
  tasks: z.array(suiteTaskSchema).min(1).describe('Tasks of one pass.'),
  seeds: countSchema.default(1).describe('Seeds per task.'),
  max_task_regression: maxRegressionSchema.nullable().default(null).describe('Allowed loss on one task.'),
  advisory: z.boolean().default(false).describe('Means only, nothing is proven.'),
})

export const holdoutSection = z.strictObject({
  command: textSchema.describe('Measures what proposers never see.'),
  source: textSchema
    .nullable()
    .default(null)
    .describe('Branch, ref in full, or VARIABLE that names a directory: $WINNOW_HOLDOUT_DIR of the command.'),
  pairs: countSchema.default(8).describe('Pairs per use; fewer where the numbers repeat exactly.'),
  margin: shareOfAnySizeSchema
    .default(0)
    .describe('Loss still allowed: a fraction under log scale, metric units under linear.'),
  max_uses: countSchema.default(20).describe('Uses of one holdout in the campaign.'),
})
