import type { FruitlessRuns } from './alerts.ts'
import type { Priority, ScoreRecord } from './event-schemas.ts'
import type { EventDraft, LedgerEvent } from './event.ts'
import type { Experiment, PickedChange } from './experiment.ts'
import type { EventId, ExperimentId, Host, Oid, OrderId, Point } from './ids.ts'
import type { HoldoutRule, Order } from './order.ts'
import type { Interruption, PairJob } from './pairs.ts'
import {
  aggregateSnapshot,
  type Aggregation,
  type MetricValues,
  type Report,
  type Snapshot,
  type TestCounts,
} from './report.ts'
import type { Outcome } from './verdict.ts'

export interface LiveOrder {
  order: Order
  issued: EventId
  issued_at: string
  run_id: string | null
  /** Where what its run printed waits for scores, as the digest of a verified artifact. */
  printed: { run_id: string; digest: string } | null
  report: { event: EventId; at: string; report: Report } | null
  /** What models said so far of what its run printed, where jobs of their own ask them. */
  scores: OrderScores | null
}

interface Baseline {
  order: OrderId
  tree: Oid
  machine: string
  harness: string
  snapshot: Snapshot
}

export interface Landing {
  experiment: ExperimentId
  commit: Oid
  tree: Oid
  head: Oid
  base: Point
  /** The pinned commit of that time: trees of another one cannot be laid beside it any more. */
  pin: Oid
  /** The order that proved it. */
  order: OrderId | null
  /** The commit that took it back. */
  reverted: Oid | null
  /** What it was measured to bring once it was kept, by pairs that nothing was selected by. */
  effect: EffectMeasurement | null
  /** The default branch has it as well, so that measuring against that shows nothing of it. */
  upstream: boolean
  /** The seq of the event that brought the spec by which it was decided. */
  spec_seq: number
  /** The pairs that watch over it since, on trees that change; whether it was shown to hold; the last look. */
  watch: { state: 'open' | 'clear' | 'flagged'; jobs: PairJob[]; at: string }
}

/** A verdict that waits for its merge, and what the commit that merges it has to say of it. */
export interface DueLanding {
  decided: LedgerEvent<'decided'>
  /** Of the file that holds that event. */
  sha256: string
  spec_sha256: string
}

/** One merge of winnow's on the optimize branch, as the order measured it by which it was decided. */
export interface MeasuredMerge {
  experiment: ExperimentId
  by: 'numbers' | 'pairs'
  /** Numbers of another harness are of another ruler. */
  harness: string
  from: MeasuredTree
  to: MeasuredTree
}

interface MeasuredTree {
  tree: Oid
  metrics: MetricValues
}

export interface EffectMeasurement {
  order: OrderId
  /** The metric that it is an effect on. */
  metric: string
  /** Signed: positive is better; under log a difference of logarithms. */
  effect: number
  interval: [number, number] | null
  pairs: number
  scale: 'log' | 'linear'
}

/** What calibration found out by measuring the base against itself. */
export type Noise = NonNullable<EventDraft<'calibrated'>['noise']>

export interface Calibration {
  order: OrderId
  deterministic: boolean
  scale: 'log' | 'linear'
  reason: string
  noise: Noise | null
}

export interface Round {
  number: number
  members: ExperimentId[]
  winner: ExperimentId | null
  /** Experiments measured again on top of the winner, and whether one of them failed. */
  combined: ExperimentId[]
  combination_failed: boolean
  open: boolean
}

export interface ForeignTip {
  event: EventId
  to: Point
  order: OrderId | null
  state: 'found' | 'blocked'
}

interface CampaignSpending {
  /** Of runners, as they are billed: each job of GitHub Actions by the minute begun, a machine of one's own by its time. */
  minutes: number
  /** Of the harness, on all sides, the warm-ups included. */
  executions: number
  requests: number
  tokens: number
  usd: number
}

