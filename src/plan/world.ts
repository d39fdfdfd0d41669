import type { z } from 'zod'
import type { TouchedLines } from '../decide/selection.ts'
import type { SuspiciousChange } from '../decide/suspicious-changes.ts'
import type { PackageAddition, ReleaseDates } from '../model/approval.ts'
import type { Campaign, ProposalResult } from '../model/campaign.ts'
import type { ideaFields } from '../model/event-schemas.ts'
import type { EventDraft } from '../model/event.ts'
import { type Experiment, listExperiments, listSubjects } from '../model/experiment.ts'
import type { EventId, ExperimentId, Oid, OrderId, Point } from '../model/ids.ts'
import type { HoldoutSource, OrderCandidate, OrderTerms } from '../model/order.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { ModelCost, Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'

export interface CampaignPullFacts extends PullFacts {
  draft: boolean
  closed_at: string | null
}

/** Everything a plan may depend on: the result of `observe`, the time, and randomness already drawn. */
export interface World extends Omit<JobFacts, 'proposing'> {
  now: string
  /** 64 hex digits that were unpredictable before: coins are derived from them. */
  entropy: string
  campaign: Campaign
  spec: Spec
  optimizeTip: Point | null
  campaignTip: Oid | null
  defaultTip: Point
  pulls: PullFacts[]
  /** Absent where the campaign cannot have a pull request of its own. */
  campaignPull?: CampaignPullFacts | null
  /** The default branch contains every kept change. Absent where a pull request shows it. */
  merged?: true
  /** Tips of the branches of live experiments, by short name; a deleted branch is absent. */
  branches: ReadonlyMap<string, Oid>
  /** On GitHub. Pull requests notify people, so they are opened under a rate limit. */
  hasPublicPulls?: boolean
  /** Orders whose dispatch GitHub refused while the ledger was as it is now. */
  refusedDispatches?: ReadonlySet<OrderId>
  proposals: Proposal[]
  /** Number of further ideas, not prepared before one of them may be opened. */
  unopened: number
  /** Experiments whose head an author without write access pushed. Null: the name is not known yet. */
  outsiders: ReadonlyMap<ExperimentId, string | null>
  /** Why this process measures no code of people without write access, no matter what the spec says. */
  outsidersDenied?: string
  /** Experiments whose head contains another's head that is not on the optimize branch. */
  stacked: ReadonlyMap<ExperimentId, ExperimentId>
  /** Experiments merged with the incumbent, as far as their turn has come. */
  candidates: ReadonlyMap<ExperimentId, CandidateFacts>
  /** Release dates of added packages, as far as registries were asked; null: only recorded dates count. */
  releases: ReleaseDates | null
  sync: SyncFacts | null
  foreign: ForeignFacts | null
  /** Set if the optimize branch is not where the ledger says: its result is not merged. */
  branchMismatch: BranchMismatch | null
  /** Absent where no verdict waits for its merge. */
  mergeCommit?: MergeCommitFacts
  /** The current holdout, once a measured change may have to be tried on it; null before. */
  holdout: HoldoutFacts | null
  /** Set while the harness is to be probed and no order was issued for that. */
  probes: ProbeFacts | null
  reverts: ReadonlyMap<EventId, RevertFacts>
  /** Picks, by the event that requests one, or by the id of one that is open. */
  picks: ReadonlyMap<string, PickFacts>
  runner: RunnerFacts
  askable: string[]
  /** A name for each pending request: first those of this process, then those of separate jobs. */
  asking: string[]
  /** Where proposers are asked: by this process, by a job that follows it, or not after this plan. */
  asks: 'here' | 'elsewhere' | 'later'
  /** The branch of the one idea to measure here; null: measure all that is due. */
  targetBranch: string | null
}

/** The state of all jobs, as the runner that starts them knows it. */
export interface JobFacts {
  /** Orders that a job measures or has measured. */
  runs: ReadonlyMap<OrderId, RunFacts>
  /** Names of the proposers that this process runs, once for each request. */
  proposing: readonly string[]
  /** Answers of proposers whose cost is not in the ledger yet. */
  answers: AnswerFacts[]
  /** Answers of judge jobs to open requests of the ledger. */
  scores: JudgedScores[]
  /** Dollars that this process has set aside and the ledger does not show: for proposers that it runs. */
  setAsideUsd: number
  /** Open requests of the ledger that no job will answer any more; `cost`: where the job told that no model answered. */
  lost: { key: string; reason: string; cost?: ModelCost }[]
  /** A later job of this run asks models. False where this process asks them, or none does. */
  judgeJob: boolean
}

export type JudgedScores = Omit<EventDraft<'judged'>, 'kind' | 'cause'>

