import { z } from 'zod'
import type { EvidenceState } from './state.ts'

const naturalNumber = z.number().int().nonnegative()
const positiveNumber = z.number().positive()
const betsSchema = z.tuple([z.number(), z.number()])

const ruleSchema = z.strictObject({
  direction: z.enum(['minimize', 'maximize']),
  scale: z.enum(['log', 'linear']),
  min_effect: positiveNumber,
  null_effect: z.number().nonnegative(),
  level: positiveNumber.max(1),
  screen: positiveNumber.nullable(),
  pairs_per_job: naturalNumber.min(1),
  max_jobs: naturalNumber.min(1),
  fresh_runners: naturalNumber,
  runners: naturalNumber.min(1),
  single_machine: z.boolean(),
  noise: positiveNumber.nullable(),
  ratio_share: positiveNumber.max(1),
  give_up: z.enum(['early', 'late', 'equal', 'never']),
  graded: z.boolean(),
})

const jobSchema = z.strictObject({
  id: z.union([z.string(), z.number()]),
  runner: z.string(),
  also_on: z.array(z.string()).optional(),
  pairs: naturalNumber,
  void_pairs: naturalNumber,
  base_first: naturalNumber,
  ended: z.boolean(),
})

const sumsSchema = z.strictObject({
  pairs: naturalNumber,
  about_null: z.number().nonnegative(),
  about_alternatives: z.array(z.number().nonnegative()),
})

const decidedSchema = z.strictObject({
  status: z.enum(['keep', 'drop']),
  reason: z.enum(['gain-shown', 'broken', 'gain-ruled-out', 'harm-shown']),
})

const givenUpSchema = z.strictObject({
  reason: z.enum([
    'no-promise-after-job-1',
    'no-promise-after-job-2',
    'gain-unlikely',
    'large-gain-ruled-out',
    'large-change-ruled-out',
    'gain-ruled-out',
  ]),
  pairs: naturalNumber,
})

/** A stored evidence state, as orders carry it; every number in it is finite. */
export const evidenceStateSchema = z.strictObject({
  rule: ruleSchema,
  differences: z.array(z.number().nullable()),
  failures: naturalNumber,
  keep: z.strictObject({ from: naturalNumber, ln: betsSchema, sums: sumsSchema.nullable() }),
  drop: betsSchema,
  harm: betsSchema,
  screened: z.strictObject({ job: naturalNumber, ln: z.number() }).nullable(),
  jobs: z.array(jobSchema),
  given_up: givenUpSchema.nullable(),
  decided: decidedSchema.nullable(),
}) satisfies z.ZodType<EvidenceState>
