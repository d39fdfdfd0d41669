import { z } from 'zod'
import { findFailure } from '../decide/failures.ts'
import { listDecisiveMetrics } from '../decide/metrics.ts'
import { type Item, item } from '../measure/output/harness-output.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import { MAX_REPORT_BYTES } from '../model/job-file.ts'
import { isComparedByMeans, isReportingPurpose, type Order } from '../model/order.ts'
import { probeLabelSchema, toProbeLabel } from '../model/probe.ts'
import { markSideBroken, type Report, reportSchema } from '../model/report.ts'
import { selectProbeGates } from '../probes/probe-rule.ts'
import type { Spec } from '../spec/schema.ts'
import { countJudges, countSampleItems } from '../spec/spec-facts.ts'
import {
  type Batch,
  buildBatches,
  buildLabelBatches,
  buildSideBatches,
  buildSingletonBatches,
  drawFreshSample,
  drawRandomPairs,
  drawSideSample,
  type ItemPair,
  type JudgingPlan,
  type PairSide,
  type ScoredSide,
  type SideItems,
} from './batch.ts'
import { isCheckedWithLabels, type Label, LABELS } from './labels.ts'
import { buildRubric, buildSingletonRubric, type JudgeSettings, type Rubric } from './rubric.ts'

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
  direction: Spec['metric']['primary']['direction']
  /** Metrics that can change a verdict. */
  deciding: string[]
  rubric: Rubric
  /** Null: no singletons are scored. */
  singletonRubric: Rubric | null
  /** Fewer than `wanted` if too few items are left that were not scored before. Empty under ce's rule. */
  pairs: ItemPair[]
  wanted: number
  /** Where means are compared: each side's own sample, then the confirming one of ce's rule. */
  samples: SideItems[][]
  singletons: SingletonSample[]
  labels: Label[]
  judging: JudgingPlan
}

interface SingletonSample extends SideItems<PairSide> {
  summaries: string | null
}

type JudgedOrder = { order: Order; spec: Spec }

/** A task with everything but the items that are scored. */
type JudgingFrame = Omit<JudgingTask, 'pairs' | 'samples' | 'singletons' | 'labels'>

/**
 * Returns the report itself if there is nothing to judge: the run failed, or too few items are on both sides
 * (invariant 5).
 */
export function prepareJudging(judgedOrder: JudgedOrder, printed: PrintedOrder): JudgingTask | Report {
  const { order, spec } = judgedOrder
  const { primary, judge } = spec.metric
  if (judge === null) return printed.report
  const wanted = countWantedItems(order, judge)
  const measured = markShortProbes(order, printed, wanted)
  if (measured.runner_error !== null || isFailed(judgedOrder, measured)) return measured
  const sides = listSidesToScore(judgedOrder, measured)
  if (sides.length === 0) return measured
  const large = rejectTooLarge(measured, wanted)
  if (large !== null) return large
  const frame: JudgingFrame = {
    judge,
    direction: primary.direction,
    deciding: listDecisiveMetrics(spec),
    rubric: { ...buildRubric({ primary, judge }), asksFeedback: isFeedbackAsked(judgedOrder) },
    singletonRubric: order.purpose === 'probe' ? null : buildSingletonRubric({ primary, judge }),
    wanted,
    judging: { coins: order.coins, batchSize: judge.batch_size, judges: countJudges(judge) },
  }
  const drawn = isComparedByMeans(order)
    ? drawSideSamples(frame, printed, { sides, seeds: selectSideSeeds(judgedOrder, judge) })
    : drawItemPairs(frame, judgedOrder, printed)
  if ('executions' in drawn) return drawn
  const labels = (printed.items[LABELS] ?? []).flatMap(({ id, content, score }) =>
    score === undefined ? [] : [{ id, content, score }],
  )
  const missing = judge.calibration !== null && isCheckedWithLabels(judgedOrder) && labels.length === 0
  if (missing)
    return markSideBroken(measured, 'base', 'no labels were read (metric.judge.calibration.labels)')
  return { ...frame, ...drawn, singletons: drawSingletons(frame, printed, sides), labels }
}

function countWantedItems({ purpose, stop }: Order, judge: JudgeSettings): number {
  if (stop.rule === 'holdout') return stop.pairs
  const wanted = countSampleItems(judge)
  return purpose === 'probe' ? Math.max(PROBE_HALVES, wanted) : wanted
}

interface LabelledSide {
  label: string
  side: ScoredSide
}

