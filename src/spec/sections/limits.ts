import { z } from 'zod'
import type { SpecRules } from './kind.ts'
import { countSchema, naturalSchema, textSchema } from './scalar.ts'

/** A ce spec has no limits unless it says so. */
export function buildLimitsSection(rules: SpecRules) {
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

export const dependenciesSection = z.strictObject({
  approved: z.array(textSchema).default([]).describe('Packages that may be added as registries have them.'),
  approval: z.enum(['review', 'deny']).default('review').describe('What happens to other packages.'),
  approvers: z
    .union([z.enum(['write', 'admin']), z.array(textSchema).min(1)])
    .default('write')
    .describe('Who may approve: a permission, or logins and teams.'),
  min_release_age_days: naturalSchema
    .default(0)
    .describe(
      'With more than 0, what `approved` names waits for a person while its release is younger, or of unknown age.',
    ),
  allow_scripts: z.boolean().default(false).describe('Let packages run install scripts.'),
})
