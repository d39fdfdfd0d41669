import { z } from 'zod'
import { parseGateCheck } from '../gate-check.ts'
import { judge, loss } from './judge.ts'
import type { Rules } from './kind.ts'
import { direction, maxRegression, operator, text } from './scalar.ts'

const primaryType = z.enum(['hard', 'judge', 'loss'])
const CHECK = '"<op> <number|true|false>" with op one of >= <= > < == !='

const primary = z.strictObject({
  type: primaryType.default('hard').describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: text
    .default('wall_seconds')
    .describe(
      'Metric to improve: wall_seconds, cpu_seconds and max_rss_mb are measured by winnow, others are printed.',
    )
    .meta({ examples: ['p99_ms', 'geomean_ns_per_op'] }),
  direction: direction.default('minimize').describe('Which way is better.'),
  target: z.number().nullable().default(null).describe('Good enough: the campaign may stop here.'),
  baseline: z.number().nullable().optional().describe('ce: ignored, winnow measures it.'),
})

/** A ce spec names its metric in full; only winnow's own may leave it to the built-in wall_seconds. */
const cePrimary = primary.extend({
  type: primaryType.describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: text.describe('Metric to improve.'),
  direction: direction.describe('Which way is better.'),
})

const degenerateGate = z.strictObject({
  name: text.describe('Metric the check reads, a number or a boolean; missing or not finite fails it.'),
  check: z
    .string()
    .refine(check => parseGateCheck(check) !== undefined, { error: CHECK })
    .describe(`${CHECK}.`)
    .meta({ examples: ['>= 0.95', '== true'] }),
  description: z.string().optional().describe('Why it matters.'),
})

const objective = z.strictObject({
  name: text.describe('Metric, as the harness prints it.'),
  direction: direction.describe('Which way is better.'),
  role: z
    .enum(['required', 'guardrail', 'secondary'])
    .default('required')
    .describe('required: may win; guardrail: must be shown harmless; secondary: logged.'),
  type: z.literal('hard').default('hard').describe('Only hard.'),
  target: z.number().nullable().default(null).describe('Good enough.'),
  max_regression: maxRegression.nullable().default(null).describe('How much worse is still allowed.'),
})

const constraint = z.strictObject({
  metric: text.describe('Metric that is bounded.'),
  op: operator.describe('Comparison that must hold.'),
  value: z.union([z.number(), z.boolean()]).describe('What it is compared with.'),
})

const metricKeys = z.strictObject({
  primary: primary.prefault({}).describe('What is optimised.'),
  degenerate_gates: z
    .array(degenerateGate)
    .default([])
    .describe('Metric gates: a candidate that fails one in any execution is broken, even if it gained.'),
  objectives: z.array(objective).default([]).describe('Further metrics that must improve or not suffer.'),
  constraints: z
    .array(constraint)
    .default([])
    .describe('Must hold in every execution of the candidate; only a boolean value takes a printed boolean.'),
  diagnostics: z
    .array(z.strictObject({ name: text.describe('Metric.') }))
    .default([])
    .describe('Logged only.'),
  judge: judge.nullable().default(null).describe('Model-graded metric.'),
  loss: loss.nullable().default(null).describe('Weighted loss of a suite.'),
})

export function metricSchema(rules: Rules) {
  return rules === 'ce'
    ? metricKeys.extend({ primary: cePrimary.describe('What is optimised.') })
    : metricKeys.prefault({})
}