/** The base, where the order measures it, and its candidates: several probes, or one idea. */
export function listJudgedSides({ stop, candidates, purpose }: Order): LabelledSide[] {
  if (purpose === 'probe') {
    const probes = candidates.flatMap(({ label }) => probeLabelSchema.safeParse(label).data ?? [])
    return [{ label: 'base', side: 'base' }, ...probes.map(label => ({ label, side: label }))]
  }
  const label = candidates[0]?.label
  const candidate = label === undefined ? [] : [{ label, side: 'candidate' as const }]
  const isAlone = label !== undefined && (stop.rule === 'alone' || isStoredBaseline(stop))
  return isAlone ? candidate : [{ label: 'base', side: 'base' }, ...candidate]
}

function isStoredBaseline(stop: Order['stop']): boolean {
  return stop.rule === 'stability' && stop.baseline !== null
}

/** Only epochs read it. Means that are compared with each other are of answers to the same question. */
function isFeedbackAsked({ order, spec }: JudgedOrder): boolean {
  return spec.epochs !== null && isComparedByMeans(order) && order.purpose !== 'probe'
}

function isFailed({ order, spec }: JudgedOrder, report: Report): boolean {
  if (order.stop.rule === 'holdout')
    return report.tampered !== null || report.executions.some(({ status }) => status !== 'ok')
  // The base of probes runs its gates last, and not all of them.
  if (order.purpose === 'probe')
    return findFailure({ spec: { ...spec, gates: [] }, report, label: 'base' }) !== null
  const label = order.candidates[0]?.label ?? 'base'
  return findFailure({ spec, report, label, pairs: !isComparedByMeans(order) }) !== null
}

// Probes

/** A gain of a probe counts if both halves of its sample show it. */
export const PROBE_HALVES = 2

/** A mean over fewer items is no gain, so a probe that prints too few is broken. */
export function markShortProbes(
  { purpose, candidates }: Order,
  { report, items }: PrintedOrder,
  wanted: number,
): Report {
  if (purpose !== 'probe') return report
  const least = Math.min(wanted, selectItems(items['base']).length)
  return candidates.reduce((broken, { label }) => {
    const count = selectItems(items[label]).length
    if (items[label] === undefined || count >= least) return broken
    return markSideBroken(broken, label, `it prints ${count} items, and a sample has ${least}`)
  }, report)
}

/** Without those probes that rules stop, or that no score is about: no model is paid for them. */
function listSidesToScore({ order, spec }: JudgedOrder, report: Report): LabelledSide[] {
  const sides = listJudgedSides(order)
  if (order.purpose !== 'probe') return sides
  const gated = selectProbeGates(spec)
  const scored = sides.filter(
    ({ side }) =>
      side === 'base' ||
      (side !== toProbeLabel('remember') && findFailure({ spec: gated, report, label: side }) === null),
  )
  return scored.length > 1 ? scored : []
}

/** An item that a probe prints as the base does shares its score. */
export function dropSharedItems(sample: readonly SideItems[], { side, items }: SideItems): SideItems {
  if (!isProbeSide(side)) return { side, items }
  const base = new Map(sample.find(each => each.side === 'base')?.items.map(item => [item.id, item.content]))
  return { side, items: items.filter(({ id, content }) => base.get(id) !== content) }
}

export function isProbeSide(side: string): boolean {
  return probeLabelSchema.safeParse(side).success
}

// Samples of pairs

function drawItemPairs(
  { judge, wanted }: JudgingFrame,
  judgedOrder: JudgedOrder,
  { report: measured, items }: PrintedOrder,
): Report | Pick<JudgingTask, 'pairs' | 'samples'> {
  const { order } = judgedOrder
  const label = order.candidates[0]?.label ?? ''
  const [base, candidate] = [selectItems(items['base']), selectItems(items[label])]
  const { stratification } = judge
  const seeds = selectSeeds(judgedOrder)
  const least = order.stop.rule === 'holdout' ? 1 : SAMPLES_TO_KEEP * wanted
  const isRandom = isMatchedAtRandom(judge, { base, candidate, least })
  const { pairs } = isRandom
    ? { pairs: drawRandomPairs(base, candidate, selectRandomSample(judgedOrder, { wanted, stratification })) }
    : drawFreshSample(base, candidate, { sampleSize: wanted, stratification, seeds })
  const counts = { wanted, least, base: base.length, pairs: pairs.length }
  if (base.length < least || (order.stop.rule !== 'holdout' && seeds.length === 1 && pairs.length < wanted))
    return rejectTooFew(order, measured, counts)
  return { pairs, samples: [] }
}

/**
 * Items such as clusters have other ids on the other side, or none in common that mean the same. A candidate
 * that only leaves items out is compared by those it has.
 */
function isMatchedAtRandom(
  { items }: JudgeSettings,
  { base, candidate, least }: { base: readonly Item[]; candidate: readonly Item[]; least: number },
): boolean {
  if (items !== 'auto') return items === 'own'
  const known = new Set(base.map(({ id }) => id))
  const matched = candidate.filter(({ id }) => known.has(id)).length
  return matched < least && matched < candidate.length
}