export interface AnswerFacts {
  /** Identifies one request for good. */
  key: string
  who: string
  /** The answer has an idea, whose source has this key as well. */
  ok: boolean
  minutes: number
  /** What its models cost, where winnow asked them. */
  cost?: ModelCost
  /** Set where only the ledger will keep it. */
  result?: ProposalResult
}

type BranchMismatch = { is: 'gone' } | { is: 'rewound' | 'foreign'; tip: Point }

/** A commit that GitHub or a person put on the optimize branch while a verdict waits for its merge. */
interface MergeCommitFacts {
  commit: Oid
  tree: Oid
  parents: readonly Oid[]
  /** The verdict that its message names, as `seq:sha256`. */
  names: string | null
}

export interface RunnerFacts {
  /** Id of the runs of this process, known before they start; null where orders run on GitHub. */
  runId: string | null
  machine: string | null
  /** Whether branches and pull requests of other people can still bring ideas. */
  external: boolean
}

export interface PullFacts {
  number: number
  branch: string
  base: string
  state: 'open' | 'merged' | 'closed'
  draft?: boolean
  closed_at?: string | null
  reopened?: true | undefined
  /** The number of open pull requests that winnow reads, if it has not read those opened after this one. */
  newerUnread?: number | undefined
  head: Oid
  title: string
  body: string
  /** winnow's own comments there, each with the key of its kind and subject. */
  ownComments?: readonly { key: string; body: string }[]
}

export type IdeaText = { [K in keyof typeof ideaFields]: z.output<(typeof ideaFields)[K]> }

export interface Proposal extends IdeaText {
  source: { use: string; key: string }
  learnings: string | null
  /** A commit on the incumbent, ready to be a branch; or a person's own head; or why there is none. */
  head: { commit: Oid; base: Point; tree?: Oid } | { rejected: string }
  /** Set when the branch exists already and belongs to a person. */
  branch: string | null
  pull: number | null
  /** Set only for a maintainer's change that makes the code simpler, not faster. */
  simplifies?: true
  /** Number of the first experiment that the proposer's brief could not name. */
  first_unseen?: number
  carries?: EventId
  reverts?: ExperimentId
  /** The artifact that it returns to an earlier version. */
  restores?: string
}

export interface CandidateChange {
  path: string
  status: string
  oldMode: string
  newMode: string
  added: number | null
  deleted: number | null
  /** Size of the new content where it is binary. */
  bytes: number | null
}

export type CandidateFacts =
  | { merged: 'conflict'; head: Oid; base: Oid; paths: string[] }
  | {
      merged: 'clean'
      head: Oid
      base: Oid
      tree: Oid
      changes: CandidateChange[]
      touched: TouchedLines
      /** Lines that could deceive a benchmark. */
      suspicious: SuspiciousChange[]
      /** First violation of scope or limits, found by the rules of `decide`. */
      refusal: { code: string; message: string; path?: string | null; line?: number } | null
      /** Packages that the candidate has and its base lacks, and the digest of that set. */
      additions: {
        packages: PackageAddition[]
        digest: string
        /** For integrities that cover several files: the hash of each file. */
        files: ReadonlyMap<string, readonly string[]>
      }
      /** Contains default-branch commits that the incumbent lacks: sync first. */
      aheadOfSync: boolean
      /** A reverted landing that is part of this head's history. */
      contains: ExperimentId | null
    }

export type SyncFacts =
  /** `spec`: the one on the default branch, where it changed and can be used. */
  | { result: 'conflict'; tip: Oid; paths: string[]; spec?: Spec }
  | { result: 'bad-spec'; tip: Oid; message: string }
  | {
      result: 'clean'
      tip: Oid
      tipTree: Oid
      /** Kept changes that are in the history of that tip already. */
      holds: ExperimentId[]
      /** The merge commit, written already; becomes the incumbent if its gates pass. */
      to: Point
      /** A person's identical merge, on the optimize branch already: becomes the incumbent instead. */
      byHand?: Point
      spec: {
        yaml: string
        sha256: string
        changed: boolean
        parsed: Spec
        /** Whether the repository is private now; only where that is known. */
        private?: boolean
      }
      harness: string
      /** Neither harness, gates nor set-up can read the new commits: no measurement is needed. */
      unread: boolean
    }

/** Packages that would need an approval are refused here: approvals belong to experiments. */
interface ForeignFacts {
  tip: Point
  refusal: { code: string; message: string } | null
}

/** `source` is null where the holdout's command brings its own; `missing` says what is not there. */
export type HoldoutFacts = { source: HoldoutSource | null } | { missing: string }

