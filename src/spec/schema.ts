import { z } from 'zod'
import { evidenceSection } from './sections/evidence.ts'
import { executionSection, parallelSection } from './sections/execution.ts'
import { commandGateSection } from './sections/gate.ts'
import type { SpecRules, SpecEnvironment } from './sections/kind.ts'
import { dependenciesSection, buildLimitsSection } from './sections/limits.ts'
import { buildMeasurementSection } from './sections/measurement.ts'
import { branchesSection, mergeSection, reportSection } from './sections/merge.ts'
import { buildMetricSection } from './sections/metric.ts'
import { proposerSection } from './sections/propose.ts'
import { naturalSchema, textSchema } from './sections/scalar.ts'
import { artifactSection, epochsSection, policySection, searchSection } from './sections/search.ts'
import { buildStoppingSection } from './sections/stopping.ts'

export type { SpecRules, SpecEnvironment } from './sections/kind.ts'

export const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const KEBAB_TEXT = 'kebab-case: lower-case letters and digits joined by single hyphens'

const LOCAL_SURROUNDINGS: SpecEnvironment = { host: 'local', privateRepository: false }

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
 * The spec's shape and every default, for both kinds of spec: `winnow: 1` and ce-optimize.
 * Defaults live in these sections and nowhere else; rules that span several keys live in rules.ts.
 */
export function buildSpecSchema(rules: SpecRules, surroundings: SpecEnvironment = LOCAL_SURROUNDINGS) {
  return z.strictObject({
    winnow: (rules === 'winnow' ? z.literal(1) : z.never().optional()).describe("Selects winnow's defaults."),
    name: z
      .string()
      .max(200)
      .regex(KEBAB, KEBAB_TEXT)
      .optional()
      .describe('Name of the campaign and of its branches; else that of the file.'),
    description: (rules === 'ce' ? textSchema : textSchema.optional()).describe(
      'What it is about, told to proposers; else the name.',
    ),
    metric: buildMetricSection(rules).describe('What counts.'),
    measurement: buildMeasurementSection(rules).describe('How it is measured.'),
    gates: z
      .array(commandGateSection)
      .default([])
      .describe('Commands that must pass before speed counts; one gate of either kind is required.'),
    evidence: evidenceSection.prefault({}).describe('How much proof a change needs.'),
    scope: buildScopeSchema(rules).describe('What an experiment may change.'),
    propose: z
      .array(proposerSection)
      .min(1)
      .default([{ use: 'external' }])
      .describe('Where ideas come from.'),
    advice: z.array(textSchema).default([]).describe('What to keep in mind, told to proposers.'),
    constraints: z.array(textSchema).default([]).describe("ce's name of advice."),
    limits: buildLimitsSection(rules).prefault({}).describe('Size of one experiment.'),
    dependencies: dependenciesSection.prefault({}).describe('Packages an experiment may add.'),
    execution: executionSection.prefault({}).describe('How experiments run.'),
    parallel: parallelSection.prefault({}).describe('What executions share.'),
    stopping: buildStoppingSection(rules, surroundings).prefault({}).describe('When the campaign ends.'),
    policy: policySection.prefault({}).describe('What is kept.'),
    max_runner_up_merges_per_batch: naturalSchema
      .default(rules === 'ce' ? 1 : 3)
      .describe('Runners-up tried on top of a winner.'),
    search: searchSection.prefault({}).describe('How the search moves.'),
    artifacts: z.array(artifactSection).default([]).describe('Versioned text artifacts.'),
    epochs: epochsSection.nullable().default(null).describe('Passes of a suite.'),
    merge: mergeSection.prefault({}).describe('How kept changes land.'),
    branches: branchesSection.prefault({}).describe('Names of branches.'),
    report: reportSection.prefault({}).describe('What is shown.'),
    schedule: textSchema
      .default('daily')
      .describe(
        'When GitHub wakes it: hourly, daily, weekly or as in cron; init --github writes it, nothing else reads it.',
      ),
  })
}

/** The file as parsed, with defaults filled in; keys keep the names they have in YAML. */
export type ParsedSpec = z.output<ReturnType<typeof buildSpecSchema>>

/**
 * What the rest of winnow works with: which rules hold, the names that the file may leave out,
 * and one key where a ce spec has its own word for the same thing.
 */
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
  measurement: Omit<ParsedSpec['measurement'], 'output_format' | 'per_case'>
  stopping: Omit<ParsedSpec['stopping'], 'plateau_iterations' | 'max_wall_hours'>
}
