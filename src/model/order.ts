import { z } from 'zod'
import { digestSchema, experimentIdSchema, oidSchema, pointSchema } from './ids.ts'
import { resumptionSchema } from './interruption.ts'
import { type PairRequest, pairJobSchema } from './pairs.ts'
import { snapshotSchema } from './snapshot.ts'

/**
 * An order asks for measurements and carries all that a runner needs to make them: which trees, whose
 * harness, in which order (coins drawn by tick, so that a report can be checked against them), when to stop.
 */
export const orderPurposeSchema = z.enum([
  'calibration', // is the harness deterministic? base only; how noisy is it? base against its twin
  'baseline', // the incumbent's own numbers, for rules that compare with a stored score
  'experiment',
  'combination', // a runner-up merged on the new incumbent
  'sync', // incumbent merged with the default branch: gates, and the new baseline
  'foreign', // a tip somebody else put on the optimize branch
  'revert',
  'effect', // a landing once more, without a stopping rule: what it is reported to bring
  'progression', // the incumbent against where it started
  'regression', // the incumbent against the tree before a landing: does it still hold?
  'holdout', // what would land, once more, on data that no proposer has seen
  'pick', // one kept change alone, against the default branch
])
export type OrderPurpose = z.infer<typeof orderPurposeSchema>

/** `label` is the experiment's id, or the purpose for orders that measure no experiment. */
export const orderCandidateSchema = z.strictObject({
  label: z.union([experimentIdSchema, z.enum(['sync', 'foreign', 'revert', 'twin', 'incumbent'])]),
  head: oidSchema,
  tree: oidSchema,
})
export type OrderCandidate = z.infer<typeof orderCandidateSchema>

const scaleSchema = z.enum(['log', 'linear'])

/** On which terms one candidate is judged by its pairs. */
const pairedTermsSchema = z.strictObject({
  /** idea: screened, then confirmed. confirmed: it held on an earlier base. combination: on a new incumbent. */
  as: z.enum(['idea', 'confirmed', 'combination', 'simplify']),
  /** Evidence of 1/level keeps it. */
  level: z.number().positive().max(1),
  /** What it takes of the campaign's level (decision.md 3.5). */
  share: z.number().nonnegative().max(1),
  max_jobs: z.number().int().positive(),
  /** When measuring ends before anything is shown (docs/decisions/041-no-gain-and-worse.md). */
  give_up: z.enum(['early', 'late', 'equal', 'never']),
  /** Which variant of its idea it is, counted from 1 (decision.md 3.4); 0: of none that is known. */
  variant: z.number().int().nonnegative(),
  /** What its change touches, by which later variants are told; with its first order only. */
  touched: z.strictObject({ files: z.string(), lines: z.array(z.string()) }).nullable(),
})
export type PairedTerms = z.infer<typeof pairedTermsSchema>

/** Which holdout judges: what is in git by its tree, so that nobody can say later that it was another. */
const holdoutSourceSchema = z.union([
  z.strictObject({ ref: z.string(), commit: oidSchema, tree: oidSchema }),
  z.strictObject({ environment: z.string() }),
])
export type HoldoutSource = z.infer<typeof holdoutSourceSchema>

