import { z } from 'zod'

/** The schema of ce-optimize's experiment log, written from its documentation. */
const values = z.record(z.string(), z.unknown())
const aggregate = z.strictObject({ aggregate: z.number().nullable(), samples: z.array(z.unknown()) })
const iso = z.iso.datetime()

export const CE_OUTCOMES = [
  'measured',
  'promising',
  'kept',
  'not_selected',
  'reverted',
  'inconclusive',
  'censored',
  'degenerate',
  'error',
  'deferred_needs_approval',
  'timeout',
  'runner_up_kept',
  'runner_up_reverted',
] as const

const entry = z
  .strictObject({
    iteration: z.number().int().positive(),
    batch: z.number().int(),
    hypothesis: z.string(),
    category: z.string(),
    outcome: z.enum(CE_OUTCOMES),
    changes: z.array(z.strictObject({ file: z.string(), summary: z.string() })).optional(),
    gates: values.optional(),
    gates_passed: z.boolean().optional(),
    diagnostics: values.optional(),
    metrics: values.optional(),
    judge: z.looseObject({ judge_cost_usd: z.number() }).optional(),
    primary_delta: z
      .string()
      .regex(/^[+-]\d/)
      .optional(),
    objective_results: z
      .record(
        z.string(),
        z.strictObject({
          verdict: z.enum(['improved', 'regressed', 'inconclusive']),
          delta: z.number(),
          relative: z.number().nullable(),
        }),
      )
      .optional(),
    sample_count: z.number().int().optional(),
    next_measurement: z.enum(['none', 'smoke', 'exploratory', 'add_sample', 'confirm']).optional(),
    learnings: z.string().optional(),
    commit: z.string().optional(),
    deferred_reason: z.string().optional(),
    error_message: z.string().optional(),
    merged_with: z.number().int().optional(),
  })
  .refine(
    ({ outcome, commit }) => commit === undefined || outcome === 'kept' || outcome === 'runner_up_kept',
    'only kept experiments have a commit',
  )
  .refine(
    ({ outcome, error_message }) =>
      error_message === undefined || outcome === 'error' || outcome === 'timeout',
    'only failures have an error message',
  )

export const ceLogSchema = z
  .strictObject({
    spec: z.string(),
    run_id: z.string().regex(/^\d{14}$/),
    started_at: iso,
    baseline: z.strictObject({
      timestamp: iso,
      gates: values,
      metrics: z.record(z.string(), aggregate),
      diagnostics: values,
      judge: values.optional(),
    }),
    experiments: z.array(entry),
    best: z.strictObject({
      iteration: z.number().int().nonnegative(),
      metrics: values,
      judge: values.optional(),
      total_judge_cost_usd: z.number(),
    }),
    hypothesis_backlog: z.array(
      z.strictObject({
        description: z.string(),
        category: z.string(),
        priority: z.enum(['high', 'medium', 'low']),
        dep_status: z.enum(['approved', 'needs_approval', 'not_applicable']),
        required_deps: z.array(z.string()),
      }),
    ),
  })
  .refine(
    ({ experiments }) =>
      experiments.every((each, at) => at === 0 || each.iteration > (experiments[at - 1]?.iteration ?? 0)),
    'iterations ascend',
  )
