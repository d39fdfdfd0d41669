import { z } from 'zod'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric } from '../spec/spec-facts.ts'
import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import { digestSchema, experimentIdSchema, oidSchema, pointSchema } from './ids.ts'
import {
  listSamples,
  type PairRequest,
  type PartialReport,
  pairJobSchema,
  resumptionSchema,
} from './pairs.ts'
import { PROBE_NAMES, probeLabelSchema } from './probe.ts'
import { type Execution, readingSchema, type Report, type Side, snapshotSchema } from './report.ts'

/** Everything that a runner needs: trees, harness, the coins drawn in advance, and the stop rule. */
export const orderPurposeSchema = z.enum([
  'calibration', // is the harness deterministic (base only), and how noisy is it (base against itself)?
  'baseline', // the incumbent's own numbers, for rules that compare with a stored score
  'experiment',
  'combination', // a runner-up merged on the new incumbent
  'sync', // incumbent merged with the default branch: gates, and the new baseline
  'foreign', // a tip that another author pushed to the optimize branch
  'revert',
  'effect', // a landing again, without a stopping rule, for the reported improvement
  'progression', // the incumbent against the default branch, for the total improvement
  'regression', // the incumbent against the tree before a landing: does it still hold?
  'holdout', // a candidate about to land, again, on data that no proposer has seen
  'pick', // a single kept change against the default branch
  'probe', // hostile changes of winnow's own: does the harness notice them?
])
export type OrderPurpose = z.infer<typeof orderPurposeSchema>

/** `label` is the experiment's id, the probe's label, or the purpose when the order measures neither. */
const orderCandidateSchema = z.strictObject({
  label: z.union([
    experimentIdSchema,
    z.enum(['sync', 'foreign', 'revert', 'base-copy', 'incumbent']),
    probeLabelSchema,
  ]),
  head: oidSchema,
  tree: oidSchema,
})
export type OrderCandidate = z.infer<typeof orderCandidateSchema>

export const scaleSchema = z.enum(['log', 'linear'])

const pairedTermsSchema = z.strictObject({
  /** idea: screened, then confirmed. confirmed: proven on an earlier base. combination: on a new incumbent. */
  as: z.enum(['idea', 'confirmed', 'combination', 'simplify']),
  /** The candidate is kept with evidence of at least 1/level. */
  alpha: z.number().positive().max(1),
  /** Its part of the campaign's error budget, alphaShare (docs/deciding.md, How strict). */
  alpha_share: z.number().nonnegative().max(1),
  max_jobs: z.number().int().positive(),
  /** The rule for ending early without a result (docs/decisions/041-no-gain-and-worse.md). */
  give_up: z.enum(['early', 'late', 'equal', 'never']),
  /** Number of the variant of its idea, counted from 1 (docs/deciding.md, How strict). 0: not known as a variant. */
  variant: z.number().int().nonnegative(),
  /** The files and lines that it changes, which later variants are compared with. Only in its first order. */
  touched: z.strictObject({ files: z.string(), lines: z.array(z.string()) }).nullable(),
})
export type PairedTerms = z.infer<typeof pairedTermsSchema>

/** What has to hold, besides a shown gain, before an idea is kept. */
const keepCheckSchema = z.strictObject({
  /** The share of much slower runs to exclude; null: slow runs do not count. */
  slow_runs: z.number().positive().max(0.5).nullable(),
  /** The jobs have to agree on the gain. */
  jobs_agree: z.boolean(),
  /** The most pairs of a job that checks, and those of one that is measured for its agreement only. */
  pairs: z.number().int().positive(),
  agree_pairs: z.number().int().positive(),
  /** The most jobs after the one in which the gain was shown. */
  jobs: z.number().int().positive(),
})
export type KeepCheck = z.infer<typeof keepCheckSchema>

/** The holdout that judges. A holdout in git is bound to its tree, so that it cannot be exchanged later. */
const holdoutSourceSchema = z.union([
  z.strictObject({ ref: z.string(), commit: oidSchema, tree: oidSchema }),
  z.strictObject({ environment: z.string() }),
])
export type HoldoutSource = z.infer<typeof holdoutSourceSchema>

