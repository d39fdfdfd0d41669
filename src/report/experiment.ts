import { toCanonicalJson } from '../model/canonical-json.ts'
import type { EventDraft, LedgerEvent } from '../model/event.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Order } from '../model/order.ts'
import type { Execution, Report } from '../model/report.ts'
import { getParseOptions, readCampaignSpec, readSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { renderAdditions } from './approval.ts'
import { type ChangedPath, formatDiffSummary } from './diff-summary.ts'
import { renderEvent } from './event-log.ts'
import { getEvidenceLine, getExperimentState, type StateCampaign } from './experiment-state.ts'
import {
  describeCalibrationNoise,
  formatMetrics,
  selectShownMetrics,
  suggestQuieterMetric,
} from './metrics.ts'
import { PairStories, type PairStory } from './pair-chart.ts'
import type { ExperimentView } from './status.ts'
import { formatTable } from './terminal.ts'
import { renderFailedPart } from './verdict-markdown.ts'
import { describeReportedEffect, renderStateSentence } from './verdict-text.ts'

// Text

interface ExperimentHistory {
  events: readonly LedgerEvent[]
  charts?: readonly string[]
  /** Null: its commits are not available. */
  diff?: readonly ChangedPath[] | null
  /** The lines of the table of its tasks. */
  tasks?: readonly string[]
}

const MOST_FILES_SHOWN = 5

export function renderExperiment(
  campaign: StateCampaign,
  experiment: Experiment,
  { pr, branch }: Pick<ExperimentView, 'pr' | 'branch'>,
  { events, charts = [], tasks = [], diff = null }: ExperimentHistory,
): string[] {
  const { id, hypothesis, category, priority, source, head, learnings, metrics, outcome } = experiment
  const effect = describeReportedEffect(campaign, experiment)
  const spec = readCampaignSpec(campaign)
  const shown = selectShownMetrics(spec)
  const facts: [string, string | null][] = [
    ['idea', hypothesis],
    ['outcome', outcome],
    ['category', `${category}, priority ${priority}`],
    ['from', source.use],
    ['branch', branch],
    ['pull', pr === null ? null : `#${pr}`],
    ['head', head],
    ['changes', diff === null || diff.length === 0 ? null : formatDiffSummary(diff, MOST_FILES_SHOWN)],
    ['reported effect', effect?.reported ?? null],
    [
      'selected by',
      effect?.selectedBy == null
        ? null
        : `${effect.selectedBy} (biased upwards: winnow chose it by this value)`,
    ],
    ['metrics', formatMetrics(metrics, shown) || null],
    ['harness', experiment.guard],
    ['learnings', learnings],
    ...findWarnings(events).map((warning): [string, string] => ['warning', warning]),
  ]
  const evidence = getEvidenceLine(campaign, experiment)
  const noise = evidence === null ? null : describeCalibrationNoise(campaign.calibration)
  const isOpen = experiment.verdict === 'not proven' && spec !== null
  const quieter = isOpen ? suggestQuieterMetric(campaign.calibration, spec) : null
  return [
    `${id} ${renderStateSentence(getExperimentState(campaign, experiment))}`,
    ...[evidence, noise, quieter].flatMap(line => (line === null ? [] : [`  ${line}`])),
    ...formatTable(facts.flatMap(([name, value]) => (value === null ? [] : [[`  ${name}`, value]]))),
    ...(experiment.approval === null ? [] : ['', ...renderAdditions(experiment)]),
    '',
    ...tasks,
    ...charts,
    ...renderFailedPart(experiment.failed),
    ...formatTable(events.map(event => [`  ${event.seq}`, event.at, renderEvent(event, shown)])),
  ]
}

/** Warnings of the last verdict, which is the one in force. */
function findWarnings(events: readonly LedgerEvent[]): string[] {
  const verdict = events.findLast(event => event.kind === 'decided')
  return verdict?.kind === 'decided' ? verdict.warnings : []
}

/** Returns true if the event names the experiment, or an order that measures it. */
export function isAboutExperiment(event: LedgerEvent, id: string, orders: ReadonlySet<string>): boolean {
  if (event.kind === 'order-issued') return event.candidates.some(({ label }) => label === id)
  if ('experiment' in event && event.experiment === id) return true
  return 'order' in event && typeof event.order === 'string' && orders.has(event.order)
}

// Record

export interface RecordedMeasurement {
  order: Order
  report: Report
  /** Null if this release cannot read the spec. */
  spec: Spec | null
}

type RecordedDecision = Pick<LedgerEvent<'decided'>, 'at'> & EventDraft<'decided'>

export class ExperimentRecord {
  readonly id: string
  readonly measurements: RecordedMeasurement[] = []
  decided: RecordedDecision | null = null
  readonly #stories: PairStories
  readonly #orders = new Map<string, Order>()
  readonly #specs = new Map<string, string>()
  #placed: Parameters<typeof getParseOptions>[0] = { spec_path: '', host: null, private_repository: false }

  constructor(id: string) {
    this.id = id
    this.#stories = new PairStories(id)
  }

  take(event: LedgerEvent): void {
    const { kind } = event
    this.#stories.take(event)
    if (kind === 'campaign-started') {
      const { spec_path, host = null, private_repository = false } = event
      this.#placed = { spec_path, host, private_repository }
    }
    if (kind === 'campaign-started' || kind === 'campaign-amended')
      this.#specs.set(event.spec_sha256, event.spec_yaml)
    if (kind === 'decided' && event.experiment === this.id) this.decided = event
    if (kind === 'order-issued') this.#ordered(event)
    if (kind === 'order-lost' || kind === 'report-rejected') this.#orders.delete(event.order)
    if (kind === 'measured') this.#measured(event)
  }

  /**
   * Skips holdout orders: texts that a proposer can read must reveal no more of a holdout than passed or
   * failed.
   */
  #ordered(order: LedgerEvent<'order-issued'>): void {
    if (order.stop.rule === 'holdout' || !order.candidates.some(({ label }) => label === this.id)) return
    this.#orders.set(order.id, order)
  }

  #measured({ order: id, report }: LedgerEvent<'measured'>): void {
    const order = this.#orders.get(id)
    const yaml = order && this.#specs.get(order.spec_sha256)
    if (order === undefined || yaml === undefined) return
    this.#orders.delete(id)
    const spec = readSpec(yaml, getParseOptions(this.#placed))?.spec ?? null
    this.measurements.push({ order, report, spec })
  }

  /**
   * The orders behind the verdict: the order that it names, and earlier ones with the same trees and harness.
   */
  get decisive(): RecordedMeasurement[] {
    const last =
      this.measurements.find(({ order }) => order.id === this.decided?.order) ?? this.measurements.at(-1)
    if (last === undefined) return []
    const key = this.#comparedIn(last)
    return this.measurements.filter(each => this.#comparedIn(each) === key)
  }

  #comparedIn({ order: { base, candidates, harness } }: RecordedMeasurement): string {
    return toCanonicalJson([base.tree, candidates.find(({ label }) => label === this.id)?.tree, harness])
  }

  get story(): PairStory | null {
    const orders = new Set(this.decisive.map(({ order }) => order.id))
    return this.#stories.stories.findLast(({ jobs }) => jobs.some(({ order }) => orders.has(order))) ?? null
  }

  /** The counted samples of one side, in order of measurement. */
  executions(side: 'base' | 'candidate'): Execution[] {
    const label = side === 'base' ? 'base' : this.id
    return this.decisive.flatMap(({ report }) =>
      report.executions.filter(each => each.side === label && each.role === 'sample' && each.status === 'ok'),
    )
  }
}
