import { z } from 'zod'
import { digest, type Oid } from './ids.ts'
import { type Job, job } from './pairs.ts'
import { begunBlock, report } from './report.ts'

/** The measurements of an interrupted run: written after every execution, so that a loss keeps them. */
export const partialReport = z.strictObject({
  report,
  /** null between two blocks. */
  begun: begunBlock.nullable(),
})
export type PartialReport = z.infer<typeof partialReport>

/**
 * Where an interrupted order goes on: with its coins, after the blocks that had begun (decision 039). No pair is drawn
 * again.
 */
export const resumption = z.strictObject({
  /** The order whose run was lost. */
  order: digest,
  /** The first block of its coins that had not begun. */
  block: z.number().int().nonnegative(),
  /** The pairs that its runs measured, by candidate. */
  pieces: z.record(z.string(), job),
})
export type Resumption = z.infer<typeof resumption>

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
  carried: Record<string, Job[]>
  /** When the last run was lost, and how many were lost since one came to its end. */
  at: string
  times: number
}
