import { z } from 'zod'

/**
 * One side's numbers as a verdict reads them (the snapshot of `winnow decide`, spec.md). Values stay
 * `unknown` until a rule asks for them: a missing, null or non-finite one must reach the rule as such,
 * because missing is not good (invariant 5).
 */
const measured = z.unknown()
export const snapshot = z.strictObject({
  gates: z.record(z.string(), measured).optional(),
  metrics: z.record(z.string(), measured).optional(),
  judge: z.record(z.string(), measured).optional(),
  diagnostics: z.record(z.string(), measured).optional(),
  smoke_passed: z.boolean().nullable().optional(),
  sample_count: z.number().nullable().optional(),
  elapsed_seconds: z.number().nullable().optional(),
})
export type Snapshot = z.infer<typeof snapshot>
