import { z } from 'zod'
import { evidence } from './sections/evidence.ts'
import { execution, parallel } from './sections/execution.ts'
import { commandGate } from './sections/gate.ts'
import type { Rules, Surroundings } from './sections/kind.ts'
import { dependencies, limitsSchema } from './sections/limits.ts'
import { measurementSchema } from './sections/measurement.ts'
import { branches, merge, report } from './sections/merge.ts'
import { metricSchema } from './sections/metric.ts'
import { proposer } from './sections/propose.ts'
import { natural, text } from './sections/scalar.ts'
import { artifact, epochs, policy, search } from './sections/search.ts'
import { stoppingSchema } from './sections/stopping.ts'

export type { Rules, Surroundings } from './sections/kind.ts'

export const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
export const KEBAB_TEXT = 'kebab-case: lower-case letters and digits joined by single hyphens'

const LOCAL: Surroundings = { host: 'local', privateRepository: false }

function scopeSchema(rules: Rules) {
  const immutable = z.array(text)
  return z.strictObject({
    mutable: z
      .array(text)
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
export function specSchema(rules: Rules, surroundings: Surroundings = LOCAL) {
  return z.strictObject({
    winnow: (rules === 'winnow' ? z.literal(1) : z.never().optional()).describe("Selects winnow's defaults."),
    name: z
      .string()
      .max(200)
      .regex(KEBAB, KEBAB_TEXT)
      .optional()
      .describe('Name of the campaign and of its branches; else that of the file.'),
    description: (rules === 'ce' ? text : text.optional()).describe(
      'What it is about, told to proposers; else the name.',
    ),
    metric: metricSchema(rules).describe('What counts.'),
    measurement: measurementSchema(rules).describe('How it is measured.'),
    gates: z
      .array(commandGate)
      .default([])
      .describe('Commands that must pass before speed counts; one gate of either kind is required.'),
    evidence: evidence.prefault({}).describe('How much proof a change needs.'),
    scope: scopeSchema(rules).describe('What an experiment may change.'),
    propose: z
      .array(proposer)
      .min(1)
      .default([{ use: 'external' }])
      .describe('Where ideas come from.'),
    advice: z.array(text).default([]).describe('What to keep in mind, told to proposers.'),
    constraints: z.array(text).default([]).describe("ce's name of advice."),
    limits: limitsSchema(rules).prefault({}).describe('Size of one experiment.'),
    dependencies: dependencies.prefault({}).describe('Packages an experiment may add.'),
    execution: execution.prefault({}).describe('How experiments run.'),
    parallel: parallel.prefault({}).describe('What executions share.'),
    stopping: stoppingSchema(rules, surroundings).prefault({}).describe('When the campaign ends.'),
    policy: policy.prefault({}).describe('What is kept.'),
    max_runner_up_merges_per_batch: natural
      .default(rules === 'ce' ? 1 : 3)
      .describe('Runners-up tried on top of a winner.'),
    search: search.prefault({}).describe('How the search moves.'),
    artifacts: z.array(artifact).default([]).describe('Versioned text artifacts.'),
    epochs: epochs.nullable().default(null).describe('Passes of a suite.'),
    merge: merge.prefault({}).describe('How kept changes land.'),
    branches: branches.prefault({}).describe('Names of branches.'),
    report: report.prefault({}).describe('What is shown.'),
    schedule: text
      .default('daily')
      .describe(
        'When GitHub wakes it: hourly, daily, weekly or as in cron; init --github writes it, nothing else reads it.',
      ),
  })
}

/** The file as parsed, with defaults filled in; keys keep the names they have in YAML. */
export type ParsedSpec = z.output<ReturnType<typeof specSchema>>

/**
 * What the rest of winnow works with: which rules hold, the names that the file may leave out,
 * and one key where a ce spec has its own word for the same thing.
 */
export type Spec = Omit<
  ParsedSpec,
  'winnow' | 'name' | 'description' | 'constraints' | 'metric' | 'measurement' | 'stopping'
> & {
  rules: Rules
  name: string
  description: string
  metric: Omit<ParsedSpec['metric'], 'primary'> & {
    primary: Omit<ParsedSpec['metric']['primary'], 'baseline'>
  }
  measurement: Omit<ParsedSpec['measurement'], 'output_format' | 'per_case'>
  stopping: Omit<ParsedSpec['stopping'], 'plateau_iterations' | 'max_wall_hours'>
}
