import { z } from 'zod'
import { digestSchema, type Oid } from './ids.ts'
import { type PairJob, pairJobSchema } from './pairs.ts'
import { begunBlockSchema, reportSchema } from './report.ts'

/** The measurements of an interrupted run: written after every execution, so that a loss keeps them. */
export const partialReportSchema = z.strictObject({
  report: reportSchema,
  /** null between two blocks. */
  begun: begunBlockSchema.nullable(),
})
export type PartialReport = z.infer<typeof partialReportSchema>

/**
 * Where an interrupted order goes on: with its coins, after the blocks that had begun (decision 039). No pair is drawn
 * again.
 */
export const resumptionSchema = z.strictObject({
  /** The order whose run was lost. */
  order: digestSchema,
  /** The first block of its coins that had not begun. */
  block: z.number().int().nonnegative(),
  /** The pairs that its runs measured, by candidate. */
  pieces: z.record(z.string(), pairJobSchema),
})
export type Resumption = z.infer<typeof resumptionSchema>

/**
 * The state of a lost order until it is issued again. `coins` is null where it is unknown
 * how many of its blocks had begun: the next order draws its own.
 */
export interface Interruption extends Resumption {
  rule: string
  base: Oid
  harness: string
  trees: Record<string, Oid>
  coins: string | null
  carried: Record<string, PairJob[]>
  /** When the last run was lost, and how many were lost since one came to its end. */
  at: string
  times: number
}
