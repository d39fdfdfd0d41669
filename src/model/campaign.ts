import type { EventDraft, EventKind, LedgerEvent } from './event.ts'
import type { Experiment, PickedChange } from './experiment.ts'
import type { EventId, ExperimentId, Host, Oid, OrderId, Point } from './ids.ts'
import type { HoldoutRule, Order } from './order.ts'
import type { Interruption, PairJob } from './pairs.ts'
import {
  type Aggregation,
  aggregateSnapshot,
  type MetricValues,
  type Report,
  type Snapshot,
  type TestCounts,
} from './report.ts'
import type { CampaignStatus } from './status.ts'
import type { TaskDirection, TaskScores } from './tasks.ts'

export interface LiveOrder {
  order: Order
  issued_at: string
  run_id: string | null
  /** The verified artifact with the printed items that wait for scores. */
  printed: { run_id: string; digest: string } | null
  report: { event: EventId; at: string; report: Report } | null
  /** The scores that judging jobs have given to the printed items so far. */
  scores: OrderScores | null
}

type Baseline = Pick<EventDraft<'baseline-measured'>, 'order' | 'tree' | 'machine' | 'harness' | 'snapshot'>

export interface Landing
  extends Pick<EventDraft<'merged'>, 'experiment' | 'commit' | 'tree' | 'head' | 'base'> {
  /** The pin at that time. Trees of another pin cannot be compared with this landing. */
  pin: Oid
  /** The order whose evidence decided the landing. */
  order: OrderId | null
  reverted: Oid | null
  /** The improvement measured after the landing, without a stopping rule. */
  effect: EffectMeasurement | null
  /** True when the default branch contains it too, so that a comparison with that branch no longer shows it. */
  upstream: boolean
  /** The seq of the event that brought the spec by which it was decided. */
  spec_seq: number
  /** The pairs that check later, on changing trees, whether the gain holds; `at`: the time of the last check. */
  watch: { state: NonNullable<EventDraft<'effect-measured'>['state']>; jobs: PairJob[]; at: string }
}

/** A decided landing that waits for its merge, with the data for the message of the merge commit. */
export interface DueLanding {
  decided: LedgerEvent<'decided'>
  /** Hash of the file that holds that event. */
  sha256: string
  spec_sha256: string
}

/** A merge by winnow on the optimize branch, as measured by the order that decided it. */
export interface MeasuredMerge {
  experiment: ExperimentId
  by: 'numbers' | 'pairs'
  harness: string
  from: MeasuredTree
  to: MeasuredTree
}

interface MeasuredTree {
  tree: Oid
  metrics: MetricValues
}

export type EffectMeasurement = Pick<
  EventDraft<'effect-measured'>,
  'order' | 'metric' | 'effect' | 'interval' | 'pairs' | 'scale'
>

export type Calibration = Omit<EventDraft<'calibrated'>, 'kind' | 'cause'>
/** What the probes showed of the harness in force. */
export type HarnessProbes = Omit<EventDraft<'probed'>, 'kind' | 'cause'>
export type Noise = NonNullable<Calibration['noise']>

export interface Round {
  number: number
  members: ExperimentId[]
  winner: ExperimentId | null
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
  /**
   * Runner minutes as billed: each job of GitHub Actions is rounded up to whole minutes, other machines count their
   * real time.
   */
  minutes: number
  executions: number
  requests: number
  tokens: number
  usd: number
  /** The parts of `usd`: judge, propose, measure. */
  usd_for: Record<string, number>
}

export interface RestoreRequest extends NonNullable<EventDraft<'steered'>['restores']> {
  event: EventId
  reason: string
}

/** A pass over the suite, and its results by task. */
export interface MeasuredEpoch {
  seq: number
  at: string
  order: OrderId
  tree: Oid
  harness: string
  /** The latest round before it. */
  round: number
  /** The landings before it. */
  landings: number
  mean: number | null
  /** The landing that it measures for the first time, and the tree before that. */
  update: { id: ExperimentId; replaced: Oid } | null
  runs: EpochRun[]
}

export interface EpochRun {
  /** Null where the harness names no tasks. */
  task: string | null
  score: number | null
  /** The other printed numbers. */
  metrics: Record<string, number>
  /** Why it has no score. */
  error: string | null
  /** What a judge or the harness wrote about it. */
  feedback: string | null
}

/** An idea in words that waits for an experiment. */
export interface BacklogIdea
  extends Omit<EventDraft<'hypothesis-added'>, 'kind' | 'cause' | 'suggested'>,
    Pick<EventDraft<'hypothesis-updated'>, 'experiment' | 'outcome' | 'learnings'> {
  /** suggested: waits for a person's approval. */
  status: EventDraft<'hypothesis-updated'>['status'] | 'suggested'
  id: EventId
  /** The NNN of idea-NNN: its position in the ledger. */
  number: number
}

/** Consecutive runs of GitHub Actions that failed in the same way. */
export interface FruitlessRuns {
  times: number
  run_id: string
  at: string
}

