import { z } from 'zod'
import { positive, text } from './scalar.ts'

export const commandGate = z.strictObject({
  name: text.describe('Unique name, shown when it fails.'),
  command: text.describe('Exit 0 passes.'),
  phase: z.enum(['pre', 'post']).default('pre').describe('Before any timing, or after the last execution.'),
  timeout_seconds: positive.default(600).describe('Its whole process tree is killed after this.'),
})
