import { z } from 'zod'
import {
  BENCHMARK_FORMATS,
  countSchema,
  directionSchema,
  fractionSchema,
  maxRegressionSchema,
  naturalSchema,
  operatorSchema,
  parseGateCheck,
  positiveSchema,
  type SpecRules,
  shareOfAnySizeSchema,
  shareSchema,
  textSchema,
} from './schema-values.ts'

const comparisonSchema = z.strictObject({
  method: z.enum(['absolute', 'relative', 'paired']).default('absolute').describe('How a delta is judged.'),
  relative_threshold: shareOfAnySizeSchema.default(0.05).describe('Fraction of the base.'),
})

const futilitySchema = z.strictObject({
  worse_factor: z.number().default(1.2).describe('Stop when it is worse by this factor.'),
  after_elapsed_seconds: positiveSchema
    .nullable()
    .default(null)
    .describe('Not better after this long ends it.'),
})

const ladderSchema = z.strictObject({
  smoke_command: textSchema.nullable().default(null).describe('Runs first; failing is degenerate.'),
  exploratory_pairs: countSchema.default(1).describe('Samples before a first look.'),
  confirmation_repeats: countSchema
    .nullable()
    .default(null)
    .describe('Samples to keep; null is repeat_count.'),
  futility: futilitySchema.nullable().default(null).describe('When to give up early.'),
})

/** ce-optimize's comparison with a stored score. */
const stabilitySection = z.strictObject({
  mode: z.enum(['stable', 'repeat', 'ladder']).default('stable').describe('Once, repeated, or in steps.'),
  repeat_count: countSchema.default(5).describe('Executions in repeat mode.'),
  aggregation: z.enum(['median', 'mean', 'min', 'max']).default('median').describe('Samples to one value.'),
  noise_threshold: z.number().nonnegative().default(0.02).describe('Metric units, not a fraction.'),
  comparison: comparisonSchema.prefault({}).describe('How base and candidate are compared.'),
  ladder: ladderSchema.nullable().default(null).describe('Steps of mode ladder.'),
})

/** Texts of a task are passed as environment variables, which the system limits to 128 KiB each. */
const taskTextSchema = textSchema.max(60_000)

const suiteTaskSchema = z.strictObject({
  name: textSchema.max(200).describe('Unique in the suite. The harness finds it in $WINNOW_TASK.'),
  command: textSchema.optional().describe('Runs this task.'),
  args: z.array(z.string()).optional().describe('Appended to measurement.command instead.'),
  task: taskTextSchema
    .optional()
    .describe('What the workflow is asked to do: $WINNOW_TASK_TEXT of the harness.'),
  workflow: textSchema.optional().describe('Workflow file: $WINNOW_TASK_WORKFLOW.'),
  model: textSchema.optional().describe('Model of this task: $WINNOW_TASK_MODEL.'),
  worker_model: textSchema.optional().describe('Model of its workers: $WINNOW_TASK_WORKER_MODEL.'),
  weights: z
    .record(textSchema, z.number().nonnegative())
    .optional()
    .describe('Loss weights of this task; the others are those of metric.loss.'),
  budget: z
    .record(textSchema, positiveSchema)
    .optional()
    .describe('Budget of this task, by name: $WINNOW_TASK_BUDGET, as JSON.'),
  timeout_seconds: positiveSchema.optional().describe('Instead of measurement.timeout_seconds.'),
})

const suiteSection = z.strictObject({
  tasks: z.array(suiteTaskSchema).min(1).describe('Tasks of one pass. One job is one pass.'),
  seeds: countSchema.default(1).describe('Seeds, and so runs, of each task in one pass.'),
  advisory: z
    .boolean()
    .default(false)
    .describe('Decide by the mean over the tasks, though so few pairs prove nothing.'),
})

