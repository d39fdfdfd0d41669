import { z } from 'zod'
import {
  buildMeasurementSection,
  buildMetricSection,
  commandGateSection,
  evidenceSection,
  executionSection,
  parallelSection,
} from './schema-measurement.ts'
import {
  countSchema,
  fractionSchema,
  naturalSchema,
  positiveSchema,
  type SpecEnvironment,
  type SpecRules,
  textSchema,
} from './schema-values.ts'

export type { SpecEnvironment, SpecRules } from './schema-values.ts'

export const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const KEBAB_TEXT = 'kebab-case: lower-case letters and digits joined by single hyphens'

/** Campaigns and their branches have names in kebab-case. */
export function toKebabName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
}

const LOCAL_ENVIRONMENT: SpecEnvironment = { host: 'local', privateRepository: false }

function buildScopeSchema(rules: SpecRules) {
  const immutable = z.array(textSchema)
  return z.strictObject({
    mutable: z
      .array(textSchema)
      .min(1)
      .describe("What may change: git's :(top,glob) pathspecs; a directory ends with /. All else is refused.")
      .meta({ examples: [['src/', 'lib/*.py']] }),
    immutable: (rules === 'ce' ? immutable.min(1) : immutable.default([]))
      .describe('Wins over mutable; .winnow/, .github/, .gitattributes and .gitmodules always are.')
      .meta({ examples: [['**/*_test.go']] }),
  })
}

/**
 * The shape of a spec and every default, for both kinds: `winnow: 1` and ce-optimize. Defaults live only in these
 * sections; rules that span several keys live in validate.ts.
 */
export function buildSpecSchema(rules: SpecRules, environment: SpecEnvironment = LOCAL_ENVIRONMENT) {
  return z.strictObject({
    winnow: (rules === 'winnow' ? z.literal(1) : z.never().optional()).describe("Selects winnow's defaults."),
    name: z
      .string()
      .max(200)
      .regex(KEBAB, KEBAB_TEXT)
      .optional()
      .describe('Name of the campaign and of its branches. Default: the file name.'),
    description: (rules === 'ce' ? textSchema : textSchema.optional()).describe(
      'Description that proposers read. Default: the name.',
    ),
    metric: buildMetricSection(rules).describe('What counts.'),
    measurement: buildMeasurementSection(rules).describe('How it is measured.'),
    gates: z
      .array(commandGateSection)
      .default([])
      .describe(
        'Commands that must pass before the metric counts. A spec needs at least one gate of either kind.',
      ),
    evidence: evidenceSection.prefault({}).describe('Evidence that a change needs.'),
    models: z.array(modelSection).default([]).describe('Models that may be asked, and their prices.'),
    scope: buildScopeSchema(rules).describe('What an experiment may change.'),
    propose: z
      .array(proposerSection)
      .min(1)
      .default([{ use: 'external' }])
      .describe('Where ideas come from.'),
    advice: z.array(textSchema).default([]).describe('Advice that proposers read.'),
    constraints: z.array(textSchema).default([]).describe("ce's name of advice."),
    limits: buildLimitsSection(rules).prefault({}).describe('Size of one experiment.'),
    dependencies: dependenciesSection.prefault({}).describe('Packages an experiment may add.'),
    execution: executionSection.prefault({}).describe('How experiments run.'),
    parallel: parallelSection.prefault({}).describe('What executions share.'),
    stopping: buildStoppingSection(rules, environment).prefault({}).describe('When the campaign ends.'),
    policy: policySection.prefault({}).describe('What is kept.'),
    max_runner_up_merges_per_batch: naturalSchema
      .default(rules === 'ce' ? 1 : 3)
      .describe('Runners-up tried on top of a winner.'),
    search: searchSection.prefault({}).describe('How the search moves.'),
    artifacts: z.array(artifactSection).default([]).describe('Versioned text artifacts.'),
    baseline_artifacts: z
      .record(textSchema, naturalSchema)
      .default({})
      .describe(
        "AWP's pins. Only 0, the file as it is committed: later versions exist once a campaign has made them.",
      ),
    epochs: epochsSection.nullable().default(null).describe('Passes that learn.'),
    merge: mergeSection.prefault({}).describe('How kept changes land.'),
    branches: branchesSection.prefault({}).describe('Names of branches.'),
    ledger: ledgerSection.prefault({}).describe('How the ledger is written.'),
    report: reportSection.prefault({}).describe('Comments, dashboard and notifications.'),
    schedule: textSchema
      .default('daily')
      .describe(
        'Schedule of the workflow: hourly, daily, weekly or a cron expression. Only init --github reads it.',
      ),
  })
}

