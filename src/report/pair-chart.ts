import { computeReportedEffect } from '../decide/evidence/interval.ts'
import { getScoreTerms, listObjectives } from '../decide/metrics.ts'
import {
  formatEffect,
  type MeasuredMetric,
  renderEvidenceBar,
  toShare,
} from '../decide/paired/effect-text.ts'
import { collectMetricPairs, computeDifferences, type PairedRule } from '../decide/paired/evaluate.ts'
import { formatEvidence, type PathJob, type PathPair, traceEvidence } from '../decide/paired/evidence-text.ts'
import { formatCount, formatNumber, formatRounded } from '../decide/wording.ts'
import type { LedgerEvent } from '../model/event.ts'
import { countReportMinutes } from '../model/fold/counters.ts'
import { type Order, type PairedTerms, toPairRequest } from '../model/order.ts'
import { buildPairJob, type Pair, type PairJob, selectReportedJobs, toMeasuredRun } from '../model/pairs.ts'
import { toSafeLine } from '../model/text.ts'
import { readSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { formatMinutes } from './check-trial.ts'
import { toShortId } from './event-log.ts'
import { formatTable } from './terminal.ts'

// Pairs

/** Pairs of the same two trees and harness, which one verdict rests on (docs/deciding.md, How strict). */
export interface PairStory {
  purpose: Order['purpose']
  spec: Spec
  rule: PairedRule
  terms: PairedTerms
  base: Order['base']
  tree: string
  jobs: PairJob[]
  /** Duration of each order's job, including its other measurements. */
  minutes: Record<string, number>
}

export class PairStories {
  readonly #stories: PairStory[] = []
  readonly #id: string
  readonly #specs = new Map<string, { yaml: string; file: string }>()
  readonly #open = new Map<string, Order>()
  #file = ''

  constructor(id: string) {
    this.#id = id
  }

  get stories(): PairStory[] {
    return this.#stories.filter(({ jobs }) => jobs.some(({ pairs }) => pairs.length > 0))
  }

  /** Call it with every event of the campaign, in order. */
  take(event: LedgerEvent): void {
    const { kind } = event
    if (kind === 'campaign-started') this.#file = event.spec_path
    if (kind === 'campaign-started' || kind === 'campaign-amended')
      this.#specs.set(event.spec_sha256, { yaml: event.spec_yaml, file: this.#file })
    if (kind === 'order-issued' && event.stop.rule === 'paired' && event.stop.terms[this.#id])
      this.#open.set(event.id, event)
    if (kind === 'report-rejected' || (kind === 'order-lost' && event.started && !event.partial))
      this.#unreported(event.order)
    if (kind === 'order-lost' || kind === 'report-rejected') this.#open.delete(event.order)
    if (kind === 'measured') this.#measured(event)
  }

  /** Same rule as the fold: earlier pairs stay, and the evidence for keeping starts from zero. */
  #unreported(id: string): void {
    const order = this.#open.get(id)
    const story = order === undefined ? null : this.#storyOf(order)
    if (order === undefined || story === null) return
    const piece = order.resumes?.pieces[this.#id]
    const gap: PairJob = { order: id, runner: '', complete: false, pairs: [], unreported: true }
    story.jobs.push(...(piece ? [piece] : []), gap)
  }

  /** Only the first report of an order that was not lost counts. */
  #measured({ order: id, report }: LedgerEvent<'measured'>): void {
    const order = this.#open.get(id)
    this.#open.delete(id)
    const job = order && buildPairJob(toPairRequest(order), toMeasuredRun(report), this.#id)
    if (!order || !job || job.pairs.length === 0) return
    const story = this.#storyOf(order)
    if (story === null) return
    story.jobs.push(job)
    story.minutes[id] = countReportMinutes(report)
  }

  /** An order with earlier pairs continues their story, with the terms in force now. */
  #storyOf(order: Order): PairStory | null {
    const { stop, purpose, base, candidates, earlier_jobs, spec_sha256 } = order
    const terms = stop.rule === 'paired' ? stop.terms[this.#id] : undefined
    const tree = candidates.find(({ label }) => label === this.#id)?.tree
    const text = this.#specs.get(spec_sha256)
    if (stop.rule !== 'paired' || !terms || tree === undefined || !text) return null
    const last = this.#stories.at(-1)
    if (last && (earlier_jobs[this.#id] ?? []).length > 0) return Object.assign(last, { rule: stop, terms })
    const spec = readSpec(text.yaml, { file: text.file })?.spec
    if (spec === undefined) return null
    const story = { purpose, spec, rule: stop, terms, base, tree, jobs: [], minutes: {} }
    this.#stories.push(story)
    return story
  }
}

// Chart

const BAR_WIDTH = 20

const AS = {
  idea: 'as an idea',
  confirmed: 'as confirmed on an earlier base',
  combination: 'as a combination',
  simplify: 'as a simplification',
} as const satisfies Record<PairStory['terms']['as'], string>

/** Job by job, with the evidence so far and the threshold. */
export function renderPairChart(story: PairStory): string[] {
  const jobs = traceEvidence(story)
  return [
    ...renderPairHeadline(story),
    ...jobs.flatMap((job, at) => [
      '',
      renderJobTitle(story, job, at),
      ...(job.unreported ? [] : renderPairRows(story, job)),
    ]),
    '',
    ...renderPairSummary(story),
  ]
}

function toMeasuredMetric({ spec, rule }: PairStory): MeasuredMetric {
  const [{ name, direction }] = listObjectives(spec.metric)
  return { name, direction, scale: rule.scale }
}

function renderPairHeadline(story: PairStory): string[] {
  const { rule, terms, base, tree } = story
  const measured = toMeasuredMetric(story)
  const better = measured.direction === 'minimize' ? 'lower' : 'higher'
  const screened = terms.as === 'idea' && rule.fresh_runners > 0
  const screen = screened ? `continued at ${formatNumber(rule.screen)}, ` : ''
  return [
    `Pairs of ${measured.name}: ${better} is better, ${measured.scale} scale`,
    `  ${AS[terms.as]}: ${screen}kept at ${formatEvidence(1 / terms.alpha)} (error budget ${formatRounded(terms.alpha, 3)})`,
    `  smallest gain: ${formatPairGain(rule.min_effect, measured)}; counts as no effect below: ${formatPairGain(rule.null_effect, measured)}`,
    `  base tree ${toShortId(base.tree)}, candidate tree ${toShortId(tree)}`,
  ]
}

function formatPairGain(difference: number, { direction, scale }: MeasuredMetric): string {
  if (scale === 'linear') return formatNumber(difference)
  return `${Math.abs(toShare(difference, direction) * 100).toFixed(1)} %`
}

function renderJobTitle({ rule }: PairStory, job: PathJob, at: number): string {
  const { order, runner, fresh, screened, unreported } = job
  if (unreported)
    return `job ${at + 1}: its run was lost without a report; the evidence for keeping starts from zero; order ${toShortId(order)}`
  const machine = rule.single_machine ? 'new build on this machine' : `runner ${runner.slice(0, 8)}`
  const is = [...(fresh ? ['fresh'] : []), ...(screened ? ['passed the screen'] : [])]
  return `job ${at + 1}: ${[machine, ...is].join(', ')}; order ${toShortId(order)}`
}

const TASK_WIDTH = 24

function renderPairRows(story: PairStory, { pairs }: PathJob): string[] {
  const measured = toMeasuredMetric(story)
  const keep = 1 / story.terms.alpha
  const end = formatEvidence(keep)
  const axis = ` 1${end.padStart(BAR_WIDTH - 1)}`
  const values = pairs.flatMap(({ base, candidate, lost = false }) =>
    [base, candidate].map(value => formatPairValue(value, lost).length),
  )
  const width = Math.max('candidate'.length, ...values)
  const sides = ['base', 'candidate'].map(side => side.padStart(width))
  const hasTasks = pairs.some(({ task }) => task !== undefined)
  const nameTask = (task = '') => (hasTasks ? [toSafeLine(task, TASK_WIDTH)] : [])
  const head = ['  pair', ...nameTask('task'), ...sides, '   gain', 'first', 'evidence', axis]
  const rows = pairs.map((pair, at) => {
    const [number = '', ...cells] = renderPairRow(pair, at, { measured, keep, width })
    return [number, ...nameTask(pair.task), ...cells]
  })
  return formatTable([head, ...rows])
}

function renderPairRow(
  pair: PathPair,
  at: number,
  { measured, keep, width }: { measured: MeasuredMetric; keep: number; width: number },
): string[] {
  const { base, candidate, difference, first, evidence, lost = false } = pair
  const size = difference === null ? 'none' : formatPairGain(difference, measured).replace('-', '')
  const sign = difference === null ? '' : difference < 0 ? '-' : '+'
  return [
    `  ${String(at + 1).padStart(4)}`,
    formatPairValue(base, lost).padStart(width),
    formatPairValue(candidate, lost).padStart(width),
    `${sign}${size}`.padStart(7),
    first === 'base' ? 'base' : 'cand.',
    formatEvidence(evidence).padStart(8),
    `▕${renderEvidenceBar(evidence, keep, BAR_WIDTH)}▏`,
  ]
}

function formatPairValue(value: number | null, lost: boolean): string {
  if (lost) return 'lost'
  return value === null ? 'failed' : formatNumber(value)
}

function renderPairSummary(story: PairStory): string[] {
  const { minutes } = story
  const jobs = selectReportedJobs(story.jobs)
  const measured = toMeasuredMetric(story)
  const pairs = collectMetricPairs(jobs, measured.name)
  const { spec } = story
  const scores = getScoreTerms(spec, listObjectives(spec.metric)[0])
  const { effect, interval } = computeReportedEffect(computeDifferences(pairs, measured), scores)
  const range = interval === null ? ', interval not bounded yet' : ', 95 % interval in brackets'
  const difference = effect === null ? 'no difference' : `${formatEffect(effect, interval, measured)}${range}`
  const took = Object.values(minutes).reduce((sum, each) => sum + each, 0)
  const runs = 2 * (pairs.length + jobs.length)
  const unit =
    story.rule.by_task === true ? formatCount(pairs.length, 'pair') : formatCount(runs, 'execution')
  const cost = `${unit} in ${formatCount(jobs.length, 'job')}`
  return [
    `  ${scores === null ? 'Hodges-Lehmann' : 'mean'}: ${difference}`,
    `  cost: ${cost} of ${formatMinutes(took)}, with all candidates of these jobs`,
  ]
}

// JSON

/** Raw pairs in `winnow show --json`, sufficient to recompute every verdict. */
interface PairView {
  purpose: PairStory['purpose']
  base_tree: string
  tree: string
  rule: Omit<PairedRule, 'terms'>
  terms: PairedTerms
  jobs: JobView[]
}

interface JobView
  extends Pick<PairJob, 'order' | 'runner' | 'complete'>,
    Pick<PathJob, 'fresh' | 'screened'> {
  minutes: number
  pairs: (Pair & Pick<PathPair, 'difference' | 'evidence'>)[]
}

export function toPairView(story: PairStory): PairView {
  const { purpose, base, tree, rule, terms, minutes } = story
  const { terms: _, ...common } = rule
  const path = traceEvidence(story)
  const jobs = story.jobs.map(({ order, runner, complete, pairs }, at): JobView => {
    const { fresh = false, screened = false, pairs: weighed = [] } = path[at] ?? {}
    const views = pairs.map((pair, index) => {
      const { difference = null, evidence = 1 } = weighed[index] ?? {}
      return { ...pair, difference, evidence }
    })
    return { order, runner, complete, fresh, screened, minutes: minutes[order] ?? 0, pairs: views }
  })
  return { purpose, base_tree: base.tree, tree, rule: common, terms, jobs }
}
