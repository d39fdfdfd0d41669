import { z } from 'zod'
import { findFailure } from '../decide/failures.ts'
import { item } from '../measure/output/harness-output.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { eventPayloads, type ScoreRecord } from '../model/event-schemas.ts'
import { digestSchema } from '../model/ids.ts'
import { drawSeed, isReportingPurpose, type Order } from '../model/order.ts'
import { MAX_REPORT_BYTES } from '../model/job-file.ts'
import {
  type Execution,
  type JudgingUsage as Cost,
  markSideBroken,
  type Report,
  reportSchema,
} from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { countSampleItems } from '../spec/spec-facts.ts'
import { drawFreshSample, type ItemPair, type JudgingPlan, orderSides, type PairSide } from './batch.ts'
import { collectScores, computeMeanScores, getJudgedKey, selectCountedRecords } from './evidence.ts'
import { buildRubric, type JudgeSettings, type Rubric } from './rubric.ts'

/** A measured order of a judged campaign: the report so far, and the items to score. */
export const printedOrder = z.strictObject({
  report: reportSchema,
  /** Keyed by side. */
  items: z.record(z.string(), z.array(item)),
})
export type PrintedOrder = z.infer<typeof printedOrder>

/** One sample screens, one confirms. */
export const SAMPLES_TO_KEEP = 2

export interface JudgingTask {
  judge: JudgeSettings
  rubric: Rubric
  /** Fewer than `wanted` if too few items are left that were not scored before. */
  pairs: ItemPair[]
  wanted: number
  judging: JudgingPlan
}

type JudgedOrder = { order: Order; spec: Spec }

/**
 * Returns the report itself if there is nothing to judge: the run failed, or too few items are on both sides
 * (invariant 5).
 */
export function prepareJudging(
  judgedOrder: JudgedOrder,
  { report: measured, items }: PrintedOrder,
): JudgingTask | Report {
  const { order, spec } = judgedOrder
  const { primary, judge } = spec.metric
  const label = order.candidates[0]?.label
  if (judge === null || label === undefined || measured.runner_error !== null) return measured
  if (findFailure({ spec, report: measured, label, pairs: true }) !== null) return measured
  const [base, candidate] = [items['base'] ?? [], items[label] ?? []]
  const wanted = countSampleItems(judge)
  const large = rejectTooLarge(measured, wanted)
  if (large !== null) return large
  const { sample_size: sampleSize, stratification } = judge
  const seeds = selectSeeds(judgedOrder)
  const { pairs } = drawFreshSample(base, candidate, { sampleSize, stratification, seeds })
  const counts = { wanted, base: base.length, pairs: pairs.length }
  if (base.length < SAMPLES_TO_KEEP * wanted || (seeds.length === 1 && pairs.length < wanted))
    return rejectTooFew(order, measured, counts)
  return {
    judge,
    rubric: buildRubric({ primary, judge }),
    pairs,
    wanted,
    judging: { coins: order.coins, batchSize: judge.batch_size, judges: judge.judges },
  }
}

/**
 * The spec's sample first, then confirming samples of other items. A measurement for reporting draws again
 * from all items, so that it does not report a gain on the items that selected the candidate.
 */
function selectSeeds({ order, spec }: JudgedOrder): [number, ...number[]] {
  const { judge } = spec.metric
  if (judge === null || isReportingPurpose(order.purpose))
    return [Number.parseInt(hashSha256(`${order.coins}:sample`).slice(0, 8), 16)]
  const before = Object.values(order.earlier_jobs)[0]?.length ?? 0
  const confirming = judge.confirmation_seed ?? judge.sample_seed + 1
  return [judge.sample_seed, ...Array.from({ length: before }, () => confirming)]
}

/**
 * The report repeats a run's metrics for each item. A program that prints too many metrics is broken; writing
 * the report must not fail.
 */
function rejectTooLarge(measured: Report, wanted: number): Report | null {
  for (const { side, metrics } of measured.executions) {
    const bytes = new TextEncoder().encode(JSON.stringify(metrics)).length * wanted
    const error = `its metrics take ${bytes} bytes in a report of ${wanted} items; the limit is ${MAX_REPORT_BYTES}`
    if (bytes > MAX_REPORT_BYTES) return markSideBroken(measured, side, error)
  }
  return null
}

/**
 * A side with too few items is broken. A smaller sample would leave out the items that one side did not
 * print.
 */
function rejectTooFew(
  order: Order,
  measured: Report,
  { wanted, base, pairs }: Record<'wanted' | 'base' | 'pairs', number>,
): Report {
  const least = SAMPLES_TO_KEEP * wanted
  const short = base < least
  const side = short ? 'base' : order.candidates[0]?.label
  const error = short
    ? `it prints ${base} items, but two samples without a common item need ${least} (metric.judge.sample_size)`
    : `both sides print ${pairs} of the requested items, but a sample needs ${wanted} (metric.judge.sample_size)`
  return markSideBroken(measured, side, error)
}

