import { z } from 'zod'
import { countSchema, textSchema } from './scalar.ts'

/** One component of a ref name, as git check-ref-format would accept it. */
const REF_COMPONENT = /^[a-z0-9](?:[a-z0-9_-]|\.(?!\.|lock$|$))*$/

export const mergeSection = z.strictObject({
  via: z
    .enum(['push', 'api'])
    .default('push')
    .describe('How a kept change lands: winnow pushes it, or asks GitHub to merge its pull request.'),
  auto: z
    .boolean()
    .default(true)
    .describe('Merge without a person; else what is kept waits for a person to merge it.'),
  max_open_experiments: countSchema.default(4).describe('Open pull requests of the engine.'),
  max_pull_requests_per_hour: countSchema.default(4).describe('Of the engine: how fast they are opened.'),
  unisolated: z
    .enum(['allow', 'deny', 'auto'])
    .default('auto')
    .describe('Merge what was measured without isolation; auto denies strangers on GitHub.'),
  on_merge: z.enum(['stop', 'restart']).default('stop').describe('When the campaign is merged.'),
})

export const branchesSection = z.strictObject({
  prefix: z
    .string()
    .regex(REF_COMPONENT, 'one lower-case component of a branch name')
    .default('optimize')
    .describe('First component of every branch.'),
})

export const reportSection = z.strictObject({
  comment: z.enum(['on-action', 'never']).default('on-action').describe('Comments on pull requests.'),
  dashboard: z.boolean().default(true).describe('Write the dashboard.'),
  pages_branch: textSchema.nullable().default(null).describe('Branch the dashboard is published on.'),
  webhook: z
    .url({ protocol: /^https?$/, error: 'an http or https address' })
    .nullable()
    .default(null)
    .describe('Called on keep, needs-you, stopped.'),
})
