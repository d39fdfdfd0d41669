import type { Approvable, Consent, HoldFinding } from './approval.ts'
import type { EventDraft } from './event.ts'
import type { Priority, SyncObstacle } from './event-schemas.ts'
import type { EventId, ExperimentId, Oid, OrderId } from './ids.ts'
import type { PairedTerms } from './order.ts'
import type { Interruption, PairJob } from './pairs.ts'
import type { FailedPart, MetricValues, TestCounts } from './report.ts'
import type { CampaignStatus } from './status.ts'
import type { TaskSummary } from './tasks.ts'
import type { Outcome, VerdictWord } from './verdict.ts'

type ExperimentStatus =
  | 'queued'
  | 'deferred'
  | 'ordered'
  | 'measured'
  | 'not-proven'
  /** Decided to be kept, but not merged yet. */
  | 'landing'
  | 'ended'
type ExperimentPurpose = EventDraft<'experiment-opened'>['purpose']

/**
 * The pairs of one candidate tree and one base tree with one harness. Another head with the same trees continues
 * them; any other change starts again (docs/deciding.md, How strict).
 */
export interface PairedEvidence
  extends Pick<PairedTerms, 'as' | 'alpha' | 'alpha_share' | 'max_jobs' | 'give_up'> {
  /** The commit that was merged with the base. Later commits are not confirmed by these pairs. */
  head: Oid
  base: Oid
  tree: Oid
  harness: string
  jobs: PairJob[]
}

export interface Experiment extends Approvable {
  id: ExperimentId
  number: number
  opened: EventId
  opened_at: string
  purpose: ExperimentPurpose
  hypothesis: string
  category: string
  priority: Priority
  required_deps: string[]
  family: string | null
  source: { use: string; key: string }
  branch: string | null
  owned: boolean
  pull: number | null
  head: Oid | null
  status: ExperimentStatus
  asked_at: string | null
  consents: Consent[]
  /** The author without write permission who pushed this head. */
  needs_permission: { author: string; head: Oid } | null
  /** The head that a user with write permission allowed to be measured. */
  allowed_head: Oid | null
  /** A head that would be kept, if a person had read its change. */
  held: { head: Oid; findings: HoldFinding[] } | null
  /** The head that cannot be measured before a person merges the default branch, and the obstacle. */
  awaits_sync: { head: Oid; obstacle: SyncObstacle } | null
  round: number | null
  /** The order under way, or the last one with a report; after the end, the order that decided. */
  order: OrderId | null
  /** The order that measured it alone on the incumbent, kept while a combination measures it again. */
  standalone: OrderId | null
  /** The latest order that measured it on the holdout before a landing. */
  holdout: OrderId | null
  attempts: number
  /** Interrupted measurements since it was opened or resumed. */
  interrupted: number
  /** Its latest order, when that was lost. */
  interruption: Interruption | null
  learnings: string | null
  carries: EventId | null
  /** The tree of a program's answer; null when no program proposed it. */
  answer_tree: Oid | null
  outcome: Outcome | null
  verdict: VerdictWord | null
  reason: string | null
  refused_path: string | null
  refused_line: number | null
  /** The seq of each ledger event that its results consist of; empty after it is closed. */
  result_events: number[]
  /** The `closed` event was written: its results are committed, and the closed branch keeps its head. */
  closed: boolean
  measured_tree: Oid | null
  failed: FailedPart | null
  /** The run of its latest measurement, and the pairs and machines so far. */
  measured_in: { run: string; pairs: number; machines: number } | null
  metrics: MetricValues
  /** The base's values in the same order, or the stored score of the comparison. */
  base_metrics: MetricValues
  /** Passed tests of its latest measurement, and of its base. */
  tests: TestCounts
  base_tests: TestCounts
  /** How the tasks of its latest measurement changed; null where the harness printed none. */
  tasks: TaskSummary | null
  primary_delta: number | null
  evidence: PairedEvidence | null
  /** The decision rests on pairs of a single machine. */
  single_machine: boolean
  /** What was known of the harness at its latest verdict; null before. */
  guard: string | null
  /** How its sides could reach each other at its latest verdict; null where each had a user of its own. */
  unisolated: string | null
  /** What it has taken of the error budget for good; null before its first pair was ordered. */
  alpha_share: number | null
  /** Stays fixed like its share; later variants are compared with the lines it touched. */
  variant: number | null
  touched: PairedTerms['touched']
  resumed: number
  /** Measuring ended early; for_now: a large gain is still likely enough for a second attempt. */
  given_up: 'for_now' | 'for_good' | null
  give_up: 'early' | 'late' | 'never'
  /** Already counted among the campaign's ended experiments. */
  counted: boolean
}

