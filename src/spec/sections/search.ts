import { z } from 'zod'
import { count, fraction, positive, text } from './scalar.ts'

const strategy = z.enum(['incumbent', 'argmax', 'top_k', 'epsilon_greedy', 'softmax', 'pareto_per_task'])

const frontier = z.union([
  strategy,
  z.strictObject({
    use: strategy.describe('Strategy.'),
    k: count.optional().describe('For top_k.'),
    epsilon: fraction.optional().describe('For epsilon_greedy.'),
    temperature: positive.optional().describe('For softmax.'),
    task_floor: z.number().optional().describe('For pareto_per_task.'),
  }),
])

export const policy = z.strictObject({
  keep_if: z.literal('better_primary').default('better_primary').describe('Only better_primary.'),
  tie_breakers: z
    .array(
      z.union([
        z.strictObject({ lower: text.describe('Metric of which less is better.') }),
        z.strictObject({ higher: text.describe('Metric of which more is better.') }),
      ]),
    )
    .default([])
    .describe('Decide when the primary is shown unchanged.'),
  on_failure: z.literal('discard').default('discard').describe('Only discard.'),
})

export const search = z.strictObject({
  frontier: frontier.default('incumbent').describe('What new ideas start from.'),
  stall_rounds: count.default(5).describe('Rounds without gain that are a stall.'),
  ideate_every: count.default(5).describe('Rounds between fresh ideas.'),
  ideate_stall: count.default(3).describe('Stalled rounds that ask for fresh ideas.'),
  skills: z.array(text).default([]).describe('Skill files shown to proposers.'),
  controller: z
    .strictObject({
      limits: z.record(text, z.number()).default({}).describe('Bounds of the knobs it may turn.'),
    })
    .nullable()
    .default(null)
    .describe('Turns knobs between rounds.'),
})

export const artifact = z.strictObject({
  name: text.describe('Unique name.'),
  path: text.describe('File in the repository.'),
})

export const epochs = z.strictObject({
  count: count.default(1).describe('Passes over the suite.'),
  learning_rate: positive.default(0.5).describe('How much a rewrite may change.'),
  rollback_on_regression: z.boolean().default(true).describe('Undo an update that made it worse.'),
  recover: count.default(3).describe('Epochs until the rate recovers.'),
  compat: z.literal('awp').nullable().default(null).describe("awp: exactly AWP's rule."),
})
