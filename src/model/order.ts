import { z } from 'zod'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { hashSha256 } from './canonical-json.ts'
import { digestSchema, experimentIdSchema, oidSchema, pointSchema } from './ids.ts'
import { pairJobSchema, type PairRequest, type PartialReport, resumptionSchema } from './pairs.ts'
import { type Execution, type Report, type Side, snapshotSchema } from './report.ts'

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
const orderCandidateSchema = z.strictObject({
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
const stopRuleSchema = z.discriminatedUnion('rule', [
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
  /** 256 coins nobody could know before; what order they give each block is in model/order.ts. */
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

type CoinTerms = Pick<OrderTerms, 'coins'>

/**
 * Invariant 10: in which order the sides are built (`build`), given users (`users`), warmed up and take their turn in
 * each block, by the order's own coins, so that a report that does not follow them can be rejected. Every block has coins of
 * its own, however many there are, since evidence rests on each being independent of the others.
 */
export function drawTurns<T>(
  order: CoinTerms,
  block: number | 'build' | 'warm-up' | 'users',
  sides: readonly T[],
): T[] {
  let number = drawNumber(order, block)
  const rest = [...sides]
  const result: T[] = []
  while (rest.length > 0) {
    result.push(...rest.splice(number % rest.length, 1))
    number = Math.floor(number / (rest.length + 1))
  }
  return result
}

function drawNumber({ coins }: CoinTerms, region: number | string): number {
  return Number.parseInt(hashSha256(`${coins}:turns:${region}`).slice(0, 12), 16)
}

/** The same for both sides of a block, another one for the next. */
export function drawSeed(order: CoinTerms, block: number): number {
  return Number.parseInt(hashSha256(`${order.coins}:${block}`).slice(0, 8), 16) % 2 ** 31
}

/** Whether a report's builds and executions took the turns and seeds that were drawn for them. */
export function isFollowingCoins(order: Order, report: Report): boolean {
  const sides = listSides(order)
  return areBuildsFollowingCoins(order, report, sides) && areExecutionsFollowingCoins(order, report, sides)
}

/** The same of a run that was interrupted: its last block, or its warm-up, may end after any of its sides. */
export function isPartialFollowingCoins(order: Order, { report, begun }: PartialReport): boolean {
  const sides = listSides(order)
  if (!areBuildsFollowingCoins(order, report, sides)) return false
  const { executions } = report
  const blocks = begun?.block ?? listSideSamples(executions, 'base').length
  const seen = new Map<Side, number>()
  const whole: Execution[] = []
  const last: Execution[] = []
  for (const run of executions) {
    if (run.role === 'warmup') continue
    const block = seen.get(run.side) ?? 0
    seen.set(run.side, block + 1)
    ;(block < blocks ? whole : last).push(run)
  }
  if (!areExecutionsFollowingCoins(order, { executions: whole }, sides)) return false
  if (last.length === 0) return true
  if (begun === null) return false
  const drawn = drawTurns(order, getFirstBlock(order) + begun.block, begun.sides).slice(0, last.length)
  const seed = drawSeed(order, getFirstBlock(order) + begun.block)
  const took = last.map(({ side }) => side)
  return isSameSequence(took, drawn) && last.every(run => run.role === 'sample' && run.seed === seed)
}

/** Where the blocks of an order begin among its coins: an order that continues another leaves out those that had begun. */
export function getFirstBlock({ resumes }: Pick<Order, 'resumes'>): number {
  return resumes?.block ?? 0
}

function listSides({ candidates }: Order): Side[] {
  return ['base', ...candidates.map(({ label }) => label)]
}

function listSideSamples(executions: readonly Execution[], side: Side): Execution[] {
  return executions.filter(run => run.side === side && run.role === 'sample')
}

function areBuildsFollowingCoins(order: Order, report: Report, sides: readonly Side[]): boolean {
  const built = report.setups.filter(({ build }) => build === 0).map(({ side }) => side)
  return isSameSequence(
    built,
    drawTurns(order, 'build', sides).filter(side => built.includes(side)),
  )
}

interface ExecutionBlock {
  coins: number | 'warm-up'
  seed: number
  runs: Execution[]
}

function areExecutionsFollowingCoins(
  order: Order,
  report: Pick<Report, 'executions'>,
  sides: readonly Side[],
): boolean {
  const blocks = groupBlocks(report.executions, getFirstBlock(order))
  const follow = blocks.every(({ coins, seed, runs }) => {
    const took = runs.map(({ side }) => side)
    const present = sides.filter(side => took.includes(side))
    return (
      isSameSequence(took, drawTurns(order, coins, present)) &&
      runs.every(run => run.seed === drawSeed(order, seed))
    )
  })
  return follow && areBlocksConsecutive(report.executions, blocks)
}

/** One block after the other: runs of a pair that lie far apart share neither the hour nor the neighbours. */
function areBlocksConsecutive(executions: readonly Execution[], blocks: readonly ExecutionBlock[]): boolean {
  const drawn = blocks.flatMap(({ runs }) => runs)
  return executions.filter(({ role }) => role !== 'smoke').every((run, index) => run === drawn[index])
}

/** A side's n-th sample belongs to block n; a repeat has the seed of what it repeats and turns of its own. */
function groupBlocks(executions: readonly Execution[], from: number): ExecutionBlock[] {
  const blocks = new Map<string, ExecutionBlock>()
  const taken = new Map<string, number>()
  for (const run of executions) {
    if (run.role === 'smoke') continue
    const count = taken.get(`${run.role} ${run.side}`) ?? 0
    taken.set(`${run.role} ${run.side}`, count + 1)
    const key = `${run.role} ${count}`
    const warmup = run.role === 'warmup'
    const coins = warmup ? 'warm-up' : from + count + (run.role === 'repeat' ? 1 : 0)
    const block = blocks.get(key) ?? { coins, seed: warmup ? count : from + count, runs: [] }
    blocks.set(key, block)
    block.runs.push(run)
  }
  return [...blocks.values()]
}

function isSameSequence(a: readonly Side[], b: readonly Side[]): boolean {
  return a.length === b.length && a.every((side, index) => side === b[index])
}

/** Orders that compare two sides by pairs; gates alone are nothing to judge. */
export function isJudgedOrder({ stop }: Pick<Order, 'stop'>, spec: Spec): boolean {
  return isJudgedMetric(spec) && (stop.rule === 'paired' || stop.rule === 'pairs')
}
