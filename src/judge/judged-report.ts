import { z } from 'zod'
import { SCORED_ITEMS, SHARED_ITEMS, toConfirmedName } from '../decide/ce/judged.ts'
import { toCanonicalJson } from '../model/canonical-json.ts'
import { eventPayloads, type ScoreRecord } from '../model/event-schemas.ts'
import { digestSchema } from '../model/ids.ts'
import { drawSeed, drawTurns, isComparedByMeans, type Order } from '../model/order.ts'
import { probeLabelSchema } from '../model/probe.ts'
import type { Execution, JudgingUsage, Report } from '../model/report.ts'
import { orderSides, type PairSide, type ScoredSide } from './batch.ts'
import {
  collectScores,
  computeMeanScores,
  type CountedRecords,
  getJudgedKey,
  selectCountedRecords,
} from './evidence.ts'
import {
  markShortProbes,
  dropSharedItems,
  isProbeSide,
  type JudgingTask,
  listJudgedSides,
  PROBE_HALVES,
  type PrintedOrder,
  printedOrder,
} from './judging-task.ts'
import { computeLabelAgreement } from './labels.ts'
import type { Rubric } from './rubric.ts'

type ScoredTask = JudgingTask & { records: readonly ScoreRecord[]; cost: JudgingUsage }

export function buildJudgedReport(order: Order, printed: PrintedOrder, judged: ScoredTask): Report {
  const measured = markShortProbes(order, printed, judged.wanted)
  const executions = scoreExecutions(order, measured, judged)
  const { labels, records, rubric, judging } = judged
  if (labels.length === 0) return { ...measured, executions, judging: judged.cost }
  const { primary, scale } = rubric
  const agreement = computeLabelAgreement({ labels, records, judges: judging.judges, primary, scale })
  return { ...measured, executions, judging: { ...judged.cost, agreement } }
}

function scoreExecutions(order: Order, measured: Report, judged: ScoredTask): Execution[] {
  if (order.purpose === 'probe') return scoreProbes(order, measured, judged)
  return isComparedByMeans(order) ? scoreRuns(order, measured, judged) : scoreItems(order, measured, judged)
}

/**
 * Items take the place of runs: a block is one item, and its executions are the scores of both sides in the
 * drawn order. A judged report is therefore read, recorded, replayed and audited like any other. A harness
 * that ran once for every block keeps the other metrics of each run.
 */
function scoreItems(order: Order, measured: Report, judged: ScoredTask): Execution[] {
  const label = order.candidates[0]?.label ?? 'base'
  const means = new Map(judged.singletons.map(({ side }) => [side, computeSingletonMean(judged, side)]))
  const counted = selectCountedRecords(judged.records)
  return Array.from({ length: judged.wanted }, (_, block) => block).flatMap(block =>
    orderSides(judged.judging, 0, block).flatMap((side): Execution[] => {
      const runs = measured.executions.filter(run => run.side === (side === 'base' ? 'base' : label))
      const run = runs[block] ?? runs[0]
      if (run === undefined) return []
      const wall_seconds = run.wall_seconds / (runs.length > 1 ? 1 : judged.wanted)
      const own = { ...run, wall_seconds, seed: drawSeed(order, block) }
      const singletons = means.get(side) ?? {}
      return [toScoredExecution(judged, { run: own, block, side, singletons, counted })]
    }),
  )
}

interface ItemExecution {
  run: Execution
  block: number
  side: PairSide
  singletons: Record<string, number | null>
  counted: CountedRecords
}

function toScoredExecution(
  judged: ScoredTask,
  { run, block, side, singletons, counted }: ItemExecution,
): Execution {
  const { artifacts: _, tasks: _own, ...common } = run
  const id = judged.pairs[block]?.[side].id
  if (id === undefined)
    return { ...common, status: 'score-failed', metrics: {}, error: 'every item was scored before' }
  const given = collectScores(judged, counted, { block, side })
  const scores = computeMeanScores(given)
  const tasks = toScoredTasks(id, given, judged.rubric)
  if (scores !== null) return { ...common, tasks, metrics: { ...run.metrics, ...singletons, ...scores } }
  return { ...common, tasks, status: 'score-failed', metrics: {}, error: `item ${id} has no score` }
}

/** A mean by which nothing is decided, so that singletons without a score are left out. */
function computeSingletonMean(judged: ScoredTask, side: ScoredSide): Record<string, number | null> {
  const { primary } = judged.rubric
  const counted = selectCountedRecords(judged.records)
  const values = judged.singletons
    .filter(each => each.side === side)
    .flatMap(({ items, side: own }) =>
      items.map(({ id }) => ({ item: id, side: `${own}-singleton` as const })),
    )
    .flatMap(about => {
      const given = collectItemScores(counted, { ...about, judges: judged.judging.judges })
      return computeMeanScores(given)?.[primary] ?? []
    })
  return { [`singleton_${primary}`]: computeMean(values) }
}

