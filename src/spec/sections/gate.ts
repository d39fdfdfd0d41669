import { z } from 'zod'
import { positiveSchema, textSchema } from './scalar.ts'

export const commandGateSection = z.strictObject({
  name: textSchema.describe('Unique name, shown when it fails.'),
  command: textSchema.describe('Exit 0 passes.').meta({ examples: ['npm test'] }),
  phase: z
    .enum(['pre', 'post'])
    .default('pre')
    .describe('pre: in a copy, before anything is timed; post: after the last execution.'),
  timeout_seconds: positiveSchema.default(600).describe('Its whole process tree is killed after this.'),
})
