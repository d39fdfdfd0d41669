import { z } from 'zod'
import type { SpecRules, SpecEnvironment } from './kind.ts'
import { countSchema, positiveSchema } from './scalar.ts'

/** Hours are capped where a person's machine pays; runner minutes where the repository's owner does. */
export function buildStoppingSection(rules: SpecRules, surroundings: SpecEnvironment) {
  const capHours = rules === 'ce' || surroundings.host === 'local'
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
      .default(surroundings.privateRepository ? 600 : null)
      .describe(
        'Runner minutes, on GitHub as they are billed: each job rounded up. Those for measuring the total are set aside; 600 in a private repository on GitHub.',
      ),
    max_total_cost_usd: positiveSchema.nullable().default(null).describe('Money spent on models.'),
    max_failures: countSchema
      .nullable()
      .default(null)
      .describe('Experiments that crash or run out of time, of the whole campaign.'),
  })
}