/** The ledger does not keep the order of items, and a sum of fractions depends on it in its last digit. */
function computeMean(values: readonly number[]): number | null {
  const sum = values.toSorted((a, b) => a - b).reduce((total, value) => total + value, 0)
  return values.length === 0 ? null : sum / values.length
}

/** ce's rule: every run of a side has the means of the side's sample. */
function scoreRuns(order: Order, measured: Report, judged: ScoredTask): Execution[] {
  const sides = new Map(listJudgedSides(order).map(({ label, side }) => [label, side]))
  const counted = selectCountedRecords(judged.records)
  const first = new Set<string>()
  return measured.executions.map((run): Execution => {
    const side = sides.get(run.side)
    if (side === undefined || run.role !== 'sample') return run
    const ids = judged.samples.map(
      each => each.find(own => own.side === side)?.items.map(({ id }) => id) ?? [],
    )
    const scored = computeSideScores(counted, { ids, side, ...selectScoreRules(judged) })
    const isFirst = !first.has(run.side)
    first.add(run.side)
    const own = isFirst ? scored : { ...scored, tasks: undefined }
    return addSideScores(run, own, computeSingletons(judged, side))
  })
}

/** Halves of one sample take the place of two runs: a lucky half is no gain. */
function scoreProbes(order: Order, measured: Report, judged: ScoredTask): Execution[] {
  const counted = selectCountedRecords(judged.records)
  const scoreHalf = (run: Execution, half: number): Execution => {
    const sample = judged.samples[0]?.find(({ side }) => side === run.side)
    if (sample === undefined || run.role !== 'sample') return run
    const { side, items } = sample
    // The base may print one item only.
    const own = items.length < PROBE_HALVES ? items : items.filter((_, at) => at % PROBE_HALVES === half)
    const ids = [own.map(({ id }) => id)]
    const shared = {
      [SHARED_ITEMS]:
        own.length - dropSharedItems(judged.samples[0] ?? [], { side, items: own }).items.length,
    }
    return addSideScores(run, computeSideScores(counted, { ids, side, ...selectScoreRules(judged) }), shared)
  }
  const sides = judged.samples[0]?.map(({ side }) => side) ?? []
  const again = drawTurns(order, 1, sides).flatMap((side): Execution[] => {
    const run = measured.executions.find(each => each.side === side && each.role === 'sample')
    return run === undefined ? [] : [{ ...scoreHalf(run, 1), role: 'repeat', wall_seconds: 0 }]
  })
  return [...measured.executions.map(run => scoreHalf(run, 0)), ...again]
}

type AddedScores = Omit<ReturnType<typeof computeSideScores>, 'tasks'> & Pick<Execution, 'tasks'>

function addSideScores(
  run: Execution,
  { metrics, tasks, feedback, missing }: AddedScores,
  beside = {},
): Execution {
  const { tasks: _, artifacts: _files, ...common } = run
  return {
    ...common,
    ...(tasks === undefined ? {} : { tasks, ...feedback }),
    ...(missing === null ? {} : { error: `item ${missing} has no score` }),
    metrics: { ...omitKeys(run.metrics, Object.keys(metrics)), ...beside, ...metrics },
  }
}

function computeSingletons(judged: ScoredTask, side: ScoredSide): Record<string, number | null> {
  return judged.singletons.some(each => each.side === side) ? computeSingletonMean(judged, side) : {}
}

function selectScoreRules({ rubric, deciding, judging, direction }: ScoredTask): ScoreRules {
  const { primary, others } = rubric
  return { primary, direction, deciding, fields: [primary, ...others], judges: judging.judges }
}

function omitKeys<T>(record: Readonly<Record<string, T>>, keys: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}

interface ScoreRules {
  primary: string
  direction: JudgingTask['direction']
  fields: readonly string[]
  /** Metrics that can change a verdict: a mean of them has to be of all items. */
  deciding: readonly string[]
  judges: number
}

/** So many of the lowest scored items keep their feedback, which bounds its size. */
const MOST_WITH_FEEDBACK = 30

/**
 * The means of one side's samples. An item without a score leaves a metric that decides without a value: a program that
 * silences the judge of its worst items must not gain by it (invariant 5).
 */
