import { z } from 'zod'
import { BENCHMARK_FORMATS } from '../benchmark-formats.ts'
import type { SpecRules } from './kind.ts'
import { positiveSchema, textSchema } from './scalar.ts'
import { stabilitySection } from './stability.ts'
import { holdoutSection, suiteSection } from './suite.ts'

const scoreFormatSchema = z.strictObject({
  format: z.enum(['json', 'metric-lines']).default('json').describe('What the scorer prints.'),
  score_field: textSchema.nullable().default(null).describe('Field that holds the primary metric.'),
  metrics_field: textSchema.nullable().default(null).describe('Field that holds the other metrics.'),
})

const scoreSchema = z.strictObject({
  command: textSchema.describe('Trusted scorer; reads $WINNOW_OUT_DIR, prints the metrics.'),
  timeout_seconds: positiveSchema.default(600).describe('Its whole process tree is killed after this.'),
  parse: scoreFormatSchema.prefault({}).describe('How its output is read.'),
})

const envFileSchema = z.strictObject({
  path: textSchema.describe('File in the repository directory.'),
  keys: z.array(textSchema).min(1).describe('Only these names are loaded.'),
})

const isolationSchema = z.union([
  z.enum(['auto', 'uid', 'bwrap', 'none']),
  z.strictObject({
    container: z.strictObject({ image: textSchema.describe('Image.') }).describe('Run in a container.'),
  }),
])

const STABILITY = "ce's comparison with a stored score, instead of evidence."

const measurementKeys = z.strictObject({
  command: textSchema
    .describe('The harness: prints its metrics; any exit code but 0 is a failure.')
    .meta({ examples: ['node bench/parse.mjs'] }),
  setup: textSchema
    .nullable()
    .default(null)
    .describe('Install and build; not timed.')
    .meta({ examples: ['npm ci'] }),
  setup_scope: z
    .enum(['per_job', 'once'])
    .default('per_job')
    .describe('per_job: rebuilt in every job, so that one lucky build does not decide; once: kept.'),
  timeout_seconds: positiveSchema.default(600).describe('The whole process tree is killed after this.'),
  working_directory: textSchema.default('.').describe('Where commands run, inside the repository.'),
  output: z
    .enum(['json', 'metric-lines', ...BENCHMARK_FORMATS])
    .default('json')
    .describe('What the harness prints; the benchmark tools are explained in docs/adapters.md.'),
  output_format: z.literal('json').optional().describe('ce: accepted, json.'),
  per_case: z.boolean().optional().describe('ce: accepted.'),
  score: scoreSchema.nullable().default(null).describe('Separate trusted scorer.'),
  env: z
    .array(textSchema)
    .default([])
    .describe('Names of variables let through, besides PATH HOME LANG TZ CI.')
    .meta({ examples: [['GOCACHE']] }),
  env_file: envFileSchema.nullable().default(null).describe('Named keys loaded from a file.'),
  isolation: isolationSchema
    .default('auto')
    .describe(
      'How the candidate is kept from everything else. uid: each side is a user of its own, which takes root; auto: that in measuring jobs on GitHub where it works, else none.',
    ),
  network: z.enum(['on', 'off']).default('on').describe('off needs bwrap or container.'),
  mode: z
    .enum(['auto', 'once', 'paired'])
    .default('auto')
    .describe(
      'once: one run a side; paired: pairs until there is evidence; auto: once if it repeats exactly.',
    ),
  stability: stabilitySection.nullable().default(null).describe(STABILITY),
  baseline: z
    .enum(['cached', 'fresh'])
    .default('fresh')
    .describe('With stability: a stored report of the incumbent, or measured again.'),
  suite: suiteSection.nullable().default(null).describe('Many tasks, measured as pairs.'),
  holdout: holdoutSection.nullable().default(null).describe('Measured only before a merge.'),
})

export function buildMeasurementSection(rules: SpecRules) {
  return rules === 'ce'
    ? measurementKeys.extend({
        stability: stabilitySection.nullable().prefault({}).describe(STABILITY),
        baseline: z
          .enum(['cached', 'fresh'])
          .default('cached')
          .describe('With stability: a stored report of the incumbent, or measured again.'),
      })
    : measurementKeys
}
