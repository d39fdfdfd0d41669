import { z } from 'zod'
import { countSchema, textSchema } from './scalar.ts'

export const executionSection = z.strictObject({
  mode: z.enum(['parallel', 'serial']).default('parallel').describe('Experiments at a time.'),
  max_concurrent: countSchema.default(4).describe('Most at a time.'),
  backend: z
    .enum(['auto', 'worktree', 'actions', 'remote', 'codex'])
    .default('auto')
    .describe('Where they run.'),
  runs_on: z
    .union([textSchema, z.array(textSchema).min(1)])
    .default('ubuntu-24.04')
    .describe('Runner label.'),
  services: z.record(textSchema, z.unknown()).default({}).describe('Service containers of the job.'),
  max_attempts: countSchema.default(3).describe("Attempts after failures that are not the candidate's."),
  max_experiments_per_tick: countSchema.nullable().default(null).describe('Orders one tick may issue.'),
  codex_security: z.enum(['full-auto', 'yolo']).nullable().default(null).describe('ce: posture of codex.'),
})

export const parallelSection = z.strictObject({
  port_strategy: z.enum(['parameterized', 'none']).nullable().default(null).describe('Ports per execution.'),
  port_env_var: textSchema.nullable().default(null).describe('Variable that carries the port.'),
  port_base: z.number().int().min(1024).max(65_000).nullable().default(null).describe('First port.'),
  shared_files: z.array(textSchema).default([]).describe('Copied into every work tree; missing is an error.'),
  exclusive_resources: z.array(textSchema).default([]).describe('Any makes the campaign serial.'),
})
