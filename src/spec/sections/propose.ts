import { z } from 'zod'
import { positiveSchema, textSchema } from './scalar.ts'

export const proposerSection = z.discriminatedUnion('use', [
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
    name: textSchema.optional().describe('Name shown for its ideas.'),
    timeout_seconds: positiveSchema.default(3600).describe('Its whole process tree is killed after this.'),
  }),
  z.strictObject({
    use: z.literal('sweep').describe('Parameter values, no model.'),
    parameters: z.record(textSchema, z.unknown()).default({}).describe('Values by parameter.'),
  }),
  z.strictObject({
    use: z.literal('textgrad').describe('Rewrites text artifacts.'),
    model: textSchema.default('strong').describe('Model.'),
    artifacts: z.array(textSchema).default([]).describe('Names of artifacts; empty is all.'),
  }),
  z.strictObject({
    use: z.literal('dispatch').describe('Starts a workflow.'),
    workflow: textSchema.describe('Workflow file.'),
  }),
])
