import type { SyncObstacle } from './alerts.ts'
import type { Approvable, Consent } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { hashSha256 } from './canonical-json.ts'
import type { Priority } from './event-schemas.ts'
import type { EventDraft } from './event.ts'
import type { EventId, ExperimentId, Oid, OrderId } from './ids.ts'
import type { PairedTerms } from './order.ts'
import type { Interruption, PairJob } from './pairs.ts'
import type { FailedPart, MetricValues, TestCounts } from './report.ts'
import type { Outcome, VerdictWord } from './verdict.ts'

type ExperimentStatus =
  | 'queued'
  | 'deferred'
  | 'ordered'
  | 'measured'
  | 'parked'
  /** Decided to be kept, and not merged yet. */
  | 'landing'
  | 'ended'
type ExperimentPurpose = EventDraft<'experiment-opened'>['purpose']

/**
 * The pairs measured of one candidate tree on one base tree with one harness: another head with the same trees
 * continues them, anything else starts anew (decision.md 3.4).
 */
export interface PairedEvidence extends Pick<PairedTerms, 'as' | 'level' | 'share' | 'max_jobs' | 'give_up'> {
  /** The commit that was merged with the base: what is pushed later has confirmed nothing. */
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
  /** When its set of packages was asked about last. */
  asked_at: string | null
  consents: Consent[]
  /** How often one of them was taken back. */
  withdrawals: number
  /** Who brought the head without the right to, and which it was. */
  stranger: { author: string; head: Oid } | null
  /** The head that somebody with that right allowed to be measured. */
  allowed_head: Oid | null
  /** The head that cannot be measured before a person has the default branch merged in, and what is in the way. */
  awaits_sync: { head: Oid; obstacle: SyncObstacle } | null
  round: number | null
  /** The order under way, or the last one whose report came in; after the end, the one that decided. */
  order: OrderId | null
  /** The order that measured it alone on the incumbent, kept while it is measured again in a combination. */
  standalone: OrderId | null
  /** The latest order that measures on the holdout what would land otherwise. */
  holdout: OrderId | null
  attempts: number
  /** How often its measuring was interrupted since it was opened or taken up again. */
  interrupted: number
  /** Its latest order, where that was lost. */
  interruption: Interruption | null
  learnings: string | null
  /** The idea of the backlog that it carries out. */
  carries: EventId | null
  /** The tree that a program answered with; null where no program did. */
  answer_tree: Oid | null
  outcome: Outcome | null
  verdict: VerdictWord | null
  reason: string | null
  /** The file it was refused for. */
  refused_path: string | null
  refused_line: number | null
  /** Which events of the ledger its results are made of, by seq; none once it is closed. */
  told_by: number[]
  /** The `closed` event was written (results and keeper included). */
  closed: boolean
  measured_tree: Oid | null
  /** The part that failed in its latest measurement. */
  failed: FailedPart | null
  /** Its latest measurement: the run, and how many pairs on how many machines there are by now. */
  measured_in: { run: string; pairs: number; machines: number } | null
  metrics: MetricValues
  /** The base's values in the same order, or the stored score it was compared with. */
  base_metrics: MetricValues
  /** Tests that passed in its latest measurement, and on its base. */
  tests: TestCounts
  base_tests: TestCounts
  primary_delta: number | null
  evidence: PairedEvidence | null
  /** It was decided by pairs of the only machine there is. */
  single_machine: boolean
  /** What it has taken of the campaign's level, once and for good; null before its first pair was asked for. */
  share: number | null
  /** Which variant of its idea it was found to be, and by what later ones are told: as long as its share. */
  variant: number | null
  touched: PairedTerms['touched']
  /** How often it was taken up again after its jobs were used up. */
  resumed: number
  /** Measuring ended early: for_now while a large gain is still likely enough for a second look. */
  given_up: 'for_now' | 'for_good' | null
  /** The rule of its next order for ending early. */
  give_up: 'early' | 'late' | 'never'
  /** Already among the campaign's ended experiments, so its end is not counted again. */
  counted: boolean
}

