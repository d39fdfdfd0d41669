import type { ForgeError } from '../errors.ts'
import type { Check } from '../model/github.ts'
import type { Oid } from '../model/ids.ts'
import type { Pull } from './pull.ts'

export interface NewPull {
  /** Short name. */
  branch: string
  base: string
  title: string
  body: string
  draft?: boolean
}

export interface PullEdit {
  title?: string
  body?: string
  /** Marks a draft as ready for review. */
  draft?: false
}

export interface NewComment {
  body: string
  /** winnow rewrites its comment with this marker in place. */
  marker: string
  /** The id of the comment that it answers, which is never newer. */
  after?: string
}

export type ForgeChange =
  | ({ kind: 'open' } & NewPull)
  | ({ kind: 'update'; number: number } & PullEdit)
  | ({ kind: 'comment'; number: number } & NewComment)
  | { kind: 'close'; number: number }

export type ForgeRefusalCode =
  | 'unknown-pull'
  | 'duplicate'
  | 'no-branch'
  | 'no-base'
  | 'nothing-new'
  | 'merged'

/** One per change, in the same order. A refusal does not stop the other changes. */
export type ForgeAnswer =
  | { ok: true; number: number }
  | { ok: false; code: ForgeRefusalCode; number: number | null; message: string }
  /** Refused for a reason other than the forge's rules for pull requests. */
  | { ok: false; code: 'refused'; number: number | null; message: string; error: ForgeError }

export interface PullQuery {
  numbers?: readonly number[]
  /** Short names. Returns the latest pull request of each into the campaign branch. */
  branches?: readonly string[]
  /** Number of recently updated closed pull requests into the campaign branch to read as well. */
  recent?: number
  /** Returns the latest pull request of each of these branches into the named base. */
  elsewhere?: readonly Pick<NewPull, 'branch' | 'base'>[]
  /** Read position by pull request number. Returns only later comments, and our own. */
  read?: ReadonlyMap<number, ReadPosition>
}

export interface ReadPosition {
  /** The id of the last comment that was read. */
  comment: string
  /** Our own comments up to there, by their node id. */
  own: readonly string[]
}

/** Done, not done, not understood. */
export type Reaction = '+1' | '-1' | 'confused'

/** People who contributed to a head. None of them can approve it. */
export interface HeadAuthors {
  head: Oid
  /** The person who pushed the head; null when unknown. */
  pusher: string | null
  /** Authors named by the commits. The pusher can forge these names, so they only ever exclude an approver. */
  named: readonly string[]
}

export type Permission = 'admin' | 'write' | 'read' | 'none'

export interface RunStart {
  /** Short name. */
  branch: string
  inputs: Readonly<Record<string, string>>
}

export interface WorkflowRun {
  id: number
  attempt: number
  /** Null while the run is queued or in progress. */
  conclusion: string | null
}

/** An upload of a run's job. Untrusted, because every job of a run can upload it. */
export interface Artifact {
  id: number
  name: string
  bytes: number
  expired: boolean
  /** SHA-256 of the archive in hex, as the forge reports it; null if it does not. */
  digest: string | null
}

export interface ExpectedArtifact {
  /** The only file in it. */
  file: string
  /** Largest size in bytes. winnow reads no more than this. */
  most: number
  /** SHA-256 of the archive in hex. Any job of a run can replace the upload of another job. */
  digest: string
}

export type UnzipResult = { ok: true; bytes: Uint8Array } | { ok: false; why: string }

export interface Workflows {
  /**
   * Returns the id of the new run, or null where the server does not report it (Enterprise Server). A retry
   * after a lost answer may start a second run, which finds no work.
   */
  start(wanted: RunStart): Promise<number | null>
  /** Null if the run was deleted. */
  run(id: number): Promise<WorkflowRun | null>
  /** Does nothing when the run has ended. */
  cancel(run: number): Promise<void>
  /** Returns the artifacts with these names, however many others the run uploaded. */
  artifacts(run: number, names: readonly string[]): Promise<Artifact[]>
  download(artifact: Artifact, expected: ExpectedArtifact): Promise<UnzipResult>
}

export interface PullMerge {
  head: Oid
  title: string
  message: string
}

export type MergeAnswer =
  | { ok: true; commit: Oid }
  /** `moved`: the head or the base has changed, so the caller must look again. */
  | { ok: false; why: 'moved' | 'refused'; message: string }

/** GitHub as the engine uses it. What winnow writes there is output (invariant 11): any write can be repeated. */
export interface Forge {
  /** The repository's web address, for links in texts. Missing where there is no web page. */
  readonly page?: string
  /**
   * Returns the open pull requests and the queried ones in any state, by number. Two calls with the same
   * `moment` differ only by changes that this process made.
   */
  list(wanted?: PullQuery, moment?: string): Promise<Pull[]>
  batch(changes: readonly ForgeChange[]): Promise<ForgeAnswer[]>
  /** Merges a pull request. A repeat returns the same merge. */
  merge(number: number, merge: PullMerge): Promise<MergeAnswer>
  check(check: Check): Promise<void>
  /** Null: the limit of lookups per tick is reached, and the next tick asks again. */
  readPermission(login: string): Promise<Permission | null>
  /** Team: `org/team`. Null: the token may not read it. */
  isMember(team: string, login: string): Promise<boolean | null>
  readHeadAuthors(number: number): Promise<HeadAuthors>
  react(comment: string, how: Reaction): Promise<void>
  isPrivate(): Promise<boolean>
  /** Missing where all work runs in the job of this process. */
  readonly workflows?: Workflows
}