/** The rule that ends the measurement. The same pure functions run inside the job and at the verdict. */
const stopRuleSchema = z.discriminatedUnion('rule', [
  /** Calibration: `runs` executions of the base, each with its own seed, in two builds. */
  z.strictObject({ rule: z.literal('calibrate'), runs: z.number().int().min(2) }),
  /** Deterministic: one run of each side. A gain of at least min_effect is run a second time on each side. */
  z.strictObject({
    rule: z.literal('once'),
    min_effect: z.number().nonnegative(),
    /** The share by which a counted metric may differ between runs of the same code. */
    tolerance: z.number().positive().optional(),
    /** Under log, min_effect is a fraction of the base; under linear it is in the metric's units. */
    scale: scaleSchema,
    /** Two runs need not be equal: a gain counts if both show at least min_effect. Only for probes. */
    noisy: z.literal(true).optional(),
  }),
  /** Pairs, evaluated after each one (docs/deciding.md, When it stops). `pairs` limits one job. */
  z.strictObject({
    rule: z.literal('paired'),
    /** The metrics that can change the verdict, the primary first. */
    metrics: z.array(z.string()).min(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
    min_effect: z.number().positive(),
    null_effect: z.number().nonnegative(),
    screen: z.number().gt(1),
    fresh_runners: z.number().int().nonnegative(),
    /** True on the only machine: a new build in a new process group replaces the fresh runner. */
    single_machine: z.boolean(),
    /** Absent: a shown gain is enough. */
    keep_check: keepCheckSchema.optional(),
    /** Each task is a pair of its own, and pairs are read after whole jobs. */
    by_task: z.literal(true).optional(),
    terms: z.record(z.string(), pairedTermsSchema),
  }),
  /** A fixed number of pairs without a stopping rule, for calibration and for reported effects. */
  z.strictObject({
    rule: z.literal('pairs'),
    metrics: z.array(z.string()).min(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
    by_task: z.literal(true).optional(),
  }),
  /** A fixed number of pairs of the holdout's command, or as many as prove that it is deterministic. */
  z.strictObject({
    rule: z.literal('holdout'),
    command: z.string(),
    metrics: z.array(z.string()).length(1),
    scale: scaleSchema,
    pairs: z.number().int().positive(),
    /** The loss that is still allowed: under log a fraction of the base, under linear in the metric's units. */
    margin: z.number().nonnegative(),
    /** The harness is deterministic, so two equal pairs suffice. */
    exact: z.boolean(),
    /** Null: the command finds its own data. */
    source: holdoutSourceSchema.nullable(),
  }),
  /** ce stability: samples of the candidate against `baseline` (null: the base side is measured too). */
  z.strictObject({ rule: z.literal('stability'), baseline: snapshotSchema.nullable() }),
  /** Gates and one run of the candidate alone (for a sync, and for the incumbent's own baseline). */
  z.strictObject({ rule: z.literal('alone') }),
])
export type StopRule = z.infer<typeof stopRuleSchema>
export type HoldoutRule = Extract<StopRule, { rule: 'holdout' }>

export const orderTermsSchema = z.strictObject({
  purpose: orderPurposeSchema,
  round: z.number().int().nonnegative(),
  /** The number of this job within the progression test. Its jobs run in parallel where runners are available. */
  part: z.number().int().nonnegative().optional(),
  attempt: z.number().int().positive(),
  spec_sha256: digestSchema,
  harness: digestSchema,
  /** Spec, harness, gates and everything outside scope.mutable come from this commit (invariant 4). */
  pin: pointSchema,
  base: pointSchema,
  /** At most four ideas, or one candidate for each probe. */
  candidates: z.array(orderCandidateSchema).max(PROBE_NAMES.length),
  /** 256 random bits that were unpredictable before. `drawTurns` and `drawSeed` derive the sequence from them. */
  coins: z.string().regex(/^[0-9a-f]{64}$/),
  /** The pairs that earlier jobs measured of the same two trees, by candidate. */
  earlier_jobs: z.record(z.string(), z.array(pairJobSchema)),
  resumes: resumptionSchema.optional(),
  /** The tasks of the suite, of which every block runs one, and the runs of each in one pass. */
  suite: z.strictObject({ tasks: z.array(z.string()).min(1), seeds: z.number().int().positive() }).optional(),
  /** Only for probes: what every machine builds the same trees from. `metrics`: of the base, to be forged. */
  probing: z
    .strictObject({
      version: z.number().int().positive(),
      metrics: z.record(z.string(), readingSchema),
    })
    .optional(),
  stop: stopRuleSchema,
  /** Reserved for the models that are asked where it is measured: the cost that counts when its run leaves none. */
  may_cost_usd: z.number().positive().optional(),
  deadline: z.iso.datetime(),
})
export type OrderTerms = z.infer<typeof orderTermsSchema>
/** The id of an order is the id of the event that issued it. */
export type Order = OrderTerms & { id: string }

export type ReportingPurpose = Extract<OrderPurpose, 'effect' | 'progression' | 'regression'>

/** The fixed number of jobs for the total improvement, and the most jobs that watch a landing. */
export const EFFECT_JOBS = 8

/** Identifies the subject of an order that belongs to no experiment, the same for all attempts. */
export function buildOrderSubject(
  order: Pick<OrderTerms, 'purpose' | 'base' | 'candidates' | 'part'>,
): string {
  const { purpose, base, candidates, part } = order
  if (purpose === 'calibration' || purpose === 'probe') return purpose
  const head = candidates[0]?.head ?? base.commit
  if (part !== undefined) return `${purpose} ${head} job ${part}`
  // A landing is watched on changing trees: only the tree before it is constant.
  return `${purpose} ${purpose === 'regression' ? base.commit : head}`
}

/** No landing depends on such an order. */
export function isReportingPurpose(purpose: OrderPurpose): purpose is ReportingPurpose {
  return purpose === 'effect' || purpose === 'progression' || purpose === 'regression'
}

/** True for orders whose items models score. Orders of gates alone need no judge, unless their score is stored. */
export function isJudgedOrder({ stop, purpose }: Pick<Order, 'stop' | 'purpose'>, spec: Spec): boolean {
  if (!isJudgedMetric(spec)) return false
  if (purpose === 'probe') return true
  if (stop.rule === 'alone')
    return spec.measurement.stability !== null || (spec.epochs !== null && purpose !== 'sync')
  return isPairRule(stop) || stop.rule === 'stability' || stop.rule === 'holdout'
}

/** Judged orders of one mean for each side: ce's rule, whose means may be stored, passes of epochs, and probes. */
export function isComparedByMeans({ stop }: Pick<Order, 'stop'>): boolean {
  return stop.rule === 'stability' || stop.rule === 'alone' || stop.rule === 'once'
}

export function isSingleMachineOrder({ stop }: Pick<Order, 'stop'>): boolean {
  return stop.rule === 'paired' && stop.single_machine
}

export function isPairRule(stop: StopRule): stop is Extract<StopRule, { rule: 'paired' | 'pairs' }> {
  return stop.rule === 'paired' || stop.rule === 'pairs'
}

/** Returns the metrics and the number of pairs that the order requests; empty when it requests none. */
export function toPairRequest({ id, stop, resumes }: Pick<Order, 'id' | 'stop' | 'resumes'>): PairRequest {
  if (!isPairRule(stop)) return { order: id, metrics: [], pairs: 0 }
  const { metrics, pairs, by_task: byTask = false } = stop
  return { order: id, metrics, pairs, byTask, begun: resumes?.pieces }
}

// Coins

type CoinTerms = Pick<OrderTerms, 'coins'>

interface ExecutionBlock {
  coins: number | 'warm-up'
  seed: number
  runs: Execution[]
}

/**
 * Invariant 10: the order's own coins determine the sequence in which the sides are built (`build`), given users
 * (`users`), warmed up and executed in each block, so that a report with another sequence can be rejected. Every
 * block has coins of its own, because the evidence requires blocks to be independent.
 */
export function drawTurns<T>(
  order: CoinTerms,
  block: number | 'build' | 'warm-up' | 'users',
  sides: readonly T[],
): T[] {
  let number = Number.parseInt(hashSha256(`${order.coins}:turns:${block}`).slice(0, 12), 16)
  const remaining = [...sides]
  const result: T[] = []
  while (remaining.length > 0) {
    result.push(...remaining.splice(number % remaining.length, 1))
    number = Math.floor(number / (remaining.length + 1))
  }
  return result
}

/** Both sides of a block share one seed; the next block has another one. */
export function drawSeed(order: CoinTerms, block: number): number {
  return Number.parseInt(hashSha256(`${order.coins}:${block}`).slice(0, 8), 16) % 2 ** 31
}

type SuiteTerms = Pick<OrderTerms, 'coins' | 'suite'>

/**
 * The task of a block; undefined without a suite. One pass runs each task `seeds` times, in an order that the coins
 * draw for every pass, so that no task always runs first.
 */
export function drawTask({ coins, suite }: SuiteTerms, block: number): string | undefined {
  if (suite === undefined) return undefined
  const { tasks, seeds } = suite
  const pass = Math.floor(block / (tasks.length * seeds))
  const runs = tasks.flatMap(task => Array.from({ length: seeds }, (_, seed) => ({ task, seed })))
  const drawn = runs
    .map(({ task, seed }) => ({ task, key: hashSha256(toCanonicalJson([coins, 'task', pass, task, seed])) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return drawn[block % runs.length]?.task
}

/** Returns the first block in the coins. An order that continues another one skips the blocks that had begun. */
export function getFirstBlock({ resumes }: Pick<Order, 'resumes'>): number {
  return resumes?.block ?? 0
}

/** True when the builds and executions of a report follow the drawn sequence and seeds. */
export function isFollowingCoins(order: Order, report: Report): boolean {
  const sides = listSides(order)
  return areBuildsFollowingCoins(order, report, sides) && areExecutionsFollowingCoins(order, report, sides)
}

/** Checks an interrupted run in the same way. Its last block, or its warm-up, may end after any side. */
export function isPartialFollowingCoins(order: Order, { report, begun }: PartialReport): boolean {
  const sides = listSides(order)
  if (!areBuildsFollowingCoins(order, report, sides)) return false
  const { executions } = report
  const blocks = begun?.block ?? listSamples(executions, 'base').length
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
  const block = getFirstBlock(order) + begun.block
  const drawn = drawTurns(order, block, begun.sides).slice(0, last.length)
  const seed = drawSeed(order, block)
  const task = drawTask(order, block)
  const actual = last.map(({ side }) => side)
  return (
    isSameSequence(actual, drawn) &&
    last.every(run => run.role === 'sample' && run.seed === seed && run.task === task)
  )
}

function areBuildsFollowingCoins(order: Order, report: Report, sides: readonly Side[]): boolean {
  const built = report.setups.filter(({ build }) => build === 0).map(({ side }) => side)
  const drawn = drawTurns(order, 'build', sides).filter(side => built.includes(side))
  return isSameSequence(built, drawn)
}

function areExecutionsFollowingCoins(
  order: Order,
  report: Pick<Report, 'executions'>,
  sides: readonly Side[],
): boolean {
  const blocks = groupBlocks(report.executions, getFirstBlock(order))
  const follow = blocks.every(({ coins, seed, runs }) => {
    const actual = runs.map(({ side }) => side)
    const drawn = drawTurns(
      order,
      coins,
      sides.filter(side => actual.includes(side)),
    )
    return (
      isSameSequence(actual, drawn) &&
      runs.every(run => run.seed === drawSeed(order, seed) && isDrawnTask(order, run, seed))
    )
  })
  // Blocks must not interleave: the two runs of a pair have to share the same time and the same load.
  const grouped = blocks.flatMap(({ runs }) => runs)
  const counted = report.executions.filter(({ role }) => role !== 'smoke')
  return follow && counted.every((run, index) => run === grouped[index])
}

/** The command of a holdout measures no task. */
function isDrawnTask(order: Order, { role, task }: Execution, block: number): boolean {
  return task === (role === 'holdout' ? undefined : drawTask(order, block))
}

/** A side's n-th sample belongs to block n. A repeat uses the seed of its sample and a sequence of its own. */
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

function listSides({ candidates }: Order): Side[] {
  return ['base', ...candidates.map(({ label }) => label)]
}

function isSameSequence(a: readonly Side[], b: readonly Side[]): boolean {
  return a.length === b.length && a.every((side, index) => side === b[index])
}