/** One kept change alone on the default branch: measured like an experiment, and counted as none. */
export interface PickedChange extends Experiment {
  /** The kept experiment that it takes. */
  picks: ExperimentId
  /** The commit of the default branch that it stands on. */
  base: Oid
  /** What became of its pull request. */
  fate: PickFate | null
}

/** merged: a person took it. declined: a person closed it. left: it is theirs now. replaced: by a newer pick. */
export type PickFate = NonNullable<EventDraft<'closed'>['fate']>

const experimentLists = new WeakMap<Campaign['experiments'], readonly Experiment[]>()

/**
 * All experiments, in the order they were opened. Of ten thousand a list takes longer to make than to read, and one
 * plan reads it a dozen times: it is made once, until there is one more.
 */
export function listExperiments({ experiments }: Pick<Campaign, 'experiments'>): readonly Experiment[] {
  const known = experimentLists.get(experiments)
  if (known !== undefined) return known
  const all = Object.values(experiments)
  experimentLists.set(experiments, all)
  return all
}

/** The only way in: a list that was made before lacks it. */
export function addExperiment(
  { experiments }: { experiments: Record<ExperimentId, Experiment> },
  experiment: Experiment,
): void {
  experiments[experiment.id] = experiment
  experimentLists.delete(experiments)
}

type Subjects = Pick<Campaign, 'experiments' | 'picks'>

/** Whoever has this number: an experiment, or a change taken alone. */
export function findSubject({ experiments, picks }: Subjects, id: ExperimentId): Experiment | undefined {
  return experiments[id] ?? picks[id]
}

/** All that has a head, a pull request and a verdict of its own. */
export function listSubjects(campaign: Subjects): Experiment[] {
  return [...listExperiments(campaign), ...Object.values(campaign.picks)]
}

export function isPicked(subject: Experiment): subject is PickedChange {
  return subject.purpose === 'pick'
}

/** It is being made or measured: nothing is known of it yet, and nobody is asked about it. */
export function isUnderWay({ status }: Pick<PickedChange, 'status'>): boolean {
  return status === 'queued' || status === 'ordered' || status === 'measured'
}

/** One wish is one pick, whoever finds it. */
export function buildPickKey(wish: EventId): string {
  return `pick:${wish}`
}

type PushedHead = Pick<Experiment, 'status' | 'head' | 'stranger' | 'allowed_head'>

/** Whether what it has now was brought by somebody without the right to, and nobody with it has allowed exactly that. */
export function isAwaitingPermission({ status, head, stranger, allowed_head }: PushedHead): boolean {
  return status === 'queued' && head !== null && stranger?.head === head && allowed_head !== head
}

/** What a person with the right to write says to have it measured. */
export function formatPermissionCommand({ head }: Pick<Experiment, 'head'>): string {
  return `/winnow measure ${head ?? ''}`
}

/** The experiment gets no turn and no verdict before a paused or stopped campaign goes on. */
export function isPausedExperiment(
  { status }: Pick<Campaign, 'status'>,
  experiment: Pick<Experiment, 'status'>,
): boolean {
  const rests = status === 'paused' || status === 'stopped'
  return rests && (experiment.status === 'queued' || experiment.status === 'measured')
}

/** A pull request that is no experiment before the campaign goes on. */
export interface UnopenedPull {
  number: number
  head: Oid
  /** What keeps a campaign that is running from opening it. */
  obstacle: SyncObstacle | null
}

/** What such a pull request was told holds this, so that it is told once, and of what has changed since. */
export function buildPausedMark(
  { status, status_reason }: Pick<Campaign, 'status' | 'status_reason'>,
  { head, obstacle }: UnopenedPull,
): string {
  return `<!-- winnow greeting ${hashSha256(JSON.stringify([head, status, status_reason, obstacle])).slice(0, 24)} -->`
}

/** Not proven, and taken up once more when nothing else is left: not what was given up for good, and nothing twice. */
export function isResumedAutomatically({
  status,
  resumed,
  given_up,
  give_up,
}: Pick<Experiment, 'status' | 'resumed' | 'given_up' | 'give_up'>): boolean {
  return status === 'parked' && give_up === 'early' && resumed === 0 && given_up !== 'for_good'
}