/** An idea in words, until an experiment carries it out. */
export interface BacklogIdea {
  /** Of the event that added it. */
  id: EventId
  /** idea-NNN for people: the order in which the ledger has them. */
  number: number
  hypothesis: string
  category: string
  priority: Priority
  required_deps: string[]
  family: string | null
  source: string
  status: EventDraft<'hypothesis-updated'>['status']
  /** Who carries it out, or did. */
  experiment: ExperimentId | null
  outcome: Outcome | null
  learnings: string | null
}

/** The campaign as its events tell it: what `fold` builds, what `plan` reads. Plain JSON throughout. */
export interface Campaign {
  fold: number
  /** Events folded so far: the next one has this seq. */
  seq: number
  name: string
  spec_path: string
  status: 'none' | 'running' | 'paused' | 'stopped'
  status_source: 'person' | 'engine'
  status_reason: string | null
  /** Why it stopped last, as a code. */
  stop_code: string | null
  /** Approved after the stop: one more round is theirs. */
  late: ExperimentId[]
  /** That round is under way; when it is over the campaign stops again, as it did. */
  encore: { code: string; reason: string } | null
  /** The event that started it: the cause of what the engine does for the campaign as a whole. */
  started: EventId
  started_at: string | null
  /** How long orders waited for other processes of their machine, which no limit counts. */
  waited_seconds: number
  /** When the last event was written. */
  updated_at: string | null
  rule_version: string
  /** Where its pull requests are kept; null while nothing in an old ledger tells. */
  host: Host | null
  private_repository: boolean
  default_branch: string
  object_format: 'sha1' | 'sha256'
  spec_sha256: string
  spec_yaml: string
  /** Which events brought the campaign's settings and the spec in force, by seq. */
  ruled_by: { start: number; spec: number }
  /** How that spec makes one number of several samples, wherever one is judged or shown. */
  aggregation: Aggregation
  /** The spec the default branch had when it was last looked at: a change there is an amendment. */
  default_spec_sha256: string
  default_tip: Oid
  /** The last sync that was ordered to be measured: when, and of which merge. */
  sync_ordered: { at: string; pin: Oid } | null
  harness: string
  pin: Point
  start: Point
  /** The default branch as the incumbent contains it: what the campaign as a whole is measured against. */
  reference: Point
  incumbent: Point
  next_number: number
  calibration: Calibration | null
  /** How much of the campaign's level its experiments have taken, and how many took some. */
  level: { spent: number; tests: number }
  /** What simplifications have cost so far, of the one min_effect that they may cost in all. */
  simplified: number
  /** How often each holdout was asked, by what it is: a look is counted when it is asked for. */
  holdout_uses: Record<string, number>
  /** The progression test: the incumbent against the default branch it contains, and the landings between the two. */
  progression: (EffectMeasurement & { from: Point; to: Point; covers: ExperimentId[]; jobs: number }) | null
  /** The jobs of the headline that is being measured. */
  progressing: { from: Point; to: Point; harness: string; jobs: PairJob[]; parts: number[] } | null
  baseline: Baseline | null
  /** Where progress is counted from: the last incumbent before anything was kept, and its numbers. */
  origin: { at: Point; snapshot: Snapshot } | null
  /** The measured steps of winnow's own merges, in order: syncs are no steps. */
  steps: MeasuredMerge[]
  /** Added to by `addExperiment` alone. */
  experiments: Readonly<Record<ExperimentId, Experiment>>
  /** Changes taken alone, by their own numbers, which no experiment has: they are in no round, count and level. */
  picks: Record<ExperimentId, PickedChange>
  /** Candidate trees already measured with this harness, so that a duplicate can be named. */
  trees: Record<Oid, ExperimentId>
  /** By tree and gate, with this harness: how many tests passed. */
  tests: Record<Oid, TestCounts>
  /** Merges that were not measured because nothing reads what they brought, and the tree whose numbers are theirs. */
  measured_as: Record<Oid, Oid>
  /** By harness: whether the first order of which anything ran was measured with isolation. All later ones are measured alike. */
  isolated: Record<string, boolean>
  /** Trees that passed with this harness, and the order that shows it: a revert may land them at once. */
  proven: Record<Oid, OrderId>
  sources: Record<string, ExperimentId>
  orders: Record<OrderId, LiveOrder>
  /** How often the campaign's own orders (those of no experiment) were issued, by what they measure. */
  attempts: Record<string, number>
  /** Those of them whose latest run was lost. */
  interruptions: Record<string, Interruption>
  /** The machine of the latest report: how many in a row it measured, and how many there were in all. */
  machine: { boot_id: string; in_a_row: number; reports: number }
  round: Round | null
  landings: Landing[]
  /** What was decided to be kept last, until it is merged. */
  landing: DueLanding | null
  foreign: ForeignTip | null
  ended: number
  /** Experiments that crashed or ran out of time, of the whole campaign. */
  failures: number
  since_incumbent: number
  spent: CampaignSpending
  /** Real minutes of jobs of GitHub Actions, by run and job: those of the latest runs, so that each is rounded up once. */
  jobs: Record<string, Record<string, number>>
  /**
   * `asked`: the seq of the last time, so that they take turns. `since_kept`: answers that came to nothing since the last
   * of its ideas was kept; null where none was.
   */
  proposers: Record<string, { failures: number; benched: boolean; asked: number; since_kept: number | null }>
  /** Answers of proposers whose cost is recorded, by their key, until their idea is an experiment. */
  answered: Record<string, true>
  /** Askings that jobs of their own carry out, by their key. */
  asked: Record<string, PendingProposal>
  /** Runs in a row whose orders were lost, and whose job asked programs and left no answer; null after one that was not. */
  fruitless_measuring: FruitlessRuns | null
  fruitless_asking: FruitlessRuns | null
  /** Orders that jobs of their own have scored by models, by the key of the asking. */
  judging: Record<string, PendingJudging>
  steered: {
    event: EventId
    action: 'retry' | 'revert' | 'withdraw' | 'pick'
    experiment: ExperimentId
    reason: string
  }[]
  /** What people did that was acted on, by its cause, and by which kind of event: each acts once. */
  heeded: Record<string, string>
  /** How far the comments of pull requests were read, where there are more than come by themselves. */
  comments_read: Record<number, { comment: string; own: string[] }>
  /** What people said not to try, the latest last. */
  avoid: { text: string; by: string }[]
  alerts: { code: string; about: string | null; message: string; at: string }[]
  /** Ideas that somebody wrote down, in their order, tried or not. */
  backlog: BacklogIdea[]
}

