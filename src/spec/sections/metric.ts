import { z } from 'zod'
import { parseGateCheck } from '../gate-check.ts'
import { judgeSection, lossSection } from './judge.ts'
import type { SpecRules } from './kind.ts'
import { directionSchema, maxRegressionSchema, operatorSchema, textSchema } from './scalar.ts'

const primaryType = z.enum(['hard', 'judge', 'loss'])
const GATE_CHECK_FORM = '"<op> <number|true|false>" with op one of >= <= > < == !='

const primarySchema = z.strictObject({
  type: primaryType.default('hard').describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: textSchema
    .default('wall_seconds')
    .describe(
      'Metric to improve: wall_seconds, cpu_seconds and max_rss_mb are measured by winnow, others are printed.',
    )
    .meta({ examples: ['p99_ms', 'geomean_ns_per_op'] }),
  direction: directionSchema.default('minimize').describe('Which way is better.'),
  target: z.number().nullable().default(null).describe('Good enough: the campaign may stop here.'),
  baseline: z.number().nullable().optional().describe('ce: ignored, winnow measures it.'),
})

/** A ce spec names its metric in full; only winnow's own may leave it to the built-in wall_seconds. */
const cePrimarySchema = primarySchema.extend({
  type: primaryType.describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: textSchema.describe('Metric to improve.'),
  direction: directionSchema.describe('Which way is better.'),
})

const degenerateGateSchema = z.strictObject({
  name: textSchema.describe('Metric the check reads, a number or a boolean; missing or not finite fails it.'),
  check: z
    .string()
    .refine(check => parseGateCheck(check) !== undefined, { error: GATE_CHECK_FORM })
    .describe(`${GATE_CHECK_FORM}.`)
    .meta({ examples: ['>= 0.95', '== true'] }),
  description: z.string().optional().describe('Why it matters.'),
})

const objectiveSchema = z.strictObject({
  name: textSchema.describe('Metric, as the harness prints it.'),
  direction: directionSchema.describe('Which way is better.'),
  role: z
    .enum(['required', 'guardrail', 'secondary'])
    .default('required')
    .describe('required: may win; guardrail: must be shown harmless; secondary: logged.'),
  type: z.literal('hard').default('hard').describe('Only hard.'),
  target: z.number().nullable().default(null).describe('Good enough.'),
  max_regression: maxRegressionSchema.nullable().default(null).describe('How much worse is still allowed.'),
})

const constraintSchema = z.strictObject({
  metric: textSchema.describe('Metric that is bounded.'),
  op: operatorSchema.describe('Comparison that must hold.'),
  value: z.union([z.number(), z.boolean()]).describe('What it is compared with.'),
})

const metricKeys = z.strictObject({
  primary: primarySchema.prefault({}).describe('What is optimised.'),
  degenerate_gates: z
    .array(degenerateGateSchema)
    .default([])
    .describe('Metric gates: a candidate that fails one in any execution is broken, even if it gained.'),
  objectives: z
    .array(objectiveSchema)
    .default([])
    .describe('Further metrics that must improve or not suffer.'),
  constraints: z
    .array(constraintSchema)
    .default([])
    .describe('Must hold in every execution of the candidate; only a boolean value takes a printed boolean.'),
  diagnostics: z
    .array(z.strictObject({ name: textSchema.describe('Metric.') }))
    .default([])
    .describe('Logged only.'),
  judge: judgeSection.nullable().default(null).describe('Model-graded metric.'),
  loss: lossSection.nullable().default(null).describe('Weighted loss of a suite.'),
})

export function buildMetricSection(rules: SpecRules) {
  return rules === 'ce'
    ? metricKeys.extend({ primary: cePrimarySchema.describe('What is optimised.') })
    : metricKeys.prefault({})
}
