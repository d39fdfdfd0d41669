import type { PartialReport } from '../../src/model/pairs.ts'
import { createEmptyCampaign, type Campaign, type HarnessProbes } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import {
  type EventAuthor,
  type EventDraft,
  computeEventId,
  type EventKind,
  type LedgerEvent,
  parseEvent,
} from '../../src/model/event.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import { formatExperimentId, type Oid, type Point } from '../../src/model/ids.ts'
import type { Order, OrderTerms } from '../../src/model/order.ts'
import type { ProbeName, ProbeResult } from '../../src/model/probe.ts'
import { buildMachineKey, type Report } from '../../src/model/report.ts'
import { parseSpec } from '../../src/spec/load.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { MACHINE } from '../model/a-machine.ts'
import { type Behaviour, reportOf } from './a-report.ts'

export const SPEC = `winnow: 1
metric:
  primary: { name: bytes, direction: minimize }
measurement: { command: sh bench/run }
gates: [{ name: tests, command: sh bench/test }]
scope: { mutable: [src/] }
`

export function oidOf(name: string): Oid {
  return hashSha256(name).slice(0, 40)
}

export function pointOf(name: string): Point {
  return { commit: oidOf(`commit of ${name}`), tree: oidOf(`tree of ${name}`) }
}

export const START = pointOf('start')
export const HARNESS = hashSha256('harness')
export const LATER = '2027-01-01T00:00:00Z'

const PROBES = ['vanish', 'exit-at-load'] as const

export function toResult(name: ProbeName, caught_by: string | null): ProbeResult {
  const detail = caught_by === null ? `${name} would be kept` : `${name} failed`
  return { name, caught_by, detail, applicable: true }
}

type About = Partial<Omit<EventDraft<'experiment-opened'>, 'kind' | 'cause' | 'experiment'>>
type Reports = Record<string, { base?: Behaviour; candidate?: Behaviour } | Partial<Report>>

/** A campaign as its events make it: every event is validated and folded, nothing is set by hand. */
export class CampaignBuilder {
  readonly events: LedgerEvent[] = []
  readonly campaign: Campaign = createEmptyCampaign()
  readonly spec: Spec
  readonly yaml: string
  /** Who writes what is added next. */
  by: EventAuthor = { run_id: 'run-1', attempt: 1, actor: 'winnow' }

  constructor(yaml: string) {
    this.yaml = yaml
    this.spec = parseSpec(yaml, { file: '.winnow/size.yaml' }).spec
  }

  add(...drafts: EventDraft[]): this {
    for (const draft of drafts) {
      const seq = this.events.length
      const { by } = this
      const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString()
      const sealed = {
        ...draft,
        seq,
        id: computeEventId(draft),
        at,
        by,
        prev: seq === 0 ? null : hashSha256(String(seq)),
      }
      const event = parseEvent(JSON.parse(JSON.stringify(sealed)))
      this.events.push(event)
      applyEvent(this.campaign, event)
    }
    return this
  }

  started(): this {
    const spec_sha256 = hashSha256(this.yaml)
    return this.add({
      kind: 'campaign-started',
      cause: START.commit,
      spec: 'size',
      spec_path: '.winnow/size.yaml',
      spec_sha256,
      spec_yaml: this.yaml,
      rule_version: '1',
      default_branch: 'refs/heads/main',
      object_format: 'sha1',
      start: START,
      harness: HARNESS,
      first_number: 1,
      winnow: '0.1.0',
    })
  }

  /** Calibrated, with a baseline and a guarded harness: the next plan may order experiments. */
  ready(): this {
    return this.based().guarded()
  }

  guarded(): this {
    return this.probed(PROBES.map(name => toResult(name, 'gate tests')))
  }

  /** What the probes showed; nothing without results. */
  probed(results: ProbeResult[], rest: Partial<HarnessProbes> = {}): this {
    const { harness } = this.campaign
    const about = {
      harness,
      order: null,
      results,
      ignored_by: null,
      vanish_gain: null,
      not_probed: null,
      ...rest,
    }
    return this.add({ kind: 'probed', cause: `probed ${this.events.length}`, ...about })
  }

  /** Calibrated and with a baseline. */
  based(): this {
    const order = this.issue({ purpose: 'calibration', stop: { rule: 'calibrate', runs: 3 }, candidates: [] })
    this.add({
      kind: 'measured',
      cause: order.id,
      order: order.id,
      run_id: 'run-1',
      report: this.answer(order),
    })
    const facts = { cause: order.id, order: order.id }
    const tree = this.campaign.incumbent.tree
    const snapshot = { metrics: { bytes: { aggregate: 10, samples: [10] } } }
    return this.add(
      {
        kind: 'calibrated',
        ...facts,
        deterministic: true,
        scale: 'log',
        reason: 'equal in 3 runs',
        noise: null,
      },
      {
        kind: 'baseline-measured',
        ...facts,
        side: 'base',
        tree,
        machine: buildMachineKey(MACHINE),
        harness: HARNESS,
        snapshot,
      },
    )
  }