function computeSideScores(
  counted: CountedRecords,
  {
    ids,
    side,
    primary,
    direction,
    fields,
    deciding,
    judges,
  }: ScoreRules & { ids: readonly string[][]; side: ScoredSide },
) {
  const metrics: Record<string, number | null> = { [SCORED_ITEMS]: ids[0]?.length ?? 0 }
  const tasks: NonNullable<Execution['tasks']> = {}
  const written: { item: string; rank: number; text: string }[] = []
  let missing: string | null = null
  for (const [at, sample] of ids.entries()) {
    const scores = sample.map(item => {
      const given = collectItemScores(counted, { item, side, judges })
      Object.assign(tasks, toScoredTasks(at === 0 ? item : `${item}${CONFIRMING}`, given, { primary }))
      const mean = computeMeanScores(given)
      const score = mean?.[primary] ?? null
      const text = joinFeedback(counted, { item, side, judges })
      if (at === 0 && score !== null && text !== '')
        written.push({ item, rank: direction === 'maximize' ? score : -score, text })
      return { item, mean }
    })
    missing ??= scores.find(({ mean }) => mean === null)?.item ?? null
    const values = (field: string) => scores.flatMap(({ mean }) => mean?.[field] ?? [])
    const isWhole = (field: string) => values(field).length === sample.length
    if (at > 0) metrics[toConfirmedName(primary)] = isWhole(primary) ? computeMean(values(primary)) : null
    else
      for (const field of fields)
        metrics[field] = deciding.includes(field) && !isWhole(field) ? null : computeMean(values(field))
  }
  const lowest = written
    .toSorted((a, b) => a.rank - b.rank || (a.item < b.item ? -1 : 1))
    .slice(0, MOST_WITH_FEEDBACK)
    .map(({ item, text }) => [item, text])
  const feedback = lowest.length === 0 ? {} : { feedback: Object.fromEntries(lowest) }
  return { metrics, tasks, missing, feedback }
}

function joinFeedback(
  counted: CountedRecords,
  { item, side, judges }: Pick<ScoreRecord, 'item' | 'side'> & { judges: number },
): string {
  const all = Array.from({ length: judges }, (_, judge) => {
    return counted.get(getJudgedKey({ judge, item, side }))?.feedback ?? ''
  })
  return [...new Set(all)].filter(text => text !== '').join(' / ')
}

const CONFIRMING = ' (confirming)'

function collectItemScores(
  counted: CountedRecords,
  { item, side, judges }: Pick<ScoreRecord, 'item' | 'side'> & { judges: number },
): ScoreRecord['scores'][] {
  return Array.from({ length: judges }, (_, judge) => {
    const find = (from: ScoreRecord['side']) => counted.get(getJudgedKey({ judge, item, side: from }))
    // Items that a probe prints like the base were scored there.
    return (find(side) ?? (isProbeSide(side) ? find('base') : undefined))?.scores ?? null
  })
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
  order: Pick<Order, 'stop'>,
  { executions }: Pick<Report, 'executions'>,
  records: readonly ScoreRecord[],
  rules: ScoreRules,
): string | null {
  const counted = selectCountedRecords(records)
  if (isComparedByMeans(order)) return explainUnrecordedMeans(executions, counted, rules)
  const seen = new Set<string>()
  for (const { side, tasks = {}, metrics } of executions) {
    const [task] = Object.keys(tasks)
    const id = task === undefined ? undefined : toItemId(task, rules)
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

function toItemId(task: string, { judges }: Pick<ScoreRules, 'judges'>): string {
  return judges === 1 ? task : task.replace(/ \(judge 1\)$/, '')
}

/** The first run of a side names its items, and every run has their means. Of probes, each run has items of its own. */
function explainUnrecordedMeans(
  executions: readonly Execution[],
  counted: CountedRecords,
  rules: ScoreRules,
): string | null {
  const means = new Map<string, ReturnType<typeof computeSideScores>>()
  const isProbed = executions.some(({ side }) => isProbeSide(side))
  const isScored = ({ role, metrics }: Execution) =>
    isProbed ? Object.hasOwn(metrics, rules.primary) : role === 'sample'
  for (const run of executions.filter(isScored)) {
    const { side, tasks = {}, metrics, role, feedback } = run
    const key = isProbed ? `${side} ${role}` : side
    const names = Object.keys(tasks)
      .filter(task => rules.judges === 1 || task.endsWith(' (judge 1)'))
      .map(task => toItemId(task, rules))
    const ids = [
      names.filter(name => !name.endsWith(CONFIRMING)),
      names.flatMap(name => (name.endsWith(CONFIRMING) ? name.slice(0, -CONFIRMING.length) : [])),
    ].filter((sample, at) => at === 0 || sample.length > 0)
    const from = probeLabelSchema.safeParse(side).data ?? (side === 'base' ? 'base' : 'candidate')
    const known = means.get(key) ?? computeSideScores(counted, { ids, side: from, ...rules })
    const isFirst = !means.has(key)
    means.set(key, known)
    const isNamed =
      !isFirst ||
      toCanonicalJson([tasks, feedback ?? null]) ===
        toCanonicalJson([known.tasks, known.feedback.feedback ?? null])
    const areEqual = Object.entries(known.metrics).every(([name, value]) => metrics[name] === value)
    if (!(isNamed && areEqual))
      return `the scores of ${side} (${role}) are not the recorded answers of its judges`
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