/** How the runner knows it is done; the same pure rules run inside the job and at the verdict. */
export const stopRuleSchema = z.discriminatedUnion('rule', [
  /** Calibration: `runs` executions of the base, each with its own seed, in two builds. */
  z.strictObject({ rule: z.literal('calibrate'), runs: z.number().int().min(2) }),
  /** Deterministic: one run each side; a gain of at least min_effect is run once more, each side. */
  z.strictObject({
    rule: z.literal('once'),
    min_effect: z.number().nonnegative(),
    /** Under log min_effect is a fraction of the base, under linear it is in the metric's units. */
    scale: scaleSchema,
  }),
  /** Pairs of base and candidate, looked at after each (decision.md 3.3), so many in one job at most. */
  z.strictObject({
    rule: z.literal('paired'),
    /** Those that can change the verdict, the primary first. */
    metrics: z.array(z.string()).min(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
    min_effect: z.number().positive(),
    null_effect: z.number().nonnegative(),
    screen: z.number().gt(1),
    fresh_runners: z.number().int().nonnegative(),
    /** There is no other: a new build in a new process group stands for a fresh runner, and the verdict says so. */
    single_machine: z.boolean(),
    terms: z.record(z.string(), pairedTermsSchema),
  }),
  /** So many pairs and no stopping rule: calibration, and effects that nothing was selected by. */
  z.strictObject({
    rule: z.literal('pairs'),
    metrics: z.array(z.string()).min(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
  }),
  /** So many pairs of the holdout's own command, or as many as show that it repeats exactly. */
  z.strictObject({
    rule: z.literal('holdout'),
    command: z.string(),
    /** The primary alone. */
    metrics: z.array(z.string()).length(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
    /** How much may be lost: under log a fraction of the base, under linear in the metric's units. */
    margin: z.number().nonnegative(),
    /** The harness was shown to be deterministic: two equal pairs say it all. */
    exact: z.boolean(),
    /** Null: the command brings its own. */
    source: holdoutSourceSchema.nullable(),
  }),
  /** ce stability: samples of the candidate against `baseline` (null: measure the base side too). */
  z.strictObject({ rule: z.literal('stability'), baseline: snapshotSchema.nullable() }),
  /** Gates and one run of the candidate alone (sync, and the incumbent's own baseline). */
  z.strictObject({ rule: z.literal('alone') }),
])
export type StopRule = z.infer<typeof stopRuleSchema>
export type HoldoutRule = Extract<StopRule, { rule: 'holdout' }>

export const orderTermsSchema = z.strictObject({
  purpose: orderPurposeSchema,
  round: z.number().int().nonnegative(),
  /** Which of the jobs of the progression test it is: they are measured beside each other where there are runners. */
  part: z.number().int().nonnegative().optional(),
  attempt: z.number().int().positive(),
  spec_sha256: digestSchema,
  harness: digestSchema,
  /** Spec, harness, gates and everything outside scope.mutable come from this commit (invariant 4). */
  pin: pointSchema,
  base: pointSchema,
  candidates: z.array(orderCandidateSchema).max(4),
  /** 256 coins nobody could know before; what order they give each block is in model/coins.ts. */
  coins: z.string().regex(/^[0-9a-f]{64}$/),
  /** What earlier jobs measured of the same two trees, by candidate. */
  carried: z.record(z.string(), z.array(pairJobSchema)),
  /** The interrupted order that this one continues. */
  resumes: resumptionSchema.optional(),
  stop: stopRuleSchema,
  deadline: z.iso.datetime(),
})
export type OrderTerms = z.infer<typeof orderTermsSchema>
/** The id of an order is the id of the event that issued it. */
export type Order = OrderTerms & { id: string }

/** So many jobs make the campaign's headline, whatever they show; as many watch a landing at most. */
export const EFFECT_JOBS = 8

/** What an order of the campaign's own is about, whichever attempt it is. */
export function buildOrderSubject({
  purpose,
  base,
  candidates,
  part,
}: Pick<OrderTerms, 'purpose' | 'base' | 'candidates' | 'part'>): string {
  if (purpose === 'calibration') return purpose
  if (part !== undefined) return `${purpose} ${candidates[0]?.head ?? base.commit} job ${part}`
  // A landing is watched on trees that change: the tree before it is what stays.
  return `${purpose} ${purpose === 'regression' ? base.commit : (candidates[0]?.head ?? base.commit)}`
}

export type ReportingPurpose = Extract<OrderPurpose, 'effect' | 'progression' | 'regression'>

/** What only says how much was brought: nothing lands by it. */
export function isReportingPurpose(purpose: OrderPurpose): purpose is ReportingPurpose {
  return purpose === 'effect' || purpose === 'progression' || purpose === 'regression'
}

/** What an order's pairs are read by; nothing where it asks for none. */
export function toPairRequest({ id, stop, resumes }: Pick<Order, 'id' | 'stop' | 'resumes'>): PairRequest {
  if (!isPairRule(stop)) return { order: id, metrics: [], pairs: 0 }
  return { order: id, metrics: stop.metrics, pairs: stop.pairs, begun: resumes?.pieces }
}

export function isPairRule(stop: StopRule): stop is Extract<StopRule, { rule: 'paired' | 'pairs' }> {
  return stop.rule === 'paired' || stop.rule === 'pairs'
}

/** Whether the pairs it asks for are those of the only machine there is. */
export function isSingleMachineOrder({ stop }: Pick<Order, 'stop'>): boolean {
  return stop.rule === 'paired' && stop.single_machine
}
