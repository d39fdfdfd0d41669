import type { z } from 'zod'
import type { TouchedLines } from '../decide/selection.ts'
import type { PackageAddition, ReleaseDates } from '../model/approval.ts'
import type { Campaign, ProposalResult } from '../model/campaign.ts'
import type { ideaFields } from '../model/event-schemas.ts'
import type { EventDraft } from '../model/event.ts'
import { type Experiment, listExperiments, listSubjects } from '../model/experiment.ts'
import type { EventId, ExperimentId, Oid, OrderId, Point } from '../model/ids.ts'
import type { HoldoutSource } from '../model/order.ts'
import type { PartialReport } from '../model/pairs.ts'
import type { Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'

/** The campaign's own pull request into the default branch. */
export interface CampaignPullFacts extends PullFacts {
  draft: boolean
  closed_at: string | null
}

/** Everything a plan may look at, as values: what `observe` found, the time, and randomness already drawn. */
export interface World {
  now: string
  /** 64 hex digits nobody could know before: coins are derived from it. */
  entropy: string
  campaign: Campaign
  spec: Spec
  optimizeTip: Point | null
  campaignTip: Oid | null
  defaultTip: Point
  pulls: PullFacts[]
  /** Absent where nobody could take it: the campaign has no pull request of its own there. */
  campaignPull?: CampaignPullFacts | null
  /** The default branch has all that was kept, where that is to be heeded and no pull request tells. */
  merged?: true
  /** Tips of the branches that live experiments have, by short name; absent when the branch is gone. */
  branches: ReadonlyMap<string, Oid>
  /** Pull requests are opened before the eyes of people, and no faster than they allow. */
  hasPublicPulls?: boolean
  /** Heads can be shown as being measured, kept, refused. */
  checks?: boolean
  /** What this process has shown of them, by `buildCheckMark`. */
  shownChecks?: ReadonlyMap<ExperimentId, string>
  /** What it has done outside the ledger on this very ledger, by `listRepeatKeys`. */
  doneActions?: ReadonlySet<string>
  proposals: Proposal[]
  /** More ideas that are there, and are not prepared before one of them may be opened. */
  unopened: number
  /** Experiments whose head was brought by somebody who may not write here, with their name; null: not known yet. */
  outsiders: ReadonlyMap<ExperimentId, string | null>
  /** Why this process measures no code of people without write access, whatever the spec says. */
  outsidersDenied?: string
  /** Experiments whose head has another's in it that is not on the optimize branch. */
  stacked: ReadonlyMap<ExperimentId, ExperimentId>
  /** Experiments merged with the incumbent, as far as their turn has come. */
  candidates: ReadonlyMap<ExperimentId, CandidateFacts>
  /** When packages that they add were published, as far as registries were asked; null: only what is recorded counts. */
  releases: ReleaseDates | null
  sync: SyncFacts | null
  foreign: ForeignFacts | null
  /** The optimize branch is not where the ledger says, and its result is not merged. */
  branchMismatch: BranchMismatch | null
  /** Absent where no verdict waits for its merge. */
  mergeCommit?: MergeCommitFacts
  /** Where the holdout is now, once something measured may have to be tried on it; null before. */
  holdout: HoldoutFacts | null
  reverts: ReadonlyMap<EventId, RevertFacts>
  /** One change alone on the default branch, by who wishes it: the event that asked, or the pick that is open. */
  picks: ReadonlyMap<string, PickFacts>
  runs: ReadonlyMap<OrderId, RunFacts>
  runner: RunnerFacts
  /** Proposers that could be asked for one more idea now. */
  askable: string[]
  /** Those that are being asked, as often as they are: by this process, then by jobs of their own. */
  asking: string[]
  /** Where programs are asked: by this process, by a job that follows on it, or by nobody at this look. */
  asks: 'here' | 'elsewhere' | 'later'
  /** Answers of proposers whose cost the ledger lacks. */
  answers: AnswerFacts[]
  /** Askings of which no answer will come. */
  unanswered: { key: string; reason: string }[]
  /** Jobs of their own that have models score; absent where this process asks them. */
  judges?: JudgesFacts
  /** The branch of the one idea that is to be measured here; null: whatever is due. */
  targetBranch: string | null
}

export interface JudgesFacts {
  /** A job follows on this one that asks models. */
  hasJudgeJob: boolean
  /** What such jobs brought, for askings of the ledger that are open. */
  scores: JudgedScores[]
  /** Askings of which nothing will come. */
  lost: { key: string; reason: string }[]
}

/** As `judged` has it. */
export type JudgedScores = Omit<EventDraft<'judged'>, 'kind' | 'cause'>

export interface AnswerFacts {
  /** Of one asking, for good. */
  key: string
  who: string
  /** It brought an idea, which has this key as well. */
  ok: boolean
  minutes: number
  /** Where nothing but the ledger will keep it. */
  result?: ProposalResult
}

type BranchMismatch = { is: 'gone' } | { is: 'rewound' | 'foreign'; tip: Point }

/** The commit that somebody else put on the optimize branch while a verdict waits for its merge. */
interface MergeCommitFacts {
  commit: Oid
  tree: Oid
  parents: readonly Oid[]
  /** The verdict that its message names, as `seq:sha256`. */
  names: string | null
}

export interface RunnerFacts {
  /** What runs orders dispatched by this process is known before they start, on one machine. */
  runId: string | null
  machine: string | null
  /** Whether branches and pull requests opened by others can still bring ideas. */
  external: boolean
}

export interface PullFacts {
  number: number
  branch: string
  /** Short name of the branch it is meant for. */
  base: string
  state: 'open' | 'merged' | 'closed'
  draft?: boolean
  closed_at?: string | null
  /** Somebody opened it again after it was closed. */
  reopened?: true | undefined
  head: Oid
  title: string
  body: string
  /** What winnow has commented there, where it comments. */
  ownComments?: string
}

export type IdeaText = { [K in keyof typeof ideaFields]: z.output<(typeof ideaFields)[K]> }

export interface Proposal extends IdeaText {
  source: { use: string; key: string }
  learnings: string | null
  /** A commit on the incumbent, ready to be a branch; or a person's own head; or why there is none. */
  head: { commit: Oid; base: Point; tree?: Oid } | { rejected: string }
  /** Set when the branch exists already and belongs to whoever made it. */
  branch: string | null
  pull: number | null
  /** Only in what a maintainer brought to make the code simpler, not faster. */
  simplifies?: true
  /** The number of the first experiment that the program's brief could not name. */
  first_unseen?: number
  /** The idea of the backlog that it carries out. */
  carries?: EventId
  /** Only in proposals made to undo a landing. */
  reverts?: ExperimentId
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
      /** Which lines those are, to tell variants of one idea. */
      touched: TouchedLines
      /** First thing wrong with the diff (scope, limits), found by the rules of `decide`. */
      refusal: { code: string; message: string; path?: string | null; line?: number } | null
      /** Packages that the candidate has and its base lacks, and the digest of that set. */
      additions: {
        packages: PackageAddition[]
        digest: string
        /** By integrities that stand for several files: the hash of each. */
        files: ReadonlyMap<string, readonly string[]>
      }
      /** Default-branch commits the incumbent lacks: sync first. */
      aheadOfSync: boolean
      /** A landing that was reverted and is part of this head's history. */
      contains: ExperimentId | null
    }

export type SyncFacts =
  /** `spec` is the one on the default branch, where it changed and can be used. */
  | { result: 'conflict'; tip: Oid; paths: string[]; spec?: Spec }
  | { result: 'bad-spec'; tip: Oid; message: string }
  | {
      result: 'clean'
      tip: Oid
      tipTree: Oid
      /** Kept changes that are in the history of that tip already. */
      holds: ExperimentId[]
      /** The merge commit itself, written already; it becomes the incumbent if its gates pass. */
      to: Point
      /** The same merge, made by a person and on the optimize branch already: it becomes the incumbent instead. */
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
      /** Neither harness, gates nor set-up can read what comes in: nothing has to be measured. */
      unread: boolean
    }

/** What nobody can be asked about here is refused: approvals belong to experiments. */
interface ForeignFacts {
  tip: Point
  refusal: { code: string; message: string } | null
}

/** `source` is null where the holdout's command brings its own; `missing` says what is not there. */
export type HoldoutFacts = { source: HoldoutSource | null } | { missing: string }

export interface RevertFacts {
  landing: ExperimentId
  /** The tree without the landing, and whether exactly that tree was measured before. */
  result: { tree: Oid; measuredIn: OrderId | null; head: Oid } | { conflict: string[] }
}

export interface PickFacts {
  landing: ExperimentId
  /** The default branch as the campaign has it. */
  base: Point
  /** One commit on the base; or why there is none: the change does not apply there, or is there already. */
  result: { made: Point } | { conflict: string[] } | { present: true }
}

export type RunFacts =
  /**
   * queued: it waits for its turn on its machine, and no deadline is about that. waitedSeconds: how long it did, which the
   * deadline is later. runId: of a run elsewhere, which has
   * its id only once it was asked for.
   */
  | { state: 'running'; queued?: true; runId?: string; partial?: PartialReport; waitedSeconds?: number }
  /** Of this process, and not begun: something else is being measured. */
  | { state: 'waiting' }
  | {
      state: 'gone'
      started: boolean
      runId: string | null
      why?: string
      partial?: PartialReport
      waitedSeconds?: number
    }
  /** Measured, and what it printed is still to be scored by models: in the artifact of its run with this digest. */
  | { state: 'printed'; runId: string; digest: string }
  | { state: 'reported'; runId: string; report: Report }
  | { state: 'unreadable'; runId: string; reason: string }

/** Where one idea is meant, nothing else begins: no other experiment, no proposer, no report on earlier landings. */
export function isTarget(only: World['targetBranch'], branch: string | null): boolean {
  return only === null || branch === only
}

/** The experiment that carries the one idea that is meant: the latest, should its branch have had several. */
export function findTargetExperiment(
  campaign: Pick<Campaign, 'experiments'>,
  only: string,
): Experiment | undefined {
  return listExperiments(campaign).findLast(({ branch }) => branch === only)
}

/** It has its verdict, or one that only more jobs could change: there is nothing left to do for it. */
export function isTargetSettled(campaign: Pick<Campaign, 'experiments'>, only: string): boolean {
  const found = findTargetExperiment(campaign, only)
  return found !== undefined && (found.status === 'parked' || (found.status === 'ended' && found.closed))
}

/**
 * Which pull request belongs to an experiment. Branches are used again: a newer one on the branch of an
 * experiment that has ended is somebody's next idea, and none of its business. So is its own, once that has been opened
 * again with another head and is the next experiment's.
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
  // Of long campaigns most who ask have few pull requests to find, or none.
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

/** Whose each of them is by its number: the last one's. */
function mapPullHolders(
  campaign: Campaign,
  byNumber: ReadonlyMap<number, PullFacts>,
): ReadonlyMap<number, ExperimentId> {
  const holders = new Map<number, ExperimentId>()
  for (const { pull, id } of listSubjects(campaign))
    if (pull !== null && byNumber.has(pull)) holders.set(pull, id)
  return holders
}

function isLater(pull: PullFacts, than: PullFacts): boolean {
  if ((pull.state === 'open') !== (than.state === 'open')) return pull.state === 'open'
  return pull.number > than.number
}

function isPullMatching({ owned, status, head }: Experiment, pull: PullFacts): boolean {
  return owned || status !== 'ended' || pull.head === head
}
