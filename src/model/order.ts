import { z } from 'zod'
import { digest, experimentId, oid, point } from './ids.ts'
import { snapshot } from './snapshot.ts'

/**
 * An order asks for measurements and carries all that a runner needs to make them: which trees, whose
 * harness, in which order (coins drawn by tick, so that a report can be checked against them), when to stop.
 */
export const orderPurpose = z.enum([
  'calibration', // is the harness deterministic? base only
  'baseline', // the incumbent's own numbers, for rules that compare with a stored score
  'experiment',
  'combination', // a runner-up merged on the new incumbent
  'sync', // incumbent merged with the default branch: gates, and the new baseline
  'foreign', // a tip somebody else put on the optimize branch
  'revert',
])
export type OrderPurpose = z.infer<typeof orderPurpose>

/** `label` is the experiment's id, or the purpose for orders that measure no experiment. */
export const orderCandidate = z.strictObject({
  label: z.union([experimentId, z.enum(['sync', 'foreign', 'revert'])]),
  head: oid,
  tree: oid,
})
export type OrderCandidate = z.infer<typeof orderCandidate>

/** How the runner knows it is done; the same pure rules run inside the job and at the verdict. */
export const stopRule = z.discriminatedUnion('rule', [
  /** Calibration: `runs` executions of the base, each with its own seed, in two builds. */
  z.strictObject({ rule: z.literal('calibrate'), runs: z.number().int().min(2) }),
  /** Deterministic: one run each side; a gain of at least min_effect is run once more, each side. */
  z.strictObject({
    rule: z.literal('once'),
    min_effect: z.number().nonnegative(),
    /** Under log min_effect is a fraction of the base, under linear it is in the metric's units. */
    scale: z.enum(['log', 'linear']),
  }),
  /** ce stability: samples of the candidate against `baseline` (null: measure the base side too). */
  z.strictObject({ rule: z.literal('stability'), baseline: snapshot.nullable() }),
  /** Gates and one run of the candidate alone (sync, and the incumbent's own baseline). */
  z.strictObject({ rule: z.literal('alone') }),
])
export type StopRule = z.infer<typeof stopRule>

export const orderTerms = z.strictObject({
  purpose: orderPurpose,
  round: z.number().int().nonnegative(),
  attempt: z.number().int().positive(),
  spec_sha256: digest,
  harness: digest,
  /** Spec, harness, gates and everything outside scope.mutable come from this commit (invariant 4). */
  pin: point,
  base: point,
  candidates: z.array(orderCandidate).max(4),
  /** Hex digits, one coin a bit, most significant first: execution i of block j reads its own bits. */
  coins: z.string().regex(/^[0-9a-f]{64}$/),
  level: z.number().positive().nullable(),
  carried: z.record(z.string(), z.number()),
  stop: stopRule,
  deadline: z.iso.datetime(),
})
export type OrderTerms = z.infer<typeof orderTerms>
/** The id of an order is the id of the event that issued it. */
export type Order = OrderTerms & { id: string }

/** What an order of the campaign's own is about, whichever attempt it is. */
export function ownSubject({
  purpose,
  base,
  candidates,
}: Pick<OrderTerms, 'purpose' | 'base' | 'candidates'>): string {
  return purpose === 'calibration' ? purpose : `${purpose} ${candidates[0]?.head ?? base.commit}`
}

/** Coin number `index` of an order: true with probability one half, fixed when the order was issued. */
export function coin(order: Pick<OrderTerms, 'coins'>, index: number): boolean {
  const bits = order.coins.length * 4
  const at = index % bits
  const digit = Number.parseInt(order.coins.charAt(Math.floor(at / 4)), 16)
  return ((digit >> (3 - (at % 4))) & 1) === 1
}