/** The parsed file with defaults. Keys have their YAML names. */
export type ParsedSpec = z.output<ReturnType<typeof buildSpecSchema>>

/** The normalised spec: with its rules, a name, a description, and one key for each setting. */
export type Spec = Omit<
  ParsedSpec,
  'winnow' | 'name' | 'description' | 'constraints' | 'metric' | 'measurement' | 'stopping'
> & {
  rules: SpecRules
  name: string
  description: string
  metric: Omit<ParsedSpec['metric'], 'primary'> & {
    primary: Omit<ParsedSpec['metric']['primary'], 'baseline'>
  }
  measurement: Omit<ParsedSpec['measurement'], 'output_format'>
  stopping: Omit<ParsedSpec['stopping'], 'plateau_iterations' | 'max_wall_hours'>
}

/** Caps hours where a person's machine does the work, and runner minutes where the repository's owner pays. */
function buildStoppingSection(rules: SpecRules, environment: SpecEnvironment) {
  const capHours = rules === 'ce' || environment.host === 'local'
  return z.strictObject({
    max_iterations: countSchema
      .default(100)
      .describe('Experiments that ended; refused and deferred ones do not count.'),
    max_hours: positiveSchema
      .nullable()
      .default(capHours ? 8 : null)
      .describe('Wall-clock hours; without a limit on GitHub.'),
    max_wall_hours: positiveSchema.nullable().optional().describe('ce: accepted, wall-clock hours.'),
    plateau: countSchema.default(rules === 'ce' ? 10 : 40).describe('Experiments without a new incumbent.'),
    plateau_iterations: countSchema.optional().describe("ce's name of plateau."),
    target_reached: z.boolean().default(true).describe('Stop when the targets are met.'),
    max_runner_minutes: positiveSchema
      .nullable()
      .default(environment.privateRepository ? 600 : null)
      .describe(
        'Runner minutes, on GitHub as billed: each job is rounded up. Some are reserved for measuring the total. Default: 600 in a private repository on GitHub.',
      ),
    max_total_cost_usd: positiveSchema
      .nullable()
      .default(null)
      .describe(
        'US dollars for all models that winnow asks or meters, in the whole campaign. null: no cap, which a person has to allow where no other cap holds (winnow run --allow-uncapped).',
      ),
    max_failures: countSchema
      .nullable()
      .default(null)
      .describe('Experiments that crash or time out, in the whole campaign.'),
  })
}

/** A ce spec has no limits unless it sets them. */
function buildLimitsSection(rules: SpecRules) {
  const none = rules === 'ce'
  return z.strictObject({
    max_files: countSchema
      .nullable()
      .default(none ? null : 20)
      .describe('Files one experiment may change.'),
    max_changed_lines: countSchema
      .nullable()
      .default(none ? null : 500)
      .describe('Lines it may add and remove.'),
    allowed_file_types: z.array(textSchema).default([]).describe('Extensions; empty is any text.'),
    max_binary_bytes: naturalSchema
      .nullable()
      .default(none ? null : 0)
      .describe('Bytes of binary files.'),
  })
}

const modelSection = z.strictObject({
  id: textSchema.describe('Name of the model at the endpoint.'),
  price: z
    .strictObject({
      input: z.number().nonnegative().describe('US dollars for a million tokens that are sent.'),
      output: z.number().nonnegative().describe('US dollars for a million tokens of answers.'),
    })
    .nullable()
    .default(null)
    .describe('null: WINNOW_MODEL_PRICE, else the price that the endpoint lists. winnow itself knows none.'),
})

