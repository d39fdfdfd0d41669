import { z } from 'zod'
import { countSchema, fractionSchema, positiveSchema, textSchema } from './scalar.ts'

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

export const policySection = z.strictObject({
  keep_if: z.literal('better_primary').default('better_primary').describe('Only better_primary.'),
  tie_breakers: z
    .array(
      z.union([
        z.strictObject({ lower: textSchema.describe('Metric of which less is better.') }),
        z.strictObject({ higher: textSchema.describe('Metric of which more is better.') }),
      ]),
    )
    .default([])
    .describe('Decide when the primary is shown unchanged.'),
  on_failure: z.literal('discard').default('discard').describe('Only discard.'),
})

export const searchSection = z.strictObject({
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

export const artifactSection = z.strictObject({
  name: textSchema.describe('Unique name.'),
  path: textSchema.describe('File in the repository.'),
})

export const epochsSection = z.strictObject({
  count: countSchema.default(1).describe('Passes over the suite.'),
  learning_rate: positiveSchema.default(0.5).describe('How much a rewrite may change.'),
  rollback_on_regression: z.boolean().default(true).describe('Undo an update that made it worse.'),
  recover: countSchema.default(3).describe('Epochs until the rate recovers.'),
  compat: z.literal('awp').nullable().default(null).describe("awp: exactly AWP's rule."),
})
