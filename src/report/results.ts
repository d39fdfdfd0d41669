import { z } from 'zod'
import { failedOutputSchema } from '../model/failed-output.ts'
import { oidSchema } from '../model/ids.ts'
import { outcomeSchema, verdictWordSchema } from '../model/outcome.ts'

/** More samples of one side than this are stored as their digest. */
export const MOST_SAMPLES = 60
/** More metrics than this are counted and left out; those that the spec names are always there. */
export const MOST_METRICS = 60
export const MOST_PATHS = 100

const value = z.union([z.number(), z.boolean(), z.null()])

/** In the order in which they were taken. The digest is of their canonical JSON, as the ledger's reports hold them. */
const samples = z.union([
  z.array(value),
  z.strictObject({
    count: z.number().int(),
    sha256: z.string(),
    min: z.number().nullable(),
    max: z.number().nullable(),
  }),
])
export type Samples = z.infer<typeof samples>

const metric = z.strictObject({
  /** Aggregated as the verdict aggregates it. */
  base: value,
  candidate: value,
  /** Absent where the base is a stored score. */
  samples: z.strictObject({ base: samples, candidate: samples }),
})
export type MetricResult = z.infer<typeof metric>

const gate = z.strictObject({
  name: z.string(),
  /** command: an exit code. metric: a check on a metric. constraint: a bound on a metric. */
  kind: z.enum(['command', 'metric', 'constraint']),
  /** null: it was not run. */
  passed: z.boolean().nullable(),
  check: z.string().optional(),
  value: value.optional(),
  exit_code: z.number().int().nullable().optional(),
  timed_out: z.boolean().optional(),
  seconds: z.number().optional(),
})
export type GateResult = z.infer<typeof gate>

const side = z.strictObject({ commit: oidSchema, tree: oidSchema })

/**
 * The complete record of one experiment, for a reader who has nothing else: the file results.yaml and what `winnow results`
 * prints. Times are in UTC, effects are positive where the candidate is better.
 */
export const resultsSchema = z.strictObject({
  /** The verdict and its reason, in one sentence. */
  summary: z.string(),
  spec: z.string(),
  spec_sha256: z.string().nullable(),
  experiment: z.string(),
  hypothesis: z.string(),
  category: z.string(),
  proposed_by: z.string(),
  verdict: verdictWordSchema.nullable(),
  outcome: outcomeSchema.nullable(),
  failure_class: z.enum(['build', 'eval', 'hypothesis']).nullable(),
  reason: z.string(),
  rule_version: z.string().nullable(),
  decided_at: z.string().nullable(),
  effect: z
    .strictObject({
      metric: z.string(),
      direction: z.enum(['minimize', 'maximize']),
      /** log: a difference of natural logarithms. linear: in the metric's unit. */
      scale: z.enum(['log', 'linear']),
      /** Positive is better. */
      value: z.number(),
      interval: z.tuple([z.number(), z.number()]).nullable(),
      /** 0: it was not compared in pairs. */
      pairs: z.number().int(),
    })
    .nullable(),
  /** The evidence of the pairs, and the evidence that keeping needs. */
  evidence: z.strictObject({ reached: z.number(), needed: z.number() }).nullable(),
  improved: z.array(z.string()),
  violated: z.array(z.string()),
  warnings: z.array(z.string()),
  /** The primary first. */
  metrics: z.record(z.string(), metric),
  metrics_left_out: z.number().int(),
  gates: z.array(gate),
  failed: z.strictObject({ what: z.string(), output: failedOutputSchema.nullable() }).nullable(),
  base: side.nullable(),
  candidate: side.extend({ branch: z.string().nullable() }).nullable(),
  harness: z.string().nullable(),
  diff: z
    .strictObject({
      files: z.number().int(),
      added: z.number().int(),
      deleted: z.number().int(),
      /** A status letter of git and a path. */
      paths: z.array(z.string()),
    })
    .nullable(),
  machines: z.array(
    z.strictObject({
      os: z.string(),
      kernel: z.string(),
      cpu_model: z.string(),
      cores: z.number().int(),
      memory_mb: z.number().int(),
      image: z.string().nullable(),
    }),
  ),
  flags: z.array(z.string()),
  cost: z.strictObject({
    /** Minutes of all its measurements; up to four candidates share one. */
    minutes: z.number(),
    executions: z.number().int(),
    judge_requests: z.number().int(),
    judge_tokens: z.number().int(),
    judge_usd: z.number(),
  }),
  links: z.strictObject({
    pull_request: z.number().int().nullable(),
    /** Orders and runs that measured it: `winnow log` and GitHub have them under these names. */
    orders: z.array(z.string()),
    runs: z.array(z.string()),
  }),
  learnings: z.string().nullable(),
})
export type Results = z.infer<typeof resultsSchema>