export const FOLD_VERSION = 23

export function createEmptyCampaign(): Campaign {
  const nowhere = { commit: '', tree: '' }
  return {
    fold: FOLD_VERSION,
    seq: 0,
    name: '',
    spec_path: '',
    status: 'none',
    status_source: 'engine',
    status_reason: null,
    stop_code: null,
    late: [],
    encore: null,
    started: '',
    started_at: null,
    waited_seconds: 0,
    updated_at: null,
    rule_version: '',
    host: null,
    private_repository: false,
    default_branch: '',
    object_format: 'sha1',
    spec_sha256: '',
    spec_yaml: '',
    ruled_by: { start: 0, spec: 0 },
    aggregation: 'median',
    default_spec_sha256: '',
    default_tip: '',
    sync_ordered: null,
    harness: '',
    pin: nowhere,
    start: nowhere,
    reference: nowhere,
    incumbent: nowhere,
    next_number: 1,
    calibration: null,
    level: { spent: 0, tests: 0 },
    simplified: 0,
    holdout_uses: {},
    progression: null,
    progressing: null,
    baseline: null,
    origin: null,
    steps: [],
    experiments: {},
    picks: {},
    trees: {},
    tests: {},
    measured_as: {},
    isolated: {},
    proven: {},
    sources: {},
    orders: {},
    attempts: {},
    interruptions: {},
    machine: { boot_id: '', in_a_row: 0, reports: 0 },
    round: null,
    landings: [],
    landing: null,
    foreign: null,
    ended: 0,
    failures: 0,
    since_incumbent: 0,
    spent: { minutes: 0, executions: 0, requests: 0, tokens: 0, usd: 0 },
    jobs: {},
    proposers: {},
    answered: {},
    asked: {},
    fruitless_measuring: null,
    fruitless_asking: null,
    judging: {},
    steered: [],
    heeded: {},
    comments_read: {},
    avoid: [],
    alerts: [],
    backlog: [],
  }
}