/**
 * Items take the place of runs: a block is one item, and its executions are the scores of both sides in the
 * drawn order. A judged report is therefore read, recorded, replayed and audited like any other.
 */
export function buildJudgedReport(
  order: Order,
  { report: measured }: PrintedOrder,
  judged: JudgingTask & { records: readonly ScoreRecord[]; cost: Cost },
): Report {
  const label = order.candidates[0]?.label ?? 'base'
  const runs = new Map(measured.executions.map(run => [run.side, run]))
  const executions = Array.from({ length: judged.wanted }, (_, block) => block).flatMap(block =>
    orderSides(judged.judging, 0, block).flatMap((side): Execution[] => {
      const run = runs.get(side === 'base' ? 'base' : label)
      return run === undefined
        ? []
        : [toScoredExecution(judged, { run, block, side, seed: drawSeed(order, block) })]
    }),
  )
  return { ...measured, executions, judging: judged.cost }
}

function toScoredExecution(
  judged: JudgingTask & { records: readonly ScoreRecord[] },
  { run, block, side, seed }: { run: Execution; block: number; side: PairSide; seed: number },
): Execution {
  const { artifacts: _, tasks: _own, ...own } = run
  const common = { ...own, seed, wall_seconds: run.wall_seconds / judged.wanted }
  const id = judged.pairs[block]?.id
  if (id === undefined)
    return { ...common, status: 'score-failed', metrics: {}, error: 'every item was scored before' }
  const given = collectScores(judged, block, side)
  const scores = computeMeanScores(given)
  const tasks = toScoredTasks(id, given, judged.rubric)
  if (scores !== null) return { ...common, tasks, metrics: { ...run.metrics, ...scores } }
  return { ...common, tasks, status: 'score-failed', metrics: {}, error: `item ${id} has no score` }
}

function toScoredTasks(
  id: string,
  given: readonly ScoreRecord['scores'][],
  { primary }: Pick<Rubric, 'primary'>,
): NonNullable<Execution['tasks']> {
  const name = (judge: number) => (given.length === 1 ? id : `${id} (judge ${judge + 1})`)
  return Object.fromEntries(given.map((each, judge) => [name(judge), each?.[primary] ?? null]))
}

/** Compares the scores of a report with the recorded answers. Returns the first that differs. */
export function explainUnrecordedScores(
  { executions }: Pick<Report, 'executions'>,
  records: readonly ScoreRecord[],
  rules: { primary: string; judges: number },
): string | null {
  const counted = selectCountedRecords(records)
  const seen = new Set<string>()
  for (const { side, tasks = {}, metrics } of executions) {
    const [task] = Object.keys(tasks)
    const id = rules.judges === 1 ? task : task?.replace(/ \(judge 1\)$/, '')
    if (id === undefined && !Object.hasOwn(metrics, rules.primary)) continue
    if (id === undefined) return `a score of ${side} names no item`
    const [own, other] = side === 'base' ? (['base', 'candidate'] as const) : (['candidate', 'base'] as const)
    const given = Array.from({ length: rules.judges }, (_, judge) => {
      const find = (from: PairSide) => counted.get(getJudgedKey({ judge, item: id, side: from }))
      // Where both sides print the same, judges see one of them.
      return (find(own) ?? find(other))?.scores ?? null
    })
    const scores = computeMeanScores(given)
    const areMetricsEqual =
      scores === null
        ? !Object.hasOwn(metrics, rules.primary)
        : Object.entries(scores).every(([field, score]) => metrics[field] === score)
    const isRecorded =
      areMetricsEqual && toCanonicalJson(tasks) === toCanonicalJson(toScoredTasks(id, given, rules))
    if (!isRecorded) return `the score of item ${id} of ${side} is not the recorded answer of its judges`
    if (seen.has(`${side} ${id}`)) return `item ${id} of ${side} counts twice`
    seen.add(`${side} ${id}`)
  }
  return null
}

// Files between jobs

/** An order to score. The tick that finds the items hands them to the judge job of its run. */
export const itemsToJudgeSchema = z.strictObject({
  key: z.string(),
  order: digestSchema,
  printed: printedOrder,
})
export type ItemsToJudge = z.output<typeof itemsToJudgeSchema>

/** The scores of one order, as the judge job hands them over. */
export const givenScoresSchema = z.strictObject(eventPayloads.judged)
export type GivenScores = z.output<typeof givenScoresSchema>