/**
 * The event that issued the first order of a comparison gives the seed: no program could know it when it was
 * written. Later jobs continue its draw, so that samples share no item.
 */
function selectRandomSample(
  { order, spec }: JudgedOrder,
  { wanted, stratification }: { wanted: number; stratification: JudgeSettings['stratification'] },
) {
  const earlier = isReportingPurpose(order.purpose) ? [] : (Object.values(order.earlier_jobs)[0] ?? [])
  const seed = `${spec.metric.judge?.sample_seed ?? 0}:${earlier[0]?.order ?? order.id}`
  return { sampleSize: wanted, stratification, seed, sample: earlier.length }
}

/**
 * The spec's sample first, then confirming samples of other items. A measurement for reporting draws again
 * from all items, so that it does not report a gain on the items that selected the candidate.
 */
function selectSeeds({ order, spec }: JudgedOrder): [number, ...number[]] {
  const { judge } = spec.metric
  if (judge === null || isReportingPurpose(order.purpose) || order.stop.rule === 'holdout')
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
  { wanted, least, base, pairs }: Record<'wanted' | 'least' | 'base' | 'pairs', number>,
): Report {
  const short = base < least
  const side = short ? 'base' : order.candidates[0]?.label
  const error = short
    ? `it prints ${base} items, but two samples without a common item need ${least} (metric.judge.sample_size)`
    : `both sides print ${pairs} of the requested items, but a sample needs ${wanted} (metric.judge.sample_size)`
  return markSideBroken(measured, side, error)
}

function selectItems(printed: readonly Item[] = [], kind?: Item['kind']): Item[] {
  return printed.filter(item => item.kind === kind)
}

// Samples of each side by itself

/**
 * ce's rule: the seed of the spec, and with a confirmation_seed a second sample of other items. A pass of an epoch has a
 * seed of its own: the items that made winnow keep an update flatter it. It is the same in every pass, so that passes
 * differ by the texts and by what scores them, and not by their items.
 */
function selectSideSeeds(
  { order, spec: { measurement } }: JudgedOrder,
  { sample_seed, confirmation_seed }: JudgeSettings,
): [string, ...string[]] {
  if (order.purpose === 'probe') return [`${sample_seed}:probes`]
  if (measurement.stability === null) return [`${sample_seed}:epochs`]
  return [String(sample_seed), ...(confirmation_seed === null ? [] : [String(confirmation_seed)])]
}

/** Each side is sampled by itself. A side that prints fewer items shows all of them. */
function drawSideSamples(
  { judge: { stratification }, wanted }: JudgingFrame,
  { report: measured, items }: PrintedOrder,
  { sides, seeds }: { sides: readonly LabelledSide[]; seeds: readonly string[] },
): Report | Pick<JudgingTask, 'pairs' | 'samples'> {
  const samples: SideItems[][] = seeds.map(() => [])
  for (const { label, side } of sides) {
    const left = new Set(selectItems(items[label]))
    for (const [at, seed] of seeds.entries()) {
      const drawn = drawSideSample([...left], { sampleSize: wanted, stratification, seed })
      for (const item of drawn) left.delete(item)
      samples[at]?.push({ side, items: drawn })
      const what = at === 0 ? 'it prints no items' : 'it prints no items for a confirming sample'
      if (drawn.length === 0) return markSideBroken(measured, label, `${what} (metric.judge.sample_size)`)
    }
  }
  return { pairs: [], samples }
}

function drawSingletons(
  { judge, singletonRubric }: JudgingFrame,
  { items }: PrintedOrder,
  sides: readonly LabelledSide[],
): SingletonSample[] {
  if (singletonRubric === null) return []
  const seed = String(judge.sample_seed)
  const sampling = { sampleSize: judge.singleton_sample, stratification: null, seed }
  return sides.flatMap(({ label, side }) => {
    if (side !== 'base' && side !== 'candidate') return []
    const shown = drawSideSample(selectItems(items[label], 'singleton'), sampling)
    return [{ side, items: shown, summaries: selectItems(items[label], 'summary')[0]?.content ?? null }]
  })
}

/** Labels first: whether the judges agree with people is worth knowing before anything else. */
export function buildTaskBatches({ pairs, samples, singletons, labels, judging }: JudgingTask): Batch[] {
  return [
    ...buildLabelBatches(labels, judging),
    ...buildBatches(pairs, judging),
    ...samples.flatMap(sides => {
      const asked = sides.map(each => dropSharedItems(sides, each))
      return buildSideBatches(asked, judging)
    }),
    ...singletons.flatMap(each => buildSingletonBatches(each, each.summaries, judging)),
  ]
}
