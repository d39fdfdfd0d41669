import { z } from 'zod'
import { shareOfAnySizeSchema, countSchema, naturalSchema, shareSchema } from './scalar.ts'

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
  max_jobs: countSchema.default(8).describe('Jobs before an experiment is parked.'),
  alpha: level.default(0.01).describe('Level of campaign_control fixed.'),
  screen: z.number().gt(1).default(20).describe('Evidence that earns a fresh runner.'),
  campaign_control: z.enum(['e-lond', 'fixed']).default('e-lond').describe('Level of a whole campaign.'),
  q: level.default(0.1).describe('False discoveries allowed by e-lond.'),
  fresh_runners: naturalSchema.default(1).describe('Fresh runners that must confirm.'),
})
