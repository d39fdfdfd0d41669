import { parse } from 'yaml'
import { z } from 'zod'

const permissions = z.union([z.string(), z.record(z.string(), z.string())]).optional()
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])

export const stepSchema = z.looseObject({
  name: z.string().optional(),
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), scalar).optional(),
  env: z.record(z.string(), scalar).optional(),
})
export type Step = z.infer<typeof stepSchema>

const jobSchema = z.looseObject({
  permissions,
  if: z.string().optional(),
  'timeout-minutes': z.number().optional(),
  concurrency: z.unknown().optional(),
  environment: z.unknown().optional(),
  env: z.record(z.string(), scalar).optional(),
  steps: z.array(stepSchema).default([]),
  uses: z.string().optional(),
  with: z.record(z.string(), scalar).optional(),
  secrets: z.unknown().optional(),
})
export type Job = z.infer<typeof jobSchema>

const workflowSchema = z.looseObject({
  on: z.record(z.string(), z.unknown()),
  permissions,
  concurrency: z.unknown().optional(),
  env: z.record(z.string(), scalar).optional(),
  jobs: z.record(z.string(), jobSchema),
})
export type Workflow = z.infer<typeof workflowSchema>

const actionSchema = z.looseObject({
  runs: z.looseObject({ using: z.string(), steps: z.array(stepSchema).default([]) }),
})

export function parsedWorkflow(text: string): Workflow {
  return workflowSchema.parse(parse(text))
}

export function stepsOfAction(text: string): Step[] {
  return actionSchema.parse(parse(text)).runs.steps
}