const dependenciesSection = z.strictObject({
  approved: z.array(textSchema).default([]).describe('Packages that may be added as registries have them.'),
  approval: z.enum(['review', 'deny']).default('review').describe('What happens to other packages.'),
  approvers: z
    .union([z.enum(['write', 'admin']), z.array(textSchema).min(1)])
    .default('write')
    .describe('Who may approve: a permission, or logins and teams.'),
  min_release_age_days: naturalSchema
    .default(0)
    .describe(
      'Least age of a release in days. A package in `approved` whose release is younger, or of unknown age, waits for a person. 0: no check.',
    ),
  allow_scripts: z.boolean().default(false).describe('Let packages run install scripts.'),
})

const strategySchema = z.enum([
  'incumbent',
  'argmax',
  'top_k',
  'epsilon_greedy',
  'softmax',
  'pareto_per_task',
])

const frontierSchema = z.union([
  strategySchema,
  z.strictObject({
    use: strategySchema.describe('Strategy.'),
    k: countSchema.optional().describe('For top_k.'),
    epsilon: fractionSchema.optional().describe('For epsilon_greedy.'),
    temperature: positiveSchema.optional().describe('For softmax.'),
    task_floor: z.number().optional().describe('For pareto_per_task.'),
  }),
])

const policySection = z.strictObject({
  keep_if: z.literal('better_primary').default('better_primary').describe('Only better_primary.'),
  tie_breakers: z
    .array(
      z.union([
        z.strictObject({ lower: textSchema.describe('Metric of which less is better.') }),
        z.strictObject({ higher: textSchema.describe('Metric of which more is better.') }),
      ]),
    )
    .default([])
    .describe(
      'Decide, in this order, when the primary shows no difference: the first that shows one. With stability: by more than relative_threshold of the stored value.',
    ),
  on_failure: z.literal('discard').default('discard').describe('Only discard.'),
})

const searchSection = z.strictObject({
  frontier: frontierSchema.default('incumbent').describe('What new ideas start from.'),
  stall_rounds: countSchema.default(5).describe('Rounds without gain that are a stall.'),
  ideate_every: countSchema.default(5).describe('Rounds between fresh ideas.'),
  ideate_stall: countSchema.default(3).describe('Stalled rounds that ask for fresh ideas.'),
  skills: z.array(textSchema).default([]).describe('Skill files shown to proposers.'),
  controller: z
    .strictObject({
      limits: z.record(textSchema, z.number()).default({}).describe('Bounds of the knobs it may turn.'),
    })
    .nullable()
    .default(null)
    .describe('Turns knobs between rounds.'),
})

const artifactSection = z.strictObject({
  name: textSchema.describe('Unique name.'),
  path: textSchema
    .optional()
    .describe('File in the repository. Default, for the six names that AWP has: prompts/<name>.md.'),
})

const epochsSection = z.strictObject({
  count: countSchema.default(1).describe('Passes that may each try one update.'),
  baseline: z
    .number()
    .int()
    .min(2)
    .default(3)
    .describe('Passes of the unchanged start before them, which show how much the mean varies by itself.'),
  learning_rate: positiveSchema
    .max(1)
    .default(0.5)
    .describe('Share of its lines that a rewrite may change; 1: all. A rollback halves it.'),
  rollback_on_regression: z
    .boolean()
    .default(true)
    .describe('Roll back an update whose epoch is worse than the passes before it, beyond their noise.'),
  recover: countSchema.default(3).describe('Epochs without a regression until the rate is restored.'),
  compat: z
    .literal('awp')
    .nullable()
    .default(null)
    .describe(
      "awp: AWP's rule. Updates land without proof, any mean above the one before it rolls back, and the rate only falls.",
    ),
})

