import { z } from 'zod'
import { anyShare, count, maxRegression, positive, text } from './scalar.ts'

const task = z.strictObject({
  name: text.describe('Unique in the suite.'),
  command: text.optional().describe('Runs this task.'),
  args: z.array(z.string()).optional().describe('Appended to measurement.command instead.'),
  task: text.optional().describe('What the workflow is asked to do.'),
  workflow: text.optional().describe('Workflow file.'),
  model: text.optional().describe('Model of this task.'),
  worker_model: text.optional().describe('Model of its workers.'),
  weight: positive.default(1).describe('Weight in the mean.'),
  weights: z.record(text, z.number().nonnegative()).optional().describe('Loss weights of this task.'),
  budget: z.record(text, positive).optional().describe('Budget of this task, by name.'),
  timeout_seconds: positive.optional().describe('Instead of measurement.timeout_seconds.'),
})

export const suite = z.strictObject({
  tasks: z.array(task).min(1).describe('Tasks of one pass.'),
  seeds: count.default(1).describe('Seeds per task.'),
  max_task_regression: maxRegression.nullable().default(null).describe('Allowed loss on one task.'),
  advisory: z.boolean().default(false).describe('Means only, nothing is proven.'),
})

export const holdout = z.strictObject({
  command: text.describe('Measures what proposers never see.'),
  source: text
    .nullable()
    .default(null)
    .describe('Branch, ref in full, or VARIABLE that names a directory: $WINNOW_HOLDOUT_DIR of the command.'),
  pairs: count.default(8).describe('Pairs per use; fewer where the numbers repeat exactly.'),
  margin: anyShare
    .default(0)
    .describe('Loss still allowed: a fraction under log scale, metric units under linear.'),
  max_uses: count.default(20).describe('Uses of one holdout in the campaign.'),
})