/** The trees of the probes, on the incumbent; or why there are none. */
export type ProbeFacts =
  | { candidates: OrderCandidate[]; probing: NonNullable<OrderTerms['probing']> }
  | { none: string }

export interface RevertFacts {
  landing: ExperimentId
  /** The tree without the landing, and the order that measured exactly that tree before, if any. */
  result: { tree: Oid; measuredIn: OrderId | null; head: Oid } | { conflict: string[] }
}

export interface PickFacts {
  landing: ExperimentId
  /** The default branch as the campaign has it. */
  base: Point
  /** One commit on the base; or why there is none: the change does not apply there, or is there already. */
  result: { made: Point } | { conflict: string[] } | { present: true }
}

/** What a run has left on this machine so far. `cost`: of the models that it asked. */
export interface RunTraces {
  partial?: PartialReport
  waitedSeconds?: number
  cost?: ModelCost
}

export type RunFacts =
  /**
   * `queued`: waits for its turn on its machine, which counts for no deadline. `waitedSeconds`: the length of
   * that wait, by which the deadline is later. `runId`: of a run on GitHub, which gets its id only after the
   * request.
   */
  | ({ state: 'running'; queued?: true; runId?: string } & RunTraces)
  /** Belongs to this process and has not begun: another order is being measured. */
  | { state: 'waiting' }
  | ({
      state: 'gone'
      started: boolean
      runId: string | null
      why?: string
    } & RunTraces)
  /** Measured, and models still have to score its output: the artifact of its run with this digest. */
  | { state: 'printed'; runId: string; digest: string }
  | { state: 'reported'; runId: string; report: Report }
  | { state: 'unreadable'; runId: string; reason: string }

/** With a target nothing else begins: no other experiment, no proposer, no report on earlier landings. */
export function isTarget(target: World['targetBranch'], branch: string | null): boolean {
  return target === null || branch === target
}

/** The latest experiment of the target branch, should it have had several. */
export function findTargetExperiment(
  campaign: Pick<Campaign, 'experiments'>,
  target: string,
): Experiment | undefined {
  return listExperiments(campaign).findLast(({ branch }) => branch === target)
}

/** True once it has a verdict, or one that only more jobs could change: no work is left for it here. */
export function isTargetSettled(campaign: Pick<Campaign, 'experiments'>, target: string): boolean {
  const found = findTargetExperiment(campaign, target)
  return found !== undefined && (found.status === 'not-proven' || (found.status === 'ended' && found.closed))
}

/** The head contains commits of the default branch that the incumbent lacks. */
export function isAheadOfSync({ candidates }: World, { id }: Experiment): boolean {
  const facts = candidates.get(id)
  return facts?.merged === 'clean' && facts.aheadOfSync
}

/**
 * Finds the pull request of an experiment. Branches are reused: a newer pull request on the branch of an
 * ended experiment is another idea and does not belong to it. Neither does its own pull request once that was
 * reopened with another head, which makes it the next experiment's.
 */
export function createPullFinder({
  pulls,
  campaign,
}: Pick<World, 'pulls' | 'campaign'>): (experiment: Experiment) => PullFacts | undefined {
  const byNumber = new Map(pulls.map(pull => [pull.number, pull]))
  const byBranch = new Map<string, PullFacts>()
  for (const pull of pulls) {
    const known = byBranch.get(pull.branch)
    if (!known || isLater(pull, known)) byBranch.set(pull.branch, pull)
  }
  // Built on first use: in long campaigns most callers look for few pull requests, or none.
  let holders: ReadonlyMap<number, ExperimentId> | null = null
  return experiment => {
    const { pull: number, id } = experiment
    if (number === null) {
      const pull = experiment.branch === null ? undefined : byBranch.get(experiment.branch)
      return pull && isPullMatching(experiment, pull) ? pull : undefined
    }
    const pull = byNumber.get(number)
    if (pull === undefined) return undefined
    holders ??= mapPullHolders(campaign, byNumber)
    return holders.get(number) === id ? pull : undefined
  }
}

/** A number that several experiments share belongs to the last one. */
function mapPullHolders(
  campaign: Campaign,
  byNumber: ReadonlyMap<number, PullFacts>,
): ReadonlyMap<number, ExperimentId> {
  const holders = new Map<number, ExperimentId>()
  for (const { pull, id } of listSubjects(campaign))
    if (pull !== null && byNumber.has(pull)) holders.set(pull, id)
  return holders
}

function isLater(pull: PullFacts, other: PullFacts): boolean {
  if ((pull.state === 'open') !== (other.state === 'open')) return pull.state === 'open'
  return pull.number > other.number
}

function isPullMatching({ owned, status, head }: Experiment, pull: PullFacts): boolean {
  return owned || status !== 'ended' || pull.head === head
}
