import { z } from 'zod'
import { positive, text } from './scalar.ts'

export const commandGate = z.strictObject({
  name: text.describe('Unique name, shown when it fails.'),
  command: text.describe('Exit 0 passes.').meta({ examples: ['npm test'] }),
  phase: z
    .enum(['pre', 'post'])
    .default('pre')
    .describe('pre: in a copy, before anything is timed; post: after the last execution.'),
  timeout_seconds: positive.default(600).describe('Its whole process tree is killed after this.'),
})
