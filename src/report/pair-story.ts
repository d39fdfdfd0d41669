import type { PairedRule } from '../decide/paired/rule.ts'
import type { LedgerEvent } from '../model/event.ts'
import { countReportMinutes } from '../model/job-minutes.ts'
import { toPairRequest, type Order, type PairedTerms } from '../model/order.ts'
import { type PairJob, buildPairJob, toMeasuredRun } from '../model/pairs.ts'
import { type ParsedSpecFile, parseSpec } from '../spec/parse.ts'

/** Pairs of the same two trees with one harness: what one verdict rests on (decision.md 3.4). */
export interface PairStory {
  purpose: Order['purpose']
  spec: ParsedSpecFile['spec']
  rule: PairedRule
  terms: PairedTerms
  base: Order['base']
  tree: string
  jobs: PairJob[]
  /** By order: what its job took, with everything else that it measured. */
  minutes: Record<string, number>
}

/** The pairs of one experiment, gathered again from the ledger's events alone. */
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

  /** Every event of the campaign, in turn. */
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

  /** As the fold has it: the pairs of its earlier runs stay, and evidence for keeping starts again. */
  #unreported(id: string): void {
    const order = this.#open.get(id)
    const story = order === undefined ? null : this.#storyOf(order)
    if (order === undefined || story === null) return
    const piece = order.resumes?.pieces[this.#id]
    const gap: PairJob = { order: id, runner: '', complete: false, pairs: [], unreported: true }
    story.jobs.push(...(piece ? [piece] : []), gap)
  }

  /** Only the first report of an order that was not lost before it counts. */
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

  /** An order that carries pairs goes on with the story they are from; its terms are those in force now. */
  #storyOf(order: Order): PairStory | null {
    const { stop, purpose, base, candidates, carried, spec_sha256 } = order
    const terms = stop.rule === 'paired' ? stop.terms[this.#id] : undefined
    const tree = candidates.find(({ label }) => label === this.#id)?.tree
    const text = this.#specs.get(spec_sha256)
    if (stop.rule !== 'paired' || !terms || tree === undefined || !text) return null
    const last = this.#stories.at(-1)
    if (last && (carried[this.#id] ?? []).length > 0) return Object.assign(last, { rule: stop, terms })
    const { spec } = parseSpec(text.yaml, { file: text.file })
    const story = { purpose, spec, rule: stop, terms, base, tree, jobs: [], minutes: {} }
    this.#stories.push(story)
    return story
  }
}