/** A proposer that a job of its own asks, until its idea is an experiment or there will be none. */
export interface PendingProposal {
  key: string
  who: string
  base: Point
  until: string
  carries: EventId | null
  /** Where it was told to look. */
  angle: string | null
  /** The number of the first experiment that its brief could not name. */
  first_unseen: number
  asked_at: string
  /** The run whose job asks: answers that come with another one count for nothing. */
  run_id: string
  brought: ProposalResult | null
}

/** Its answer: an idea, and the change of the base that carries it out. */
export type ProposalResult = Omit<EventDraft<'idea-brought'>, 'kind' | 'cause' | 'key'>

/** An order that a job of its own has scored by models, until that job has answered. */
export interface PendingJudging {
  key: string
  order: OrderId
  until: string
  may_cost_usd: number | null
  asked_at: string
  /** The run whose job asks: scores that come with another one count for nothing. */
  run_id: string
}

export interface OrderScores {
  records: ScoreRecord[]
  model: string
  requests: number
  tokens: number
  usd: number
  /** Why the last job that asked ended before its time; null where it did not. */
  ended: EventDraft<'judged'>['ended']
  ended_at: string
  /** Jobs in a row that could ask no model. */
  failures: number
}

/** Which holdout it is: another tree, or another place, is a fresh one whose uses are counted anew. */
export function buildHoldoutKey({ command, source }: Pick<HoldoutRule, 'command' | 'source'>): string {
  if (source === null) return `command ${command}`
  return 'tree' in source ? `tree ${source.tree}` : `environment ${source.environment}`
}

export function countHoldoutUses(
  { holdout_uses }: Pick<Campaign, 'holdout_uses'>,
  holdout: Pick<HoldoutRule, 'command' | 'source'>,
): number {
  return holdout_uses[buildHoldoutKey(holdout)] ?? 0
}

type KnownMetrics = Pick<
  Campaign,
  'baseline' | 'incumbent' | 'origin' | 'steps' | 'trees' | 'measured_as' | 'experiments' | 'harness'
>

/** The numbers of the incumbent's very tree, from wherever it was measured; none where it was not. */
export function getIncumbentMetrics(campaign: KnownMetrics): MetricValues {
  const { incumbent, origin, steps } = campaign
  // One tree measured twice is no progress.
  if (steps.length === 0 && origin?.at.tree === incumbent.tree) return aggregateSnapshot(origin.snapshot)
  return findTreeMetrics(campaign, incumbent.tree) ?? {}
}

/** The metrics of this tree, measured with the harness in force. */
export function findTreeMetrics(campaign: KnownMetrics, tree: Oid): MetricValues | null {
  const { baseline, steps, trees, experiments, harness, measured_as } = campaign
  if (baseline?.tree === tree) return aggregateSnapshot(baseline.snapshot)
  const known = measured_as[tree] ?? tree
  const found = steps
    .flatMap(step => (step.harness === harness ? [step.from, step.to] : []))
    .findLast(measured => measured.tree === known)
  if (found !== undefined) return found.metrics
  const measured = experiments[trees[known] ?? '']
  return measured?.measured_tree === known ? measured.metrics : null
}