/** The state of a campaign: `fold` builds it from events, `plan` reads it. Plain JSON throughout. */
export interface Campaign extends CampaignStatus {
  fold: number
  /** The seq of the next event. */
  seq: number
  name: string
  spec_path: string
  /** Code of the latest reason for a stop. */
  stop_code: string | null
  /** Experiments approved after the stop: they get one extra round. */
  approved_after_stop: ExperimentId[]
  /** The reason to stop again after it. */
  extra_round: { code: string; reason: string } | null
  /** The cause of events that concern the whole campaign. */
  started: EventId
  started_at: string | null
  /** Waiting for other processes of a machine, which no limit counts. */
  waited_seconds: number
  updated_at: string | null
  rule_version: string
  /** Null when an old ledger does not state it. */
  host: Host | null
  private_repository: boolean
  default_branch: string
  object_format: 'sha1' | 'sha256'
  spec_sha256: string
  spec_yaml: string
  /** The seq of the events that brought the campaign's settings and the spec in force. */
  set_by: { start: number; spec: number }
  aggregation: Aggregation
  /** Of the primary metric, and so of its tasks. */
  direction: TaskDirection
  /** The spec on the default branch at the last check: a difference is an amendment. */
  default_spec_sha256: string
  default_tip: Oid
  /** The latest sync that was ordered to be measured: its time and its merge. */
  sync_ordered: { at: string; pin: Oid } | null
  harness: string
  pin: Point
  start: Point
  /** The commit of the default branch that the incumbent contains: the base of the total improvement. */
  reference: Point
  incumbent: Point
  next_number: number
  calibration: Calibration | null
  /** Null until the harness and the scope in force are probed. */
  probes: HarnessProbes | null
  /** The part that experiments have used, and their number. */
  error_budget: { alpha_spent: number; tests: number }
  /** The loss that simplifications have cost so far. All together may cost one min_effect. */
  simplified: number
  /** Uses of each holdout, by `buildHoldoutKey`. A use counts when it is ordered. */
  holdout_uses: Record<string, number>
  /** The total improvement: the incumbent against the default branch that it contains. */
  progression: (EffectMeasurement & { from: Point; to: Point; covers: ExperimentId[]; jobs: number }) | null
  progressing: { from: Point; to: Point; harness: string; jobs: PairJob[]; parts: number[] } | null
  baseline: Baseline | null
  /** The base of the progress figures: the last incumbent before the first landing, and its numbers. */
  origin: { at: Point; snapshot: Snapshot } | null
  /** In order, without syncs. */
  steps: MeasuredMerge[]
  /** Only `addExperiment` adds entries, because lists are cached. */
  experiments: Readonly<Record<ExperimentId, Experiment>>
  /** They take no part in rounds, counts and the error budget. */
  picks: Record<ExperimentId, PickedChange>
  /** Candidate trees measured with this harness, to recognize duplicates. */
  trees: Record<Oid, ExperimentId>
  /** Passed tests by tree and gate, with this harness. */
  tests: Record<Oid, TestCounts>
  /** Maps the tree of a merge that needed no measurement to the tree whose numbers it shares. */
  measured_as: Record<Oid, Oid>
  /** By harness: whether its first order that ran was isolated. Later orders must match it. */
  isolated: Record<string, boolean>
  /** How the sides of the latest order that ran could reach each other; null where each had a user of its own. */
  unisolated: string | null
  /** Trees that passed with this harness. A revert to such a tree needs no measurement. */
  proven: Record<Oid, OrderId>
  sources: Record<string, ExperimentId>
  orders: Record<OrderId, LiveOrder>
  /** Attempts of the campaign's own orders (those of no experiment), by `buildOrderSubject`. */
  attempts: Record<string, number>
  /** Those of the campaign's own orders whose latest run was lost. */
  interruptions: Record<string, Interruption>
  /** The machine of the latest report, its consecutive reports, and the number of all reports. */
  machine: { boot_id: string; in_a_row: number; reports: number }
  round: Round | null
  landings: Landing[]
  landing: DueLanding | null
  foreign: ForeignTip | null
  ended: number
  /** Experiments that crashed or ran out of time. */
  failures: number
  since_incumbent: number
  spent: CampaignSpending
  /** Real minutes of recent GitHub Actions jobs, by run and job, so that each job is rounded up only once. */
  jobs: Record<string, Record<string, number>>
  /**
   * `asked`: the seq of the latest request, so that proposers take turns. `since_kept`: fruitless answers since its
   * latest kept idea; null when it has none.
   */
  proposers: Record<string, { failures: number; disabled: boolean; asked: number; since_kept: number | null }>
  /** What a person has allowed to spend money that nothing caps. */
  uncapped: string[]
  /** Keys of answers whose cost is recorded, until their idea becomes an experiment. */
  answered: Record<string, true>
  proposal_requests: Record<string, PendingProposal>
  /** Consecutive runs whose orders were lost, or whose proposal jobs left no answer; null after a success. */
  fruitless_measuring: FruitlessRuns | null
  fruitless_asking: FruitlessRuns | null
  judging: Record<string, PendingJudging>
  steered: {
    event: EventId
    action: 'retry' | 'revert' | 'withdraw' | 'pick'
    experiment: ExperimentId
    reason: string
  }[]
  /** Artifacts that a person wants back as they were, until an experiment restores them. */
  restores: RestoreRequest[]
  /** Passes that measured the incumbent, if the spec has epochs. */
  epochs: MeasuredEpoch[]
  /** Acts of people that winnow has answered, as event kind by cause. Each act counts once. */
  handled: Record<string, string>
  /** The latest comment read on each pull request that has more comments than its query returns. */
  comments_read: Record<number, { comment: string; own: string[] }>
  avoid: { text: string; by: string }[]
  alerts: { code: string; about: string | null; message: string; at: string }[]
  backlog: BacklogIdea[]
}