const holdoutSection = z.strictObject({
  command: textSchema.describe('Measures what proposers never see.'),
  source: textSchema
    .nullable()
    .default(null)
    .describe('Branch, ref in full, or VARIABLE that names a directory: $WINNOW_HOLDOUT_DIR of the command.'),
  pairs: countSchema.default(8).describe('Pairs per use; fewer where the numbers repeat exactly.'),
  margin: shareOfAnySizeSchema
    .default(0)
    .describe('Loss still allowed: a fraction under log scale, metric units under linear.'),
  max_uses: countSchema.default(20).describe('Uses of one holdout in the campaign.'),
})

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
  keep_checkpoint: z
    .boolean()
    .default(false)
    .describe(
      'Keep the files in WINNOW_CHECKPOINT_DIR between the executions of one build. An idea could store its answers there.',
    ),
  probes: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Measure hostile changes of winnow itself before changes of others, to find out whether the harness notices them. off: the harness counts as not probed.',
    ),
  timeout_seconds: positiveSchema.default(600).describe('The whole process tree is killed after this.'),
  max_processes: countSchema
    .default(4096)
    .describe(
      'Processes and threads of one command at a time, where each side has a user of its own, or Linux 5.14 allows namespaces to a user who is not root.',
    ),
  working_directory: textSchema.default('.').describe('Where commands run, inside the repository.'),
  output: z
    .enum(['json', 'metric-lines', ...BENCHMARK_FORMATS])
    .default('json')
    .describe('Format of the harness output; docs/adapters.md explains the benchmark tools.'),
  output_format: z.literal('json').optional().describe('ce: accepted, json.'),
  per_case: z
    .boolean()
    .optional()
    .describe(
      'Compare each task that the harness prints (`tasks`) as a pair of its own, instead of the whole execution. With stability: accepted, no effect.',
    ),
  score: scoreSchema.nullable().default(null).describe('Separate trusted scorer.'),
  env: z
    .array(textSchema)
    .default([])
    .describe(
      'Names of variables that commands see, in addition to PATH LANG TZ CI. HOME is a folder of the side unless it is named here.',
    )
    .meta({ examples: [['GOCACHE']] }),
  env_file: envFileSchema.nullable().default(null).describe('Named keys loaded from a file.'),
  models: z
    .enum(['none', 'metered'])
    .default('none')
    .describe(
      'metered: the harness may ask the models of the spec, at the address in OPENAI_BASE_URL and with the key in OPENAI_API_KEY, which winnow sets for each execution. It never holds the real key; winnow counts the cost.',
    ),
  max_execution_cost_usd: positiveSchema
    .nullable()
    .default(null)
    .describe('With models metered: an execution that wants to spend more fails, as with timeout_seconds.'),
  isolation: isolationSchema
    .default('auto')
    .describe(
      'Isolation of the sides. uid: each side runs as a separate user, which requires root. auto: uid where these users can be used and the commands work that way, in measuring jobs on GitHub and for root on a machine that has them; otherwise none.',
    ),
  network: z.enum(['on', 'off']).default('on').describe('off needs bwrap or container.'),
  mode: z
    .enum(['auto', 'once', 'paired'])
    .default('auto')
    .describe(
      'once: one run of each side. paired: pairs until the evidence suffices. auto: once if the metric repeats exactly, otherwise paired.',
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

const stratumSchema = z.strictObject({
  bucket: textSchema.describe('Bucket the items carry.'),
  count: countSchema.describe('Items drawn from it.'),
})

const scoreScaleSchema = z.strictObject({
  lowest: z.number().describe('Least score.'),
  highest: z.number().describe('Greatest score.'),
})

const scoringSchema = z.strictObject({
  primary: textSchema.describe('Rubric field that is optimised; metric.primary.name names it.'),
  secondary: z.array(textSchema).default([]).describe('Other rubric fields, logged.'),
  scale: scoreScaleSchema
    .nullable()
    .default(null)
    .describe('Range of the scores. null: the only range that the rubric names, as in "1 to 5".'),
})

const calibrationSchema = z.strictObject({
  labels: textSchema.describe('File of human scores, outside scope.mutable.'),
  min_agreement: fractionSchema
    .default(0.8)
    .describe("Least agreement with them, as Krippendorff's alpha: 1 is full, 0 is chance."),
})

const judgeSection = z.strictObject({
  rubric: textSchema.describe('What a judge scores, with its scale.'),
  scoring: scoringSchema.describe('Fields of a score.'),
  model: textSchema.default('cheap').describe('cheap, strong, haiku, sonnet or a model id.'),
  models: z
    .array(textSchema)
    .min(1)
    .nullable()
    .default(null)
    .describe('Several models instead of one; the mean of their scores counts.'),
  sample_size: countSchema
    .default(10)
    .describe('Items of each side that one job scores. Without stability, two jobs score other items each.'),
  items: z
    .enum(['auto', 'same', 'own'])
    .default('auto')
    .describe(
      'same: only items with the same id on both sides are compared. own: each side has items of its own, such as clusters, which are compared as two samples. auto: own where too few ids are on both sides. Not used with stability.',
    ),
  stratification: z
    .array(stratumSchema)
    .nullable()
    .default(null)
    .describe('Sample per bucket; null is uniform.'),
  singleton_sample: naturalSchema.default(0).describe('Singletons scored with singleton_rubric.'),
  singleton_rubric: textSchema.nullable().default(null).describe('Rubric for singletons.'),
  sample_seed: z.number().int().default(42).describe('Seed of the sample.'),
  batch_size: countSchema.default(5).describe('Items per request. With 1, no item influences another.'),
  minimum_improvement: z.number().nonnegative().default(0.3).describe('Score gain that counts.'),
  max_total_cost_usd: positiveSchema
    .nullable()
    .default(5)
    .describe('Cost cap of all judging. null: only stopping.max_total_cost_usd caps it.'),
  judges: countSchema.default(1).describe('Judges per item and model; their mean counts.'),
  confirmation_seed: z
    .number()
    .int()
    .nullable()
    .default(null)
    .describe(
      'Seed of the confirming samples, which use other items. null: sample_seed + 1, and with stability no confirmation.',
    ),
  calibration: calibrationSchema
    .nullable()
    .default(null)
    .describe('Agreement with human labels, checked before the first idea.'),
  hidden_reference_paths: z
    .array(textSchema)
    .default([])
    .describe(
      'Files that no proposer, no experiment and no judge may see, such as an answer key. These see committed files only, so winnow refuses a repository that has one of them, and an idea that adds one.',
    ),
})

const lossSection = z.strictObject({
  weights: z
    .record(textSchema, z.number().nonnegative())
    .default({ eval: 0.4, critique: 0.3, gate_rejections: 0.15, budget: 0.05, status: 0.1 })
    .describe(
      'Weight of each component. A component of another name is a metric that the harness prints, 0 (good) to 1.',
    ),
  max_rejections: positiveSchema
    .default(3)
    .describe('Gate rejections that count as 1, unless run_completion.json has its own maximum.'),
  missing: z
    .enum(['error', 'neutral'])
    .default('error')
    .describe(
      'What a missing component of a run that did not fail is: an error, or 0.5. In a failed run it counts as 1.',
    ),
})

const primaryType = z.enum(['hard', 'judge', 'loss'])
const GATE_CHECK_FORM =
  '"<op> <number|true|false>" with op one of >= <= > < == !=, or "== base": the same answer as the base'

const primarySchema = z.strictObject({
  type: primaryType.default('hard').describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: textSchema
    .default('wall_seconds')
    .describe(
      'Metric to improve: wall_seconds, cpu_seconds and max_rss_mb are measured by winnow; instructions, allocations and allocated_bytes are counted by valgrind or perf; others are printed.',
    )
    .meta({ examples: ['p99_ms', 'geomean_ns_per_op'] }),
  direction: directionSchema.default('minimize').describe('Which way is better.'),
  target: z.number().nullable().default(null).describe('Value at which the campaign may stop.'),
  baseline: z.number().nullable().optional().describe('ce: ignored, winnow measures it.'),
})

/** A ce spec must name its metric; only winnow's own specs default to the built-in wall_seconds. */
const cePrimarySchema = primarySchema.extend({
  type: primaryType.describe('hard: measured; judge: model-graded; loss: AWP loss.'),
  name: textSchema.describe('Metric to improve.'),
  direction: directionSchema.describe('Which way is better.'),
})

const degenerateGateSchema = z.strictObject({
  name: textSchema.describe(
    'Metric the check reads, a number or a boolean, for == base also a text; missing or not finite fails it.',
  ),
  check: z
    .string()
    .refine(check => parseGateCheck(check) !== undefined, { error: GATE_CHECK_FORM })
    .describe(`${GATE_CHECK_FORM}.`)
    .meta({ examples: ['>= 0.95', '== true', '== base'] }),
  description: z.string().optional().describe('Why it matters.'),
})

const objectiveSchema = z.strictObject({
  name: textSchema.describe('Metric, as the harness prints it.'),
  direction: directionSchema.describe('Which way is better.'),
  role: z
    .enum(['required', 'guardrail', 'secondary'])
    .default('required')
    .describe('required: may win; guardrail: must be proven harmless; secondary: logged.'),
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
    .describe('Further metrics that must improve, or must not get worse.'),
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
  max_task_regression: maxRegressionSchema
    .optional()
    .describe(
      'How much worse a single task may become. A change is kept only if no task is worse by more; among pairs that has to be shown for each task, with an error of 5 %.',
    ),
})

export function buildMetricSection(rules: SpecRules) {
  return rules === 'ce'
    ? metricKeys.extend({ primary: cePrimarySchema.describe('What is optimised.') })
    : metricKeys.prefault({})
}

const level = shareSchema(z.number().positive().max(0.5), 'a number above 0, at most 0.5')

export const evidenceSection = z.strictObject({
  min_effect: shareOfAnySizeSchema
    .nullable()
    .default(null)
    .describe(
      'Smallest gain worth having, as 5% or 0.05; with scale linear in metric units. null: 2 % (0 when deterministic).',
    )
    .meta({ examples: ['5%', 0.05] }),
  null_effect: shareOfAnySizeSchema
    .nullable()
    .default(null)
    .describe('Gain that still counts as none; null: min_effect/4, on one machine min_effect/2.'),
  scale: z
    .enum(['auto', 'log', 'linear'])
    .default('auto')
    .describe(
      'log: gains are shares; linear: metric units; auto: log if all values are above 0 at calibration.',
    ),
  pairs_per_job: z
    .union([z.literal('auto'), countSchema])
    .default('auto')
    .describe('auto: 8 when an execution takes under 20 s, else 4.'),
  max_jobs: countSchema.default(8).describe('Jobs until an experiment is not proven.'),
  alpha: level.default(0.01).describe('Error budget of each experiment under campaign_control fixed.'),
  screen: z.number().gt(1).default(20).describe('Evidence from which a fresh runner confirms.'),
  campaign_control: z
    .enum(['e-lond', 'fixed'])
    .default('e-lond')
    .describe('How the campaign divides its error budget: e-lond, or alpha for each experiment.'),
  q: level.default(0.1).describe('False discoveries allowed by e-lond.'),
  fresh_runners: naturalSchema.default(1).describe('Fresh runners that must confirm.'),
  slow_runs: level
    .default(0.05)
    .describe(
      'Share of runs three times as slow that a kept change is shown not to have. Smaller shares need more runs.',
    ),
})

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
  sanctioned_env: z.array(textSchema).default([]).describe('ce: variables that its workers see.'),
})

export const parallelSection = z.strictObject({
  port_strategy: z.enum(['parameterized', 'none']).nullable().default(null).describe('Ports per execution.'),
  port_env_var: textSchema.nullable().default(null).describe('Variable that carries the port.'),
  port_base: z.number().int().min(1024).max(65_000).nullable().default(null).describe('First port.'),
  shared_files: z.array(textSchema).default([]).describe('Copied into every work tree; missing is an error.'),
  exclusive_resources: z.array(textSchema).default([]).describe('Any makes the campaign serial.'),
})

export const commandGateSection = z.strictObject({
  name: textSchema.describe('Unique name, shown when it fails.'),
  command: textSchema.describe('Exit 0 passes.').meta({ examples: ['npm test'] }),
  phase: z
    .enum(['pre', 'post'])
    .default('pre')
    .describe('pre: in a copy, before anything is timed; post: after the last execution.'),
  timeout_seconds: positiveSchema.default(600).describe('Its whole process tree is killed after this.'),
})