/** A single kept change on top of the default branch. It is measured like an experiment, but not counted as one. */
export interface PickedChange extends Experiment {
  picks: ExperimentId
  base: Oid
  pick_end: PickEnd | null
}

/** Merged, closed or taken over by a person, or replaced by a newer pick. */
export type PickEnd = NonNullable<EventDraft<'closed'>['pick_end']>

// Experiments and picks of a campaign

type Experiments = Readonly<Record<ExperimentId, Experiment>>

const experimentLists = new WeakMap<Experiments, readonly Experiment[]>()

/** Cached until the next experiment: one plan reads the list often, and ten thousand take long to collect. */
export function listExperiments({ experiments }: { experiments: Experiments }): readonly Experiment[] {
  const all = experimentLists.get(experiments) ?? Object.values(experiments)
  experimentLists.set(experiments, all)
  return all
}

/** The only function that adds an experiment, because it also drops the cached list. */
export function addExperiment(
  { experiments }: { experiments: Record<ExperimentId, Experiment> },
  experiment: Experiment,
): void {
  experiments[experiment.id] = experiment
  experimentLists.delete(experiments)
}

interface Subjects {
  experiments: Experiments
  picks: Readonly<Record<ExperimentId, PickedChange>>
}

export function findSubject({ experiments, picks }: Subjects, id: ExperimentId): Experiment | undefined {
  return experiments[id] ?? picks[id]
}

export function findOpenSubject(campaign: Subjects, id: ExperimentId): Experiment | undefined {
  const subject = findSubject(campaign, id)
  return subject?.status === 'ended' ? undefined : subject
}

/** Lists experiments and picks: everything with a head, a pull request and a verdict of its own. */
export function listSubjects(campaign: Subjects): Experiment[] {
  return [...listExperiments(campaign), ...Object.values(campaign.picks)]
}

export function isPicked(subject: Experiment): subject is PickedChange {
  return subject.purpose === 'pick'
}

const UNDECIDED: ReadonlySet<ExperimentStatus> = new Set(['queued', 'deferred', 'ordered', 'measured'])

/** True before its next verdict. An experiment that is measured again still has its earlier one. */
export function isUndecided({ status }: Pick<Experiment, 'status'>): boolean {
  return UNDECIDED.has(status)
}

/** True while it is being prepared or measured, so that no result and no approval request exists. */
export function isUnderWay({ status }: Pick<PickedChange, 'status'>): boolean {
  return status === 'queued' || status === 'ordered' || status === 'measured'
}

export function buildPickKey(request: EventId): string {
  return `pick:${request}`
}

export function buildRestoreKey({ event }: { event: EventId }): string {
  return `restore:${event}`
}

// Waiting states

type PushedHead = Pick<Experiment, 'status' | 'head' | 'needs_permission' | 'allowed_head'>

/**
 * True when a user without write permission pushed the current head, and no user with that permission has allowed
 * exactly this head.
 */
export function isAwaitingPermission({ status, head, needs_permission, allowed_head }: PushedHead): boolean {
  return status === 'queued' && head !== null && needs_permission?.head === head && allowed_head !== head
}

export function formatPermissionCommand({ head }: Pick<Experiment, 'head'>): string {
  return `/winnow measure ${head ?? ''}`
}

export function isPausedExperiment(
  { status }: Pick<CampaignStatus, 'status'>,
  experiment: Pick<Experiment, 'status'>,
): boolean {
  const isHalted = status === 'paused' || status === 'stopped'
  return isHalted && (experiment.status === 'queued' || experiment.status === 'measured')
}

/** A pull request that becomes an experiment only after the campaign continues. */
export interface UnopenedPull {
  number: number
  head: Oid
  /** The obstacle that stops a running campaign from opening it. */
  obstacle: SyncObstacle | null
}

/** An unproven experiment is resumed once, when the queue is empty. */
export function isResumedAutomatically(
  experiment: Pick<Experiment, 'status' | 'resumed' | 'given_up' | 'give_up'>,
): boolean {
  const { status, resumed, given_up, give_up } = experiment
  return status === 'not-proven' && give_up === 'early' && resumed === 0 && given_up !== 'for_good'
}