/** Folds one kind of event into the campaign in place. */
export type EventHandler<K extends EventKind> = (campaign: Campaign, event: LedgerEvent<K>) => void

// Creation

export const FOLD_VERSION = 37

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
    approved_after_stop: [],
    extra_round: null,
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
    set_by: { start: 0, spec: 0 },
    aggregation: 'median',
    direction: 'minimize',
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
    probes: null,
    error_budget: { alpha_spent: 0, tests: 0 },
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
    unisolated: null,
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
    spent: { minutes: 0, executions: 0, requests: 0, tokens: 0, usd: 0, usd_for: {} },
    jobs: {},
    ...createEmptyRequests(),
    steered: [],
    restores: [],
    epochs: [],
    handled: {},
    comments_read: {},
    avoid: [],
    alerts: [],
    backlog: [],
  }
}

/** Nothing was asked of proposers and judges yet. */
function createEmptyRequests() {
  return {
    uncapped: [],
    proposers: {},
    answered: {},
    proposal_requests: {},
    fruitless_measuring: null,
    fruitless_asking: null,
    judging: {},
  }
}

/** A request to a proposer in a job of its own, until its idea is an experiment or no idea will come. */
export interface PendingProposal
  extends Pick<EventDraft<'proposal-requested'>, 'key' | 'who' | 'base' | 'until'> {
  carries: EventId | null
  angle: string | null
  /** Null where the proposer spends no money of the campaign, or nothing caps it. */
  may_cost_usd: number | null
  /** The number of the first experiment that its brief could not list. */
  first_unseen: number
  asked_at: string
  /** The run whose job asks. Answers from other runs are ignored. */
  run_id: string
  answer: ProposalResult | null
}

export type ProposalResult = Omit<EventDraft<'proposal-answered'>, 'kind' | 'cause' | 'key'>

/** An order that a separate job has scored by models, until that job answers. */
export interface PendingJudging
  extends Pick<EventDraft<'judging-requested'>, 'key' | 'order' | 'until' | 'may_cost_usd'> {
  asked_at: string
  /** The run whose job judges. Scores from other runs are ignored. */
  run_id: string
}

/** The sum of all judging jobs; `ended` is the latest one's. */
export interface OrderScores
  extends Pick<EventDraft<'judged'>, 'records' | 'model' | 'requests' | 'tokens' | 'usd' | 'ended'> {
  ended_at: string
  /** Consecutive jobs that reached no model. */
  failures: number
}

// Queries

/** Finds the landing of an experiment, unless it was reverted. */
export function findLanding({ landings }: Pick<Campaign, 'landings'>, id: ExperimentId): Landing | undefined {
  return landings.find(({ experiment, reverted }) => experiment === id && reverted === null)
}

/** The verdict stays, but the branch no longer has the change. */
export function isReverted({ landings }: Pick<Campaign, 'landings'>, id: ExperimentId): boolean {
  const own = landings.filter(({ experiment }) => experiment === id)
  return own.length > 0 && own.every(({ reverted }) => reverted !== null)
}

/** Identifies a holdout. Another tree or directory is a fresh holdout with its own count of uses. */
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

/** Returns the metrics measured on exactly the incumbent's tree, with any order; empty when it was not measured. */
export function getIncumbentMetrics(campaign: KnownMetrics): MetricValues {
  const { incumbent, origin, steps } = campaign
  // A second measurement of the same tree is not progress.
  if (steps.length === 0 && origin?.at.tree === incumbent.tree) return aggregateSnapshot(origin.snapshot)
  return findTreeMetrics(campaign, incumbent.tree) ?? {}
}

/** The score of each task of the incumbent, as last measured; null where it printed none. */
export function getIncumbentTasks({
  baseline,
  incumbent,
}: Pick<Campaign, 'baseline' | 'incumbent'>): TaskScores | null {
  return baseline?.tree === incumbent.tree ? (baseline.snapshot.tasks ?? null) : null
}

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