const proposerSection = z.discriminatedUnion('use', [
  z.strictObject({ use: z.literal('external').describe('Pull requests and branches that others push.') }),
  z.strictObject({
    use: z.literal('patch').describe('Patches in a directory: git format-patch, git diff, mailboxes.'),
    dir: textSchema.describe('That directory.'),
  }),
  z.strictObject({
    use: z.literal('command').describe('A program that edits the work tree.'),
    command: textSchema.optional().describe('The program.'),
    preset: z
      .enum(['claude', 'codex', 'gemini', 'copilot', 'opencode', 'aider'])
      .optional()
      .describe('A known agent instead of command.'),
    name: textSchema
      .optional()
      .describe(
        'Name shown for its ideas. Default: the program or the preset, with a number where several would have the same name.',
      ),
    timeout_seconds: positiveSchema.default(3600).describe('Its whole process tree is killed after this.'),
  }),
  z.strictObject({
    use: z.literal('sweep').describe('Parameter values, no model.'),
    parameters: z.record(textSchema, z.unknown()).default({}).describe('Values by parameter.'),
  }),
  z.strictObject({
    use: z.literal('textgrad').describe('Asks a model to rewrite one artifact after each epoch.'),
    model: textSchema.default('strong').describe('Model.'),
    artifacts: z.array(textSchema).default([]).describe('Artifacts it may rewrite; empty is all.'),
  }),
  z.strictObject({
    use: z.literal('dispatch').describe('Starts a workflow.'),
    workflow: textSchema.describe('Workflow file.'),
  }),
])

/** One component of a ref name that git check-ref-format accepts. */
const REF_COMPONENT = /^[a-z0-9](?:[a-z0-9_-]|\.(?!\.|lock$|$))*$/

const mergeSection = z.strictObject({
  via: z
    .enum(['push', 'api'])
    .default('push')
    .describe('How a kept change lands: winnow pushes it, or asks GitHub to merge its pull request.'),
  auto: z
    .boolean()
    .default(true)
    .describe('Merge kept changes without a person. Otherwise a person merges them.'),
  max_open_experiments: countSchema.default(4).describe('Open pull requests of the engine.'),
  max_pull_requests_per_hour: countSchema.default(4).describe('Of the engine: how fast they are opened.'),
  unisolated: z
    .enum(['allow', 'deny', 'auto'])
    .default('auto')
    .describe(
      'Merge changes that were measured without isolation. auto: not those of authors without write access on GitHub.',
    ),
  suspicious: z
    .enum(['hold', 'allow', 'deny'])
    .default('hold')
    .describe(
      'A change that would be kept and has lines that could deceive a benchmark. hold: a person reads it before it lands.',
    ),
  forgeable: z
    .enum(['hold', 'allow', 'deny'])
    .default('hold')
    .describe(
      'A change by a program, or by an author without write access, that would be kept though the probes did not show the harness to be guarded. hold: a person reads it before it lands.',
    ),
  hold_above: z
    .number()
    .gt(1)
    .nullable()
    .default(3)
    .describe('A gain above this factor is held until a person has read the change. null: no limit.'),
  sometimes_slower: z
    .enum(['hold', 'allow'])
    .default('hold')
    .describe(
      'A change that is typically faster, but so slow in some runs that its mean is not shown to gain. hold: a person decides. allow: it is not looked for.',
    ),
  on_merge: z.enum(['stop', 'restart']).default('stop').describe('When the campaign is merged.'),
})

const branchesSection = z.strictObject({
  prefix: z
    .string()
    .regex(REF_COMPONENT, 'one lower-case component of a branch name')
    .default('optimize')
    .describe('First component of every branch.'),
})

const ledgerSection = z.strictObject({
  sign: z
    .enum(['none', 'ssh', 'gpg'])
    .default('none')
    .describe(
      'Sign every commit of the ledger with the key that git has: user.signingkey. Every person who writes to the ledger needs a key.',
    ),
})

const reportSection = z.strictObject({
  comment: z.enum(['on-action', 'never']).default('on-action').describe('Comments on pull requests.'),
  dashboard: z.boolean().default(true).describe('Write the dashboard.'),
  pages_branch: textSchema.nullable().default(null).describe('Branch the dashboard is published on.'),
  webhook: z
    .url({ protocol: /^https?$/, error: 'an http or https address' })
    .nullable()
    .default(null)
    .describe('Called on keep, needs-you, stopped.'),
})
