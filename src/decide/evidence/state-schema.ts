import { z } from 'zod'
import type { EvidenceState } from './state.ts'

const natural = z.number().int().nonnegative()
const positive = z.number().positive()
const bets = z.tuple([z.number(), z.number()])

const rule = z.strictObject({
  direction: z.enum(['minimize', 'maximize']),
  scale: z.enum(['log', 'linear']),
  min_effect: positive,
  null_effect: z.number().nonnegative(),
  level: positive.max(1),
  screen: positive.nullable(),
  pairs_per_job: natural.min(1),
  max_jobs: natural.min(1),
  fresh_runners: natural,
  runners: natural.min(1),
  single_machine: z.boolean(),
  noise: positive.nullable(),
  ratio_share: positive.max(1),
  give_up: z.enum(['early', 'late', 'equal', 'never']),
  graded: z.boolean(),
})

const job = z.strictObject({
  id: z.union([z.string(), z.number()]),
  runner: z.string(),
  also_on: z.array(z.string()).optional(),
  pairs: natural,
  void_pairs: natural,
  base_first: natural,
  ended: z.boolean(),
})

const sums = z.strictObject({
  pairs: natural,
  about_null: z.number().nonnegative(),
  about_alternatives: z.array(z.number().nonnegative()),
})

const decided = z.strictObject({
  status: z.enum(['keep', 'drop']),
  reason: z.enum(['gain-shown', 'broken', 'gain-ruled-out', 'harm-shown']),
})

const givenUp = z.strictObject({
  reason: z.enum([
    'no-promise-after-job-1',
    'no-promise-after-job-2',
    'gain-unlikely',
    'large-gain-ruled-out',
    'large-change-ruled-out',
    'gain-ruled-out',
  ]),
  pairs: natural,
})

/** A stored evidence state, as orders carry it; every number in it is finite. */
export const evidenceState = z.strictObject({
  rule,
  differences: z.array(z.number().nullable()),
  failures: natural,
  keep: z.strictObject({ from: natural, ln: bets, sums: sums.nullable() }),
  drop: bets,
  harm: bets,
  screened: z.strictObject({ job: natural, ln: z.number() }).nullable(),
  jobs: z.array(job),
  given_up: givenUp.nullable(),
  decided: decided.nullable(),
}) satisfies z.ZodType<EvidenceState>
