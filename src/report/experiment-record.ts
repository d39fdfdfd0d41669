import type { EventDraft, LedgerEvent } from '../model/event.ts'
import { toCanonicalJson } from '../model/canonical.ts'
import type { Order } from '../model/order.ts'
import type { Execution, Report } from '../model/report.ts'
import { getParseOptions, readSpec } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { PairStories, type PairStory } from './pair-story.ts'

/** One measurement that an experiment was part of, by the spec in force when it was ordered. */
export interface RecordedMeasurement {
  order: Order
  report: Report
  /** null: this release cannot read it. */
  spec: Spec | null
}

type RecordedDecision = Pick<LedgerEvent<'decided'>, 'at'> & EventDraft<'decided'>

/** Everything that the ledger says about one experiment, gathered from its events in turn. */
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

  /** A holdout says passed or not and nothing else, wherever it could be read by who proposes. */
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

  /** The orders behind the verdict: the one that it names, and earlier ones of the same trees and harness. */
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

  /** The pairs that the verdict rests on. */
  get story(): PairStory | null {
    const orders = new Set(this.decisive.map(({ order }) => order.id))
    return this.#stories.stories.findLast(({ jobs }) => jobs.some(({ order }) => orders.has(order))) ?? null
  }

  /** The counted samples of one side, in the order of measuring. */
  executions(side: 'base' | 'candidate'): Execution[] {
    const label = side === 'base' ? 'base' : this.id
    return this.decisive.flatMap(({ report }) =>
      report.executions.filter(each => each.side === label && each.role === 'sample' && each.status === 'ok'),
    )
  }
}