  withExperiment(about: About = {}): this {
    const number = this.campaign.next_number
    const id = formatExperimentId(number)
    return this.add({
      kind: 'experiment-opened',
      cause: `idea ${number}`,
      experiment: id,
      purpose: 'idea',
      hypothesis: `idea ${number}`,
      category: `category ${number}`,
      priority: 'medium',
      required_deps: [],
      family: null,
      source: { use: 'patch', key: `patch:${number}` },
      branch: `optimize-exp/size/${id}`,
      owned: true,
      pull: null,
      head: oidOf(`head of ${id}`),
      base: this.campaign.incumbent,
      learnings: null,
      ...about,
    })
  }

  withExperiments(count: number): this {
    for (let made = 0; made < count; made++) this.withExperiment()
    return this
  }

  /** Every queued experiment, or those named, in the next round. */
  ordered(...ids: string[]): this {
    const round = (this.campaign.round?.number ?? 0) + (this.campaign.round?.open ? 0 : 1)
    const queued = Object.values(this.campaign.experiments).filter(({ status }) => status === 'queued')
    for (const { id } of ids.length > 0 ? ids.map(each => this.experiment(each)) : queued) {
      const candidates = [
        { label: id, head: this.experiment(id).head ?? '', tree: candidateTree(this.campaign, id) },
      ]
      const attempt = this.experiment(id).attempts + 1
      this.issue({ purpose: 'experiment', round, attempt, candidates })
    }
    return this
  }

  combined(id: string): this {
    const candidates = [
      { label: id, head: this.experiment(id).head ?? '', tree: candidateTree(this.campaign, id) },
    ]
    this.issue({ purpose: 'combination', round: this.campaign.round?.number ?? 0, candidates })
    return this
  }

  /** Reports of the orders under way: what each side did, by experiment; 10 bytes unless said otherwise. */
  measured(reports: Reports = {}): this {
    for (const live of Object.values(this.campaign.orders)) {
      if (live.report) continue
      const { order } = live
      const said = reports[order.candidates[0]?.label ?? order.purpose] ?? {}
      const report = this.answer(order, said)
      this.add({ kind: 'measured', cause: order.id, order: order.id, run_id: 'run-1', report })
    }
    return this
  }

  answer(order: Order, said: Reports[string] = {}): Report {
    const { base, candidate, ...rest } = { base: undefined, candidate: undefined, ...said }
    const behaviourOf = (side: string) => (side === 'base' ? base : candidate) ?? { bytes: 10 }
    return reportOf({ order, spec: this.spec, behaviourOf }, rest)
  }

  /** Without `partial`, nothing is known of what its run had measured. */
  lost(id: string, partial?: PartialReport): this {
    const { id: order } = this.order(id)
    const left = partial === undefined ? {} : { partial }
    const reason = 'its process ended'
    return this.add({ kind: 'order-lost', cause: order, order, started: true, reason, ...left })
  }

  issue(terms: Partial<OrderTerms> & Pick<OrderTerms, 'purpose' | 'candidates'>): Order {
    const { campaign } = this
    const draft: EventDraft<'order-issued'> = {
      kind: 'order-issued',
      cause: `order ${this.events.length}`,
      round: 0,
      attempt: 1,
      spec_sha256: campaign.spec_sha256,
      harness: campaign.harness,
      pin: campaign.pin,
      base: campaign.incumbent,
      coins: hashSha256(`coins ${this.events.length}`),
      earlier_jobs: {},
      stop: { rule: 'once', min_effect: 0, scale: 'linear' },
      deadline: LATER,
      ...terms,
    }
    const order = computeEventId(draft)
    this.add(draft, { kind: 'order-dispatched', cause: order, order, run_id: 'run-1' })
    const live = campaign.orders[order]
    if (!live) throw new Error('the order was not folded')
    return live.order
  }

  experiment(id: string): Experiment {
    const found = this.campaign.experiments[id]
    if (!found) throw new Error(`there is no ${id}`)
    return found
  }

  order(id: string): Order {
    const live = this.campaign.orders[this.experiment(id).order ?? '']
    if (!live) throw new Error(`${id} has no order`)
    return live.order
  }

  kinds(from = 0): EventKind[] {
    return this.events.slice(from).map(({ kind }) => kind)
  }
}

/** Ready to measure its first experiments. */
export function campaign(yaml = SPEC): CampaignBuilder {
  return unprepared(yaml).ready()
}

export function unprepared(yaml = SPEC): CampaignBuilder {
  return new CampaignBuilder(yaml).started()
}

/** What an experiment makes of the incumbent of the moment. */
export function candidateTree({ incumbent, experiments }: Campaign, id: string): Oid {
  return oidOf(`${incumbent.tree} with ${experiments[id]?.head ?? ''}`)
}
