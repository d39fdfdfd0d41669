import { ForgeError } from '../errors.ts'
import type { RefUpdate } from '../git/push.ts'
import type { Host, Oid } from '../model/ids.ts'
import type { Pull, Review } from './pull.ts'

export interface NewPull {
  /** Short names. */
  branch: string
  base: string
  title: string
  body: string
  draft?: boolean
  labels?: readonly string[]
}

interface PullEdit {
  title?: string
  body?: string
  draft?: boolean
}

export interface NewComment {
  body: string
  /** Sticky: the comment with this marker is rewritten in place. */
  marker?: string
  /** Tells a comment made twice on purpose from a repeat of the same one. */
  nonce?: string
  /** The id of the comment it answers: it is no older than that one. */
  after?: string
}

export interface NewReview {
  commit: Oid
  state: Exclude<Review['state'], 'dismissed'>
  body: string
}

export interface LabelEdit {
  add?: readonly string[]
  remove?: readonly string[]
}

export type ForgeChange =
  | ({ kind: 'open' } & NewPull)
  | ({ kind: 'update'; number: number } & PullEdit)
  | ({ kind: 'comment'; number: number } & NewComment)
  | ({ kind: 'review'; number: number } & NewReview)
  | ({ kind: 'label'; number: number } & LabelEdit)
  | { kind: 'close'; number: number; reason: string }

export type ForgeRefusalCode =
  | 'unknown-pull'
  | 'duplicate'
  | 'no-branch'
  | 'no-base'
  | 'nothing-new'
  | 'merged'

/** One a change, in their order. A refusal stops no other change. */
export type ForgeAnswer =
  | { ok: true; number: number }
  | { ok: false; code: ForgeRefusalCode; number: number | null; message: string }
  /** The forge would not do it, for a reason that is none of its rules for pull requests. */
  | { ok: false; code: 'refused'; number: number | null; message: string; error: ForgeError }

/** Refs somebody has just looked at, or is about to leave behind with a push. */
export interface RefView {
  refs: ReadonlyMap<string, Oid>
  /** Whether a ref that is not among them does not exist; else it was not asked for. */
  covers(ref: string): boolean
  /** At two looks with the same one nothing has moved in between but what this process changed on the forge. */
  moment?: string
}

/** Changes that have not happened yet: they do with the push that carries these updates. */
export interface StagedChanges {
  answers: ForgeAnswer[]
  updates: RefUpdate[]
  accepted(): void
}

/** Which pull requests are wanted whatever became of them. */
export interface PullQuery {
  numbers?: readonly number[]
  /** Short names: the last pull request of each into the campaign's branch. */
  branches?: readonly string[]
  /**
   * So many of those into the campaign's branch that are not open: the last that anything happened to. Where there are
   * no other people nothing does.
   */
  recent?: number
  /** The last pull request of each of these branches of ours into the base named with it. */
  elsewhere?: readonly Pick<NewPull, 'branch' | 'base'>[]
  /** How far the comments of a pull request were read, by its number: only later ones are wanted, and our own. */
  read?: ReadonlyMap<number, ReadPosition>
}

export interface ReadPosition {
  /** The id of the last comment that was read. */
  comment: string
  /** Our own comments up to there, by the name that the forge finds them by. */
  own: readonly string[]
}

/** How a head stands, shown beside it: an output, like everything here. */
export interface Check {
  name: string
  head: Oid
  /** Ours, to be found again by. */
  id: string
  state: 'in-progress' | 'success' | 'neutral' | 'failure'
  title: string
  summary: string
  annotations?: readonly Annotation[]
  /** An earlier process may have shown it, and left no trace of that but the check itself. */
  again?: true
}

interface Annotation {
  path: string
  line: number
  message: string
}

/** Done; not done; not understood. */
export type Reaction = '+1' | '-1' | 'confused'

/** Whoever is among them approves nothing of it. */
export interface HeadAuthors {
  head: Oid
  /** Who pushed it; null where that cannot be told. */
  pusher: string | null
  /** Whom its commits name: that can be made up by who pushes, and so never clears anybody. */
  named: readonly string[]
}

export type Permission = 'admin' | 'write' | 'read' | 'none'

/** A run of our own workflow file to be started. */
export interface RunStart {
  /** Short name of the branch it runs on. */
  branch: string
  inputs: Readonly<Record<string, string>>
}

export interface WorkflowRun {
  id: number
  attempt: number
  /** Null while it waits or runs. */
  conclusion: string | null
}

/** What a job of a run uploaded: untrusted, whoever wrote it. */
export interface Artifact {
  id: number
  name: string
  bytes: number
  expired: boolean
  /** SHA-256 of its archive in hex, as the forge says; null where it says none. */
  digest: string | null
}

/** What may be taken from an artifact. */
export interface ExpectedArtifact {
  /** The one file that must be in it. */
  file: string
  /** More than this is not even read. */
  most: number
  /** SHA-256 of its archive in hex: any job of a run can replace what another one uploaded. */
  digest: string
}

export type UnzipResult = { ok: true; bytes: Uint8Array } | { ok: false; why: string }

/** Machines that are not this one. */
export interface Workflows {
  /**
   * The id of the new run; null where the server does not tell it (Enterprise Servers). When an answer is lost, a retry
   * may start a second run: that one finds nothing to do.
   */
  start(wanted: RunStart): Promise<number | null>
  /** Null where it is gone. */
  run(id: number): Promise<WorkflowRun | null>
  /** A run that has ended already is left as it is. */
  cancel(run: number): Promise<void>
  /** What a run uploaded under these names, however much else it uploaded. */
  artifacts(run: number, names: readonly string[]): Promise<Artifact[]>
  download(artifact: Artifact, parcel: ExpectedArtifact): Promise<UnzipResult>
}

/** What the forge is to merge: this head and no other, in these words. */
export interface PullMerge {
  head: Oid
  title: string
  message: string
}

export type MergeAnswer =
  | { ok: true; commit: Oid }
  /** `moved`: the head or the base is another one now, so there is something else to look at. */
  | { ok: false; why: 'moved' | 'refused'; message: string }

/** Where pull requests are kept. What it holds is output (invariant 11): every change may be repeated. */
export interface Forge {
  readonly kind: Host
  /** The address of the repository's page, for links in texts; only where people read them there. */
  readonly page?: string
  /** The open pull requests, and the wanted ones in whatever state they are; by number. */
  list(wanted?: PullQuery, view?: RefView): Promise<Pull[]>
  open(pull: NewPull): Promise<number>
  update(number: number, edit: PullEdit): Promise<void>
  comment(number: number, body: string, options?: Omit<NewComment, 'body'>): Promise<void>
  review(number: number, review: NewReview): Promise<void>
  label(number: number, edit: LabelEdit): Promise<void>
  close(number: number, reason: string): Promise<void>
  /** Several changes in one write, where the forge can. */
  batch(changes: readonly ForgeChange[]): Promise<ForgeAnswer[]>
  /** The same as part of the engine's own push; only where pull requests are kept in refs. */
  stage?(changes: readonly ForgeChange[], after: RefView): Promise<StagedChanges>
  /** Merges a pull request as the forge does; only where it can. A repeat is the same merge. */
  merge?(number: number, merge: PullMerge): Promise<MergeAnswer>
  /** Shows how a head stands, or shows it anew; only where there is a place for that. */
  check?(check: Check): Promise<void>
  /**
   * What somebody may do to the repository; only where there are other people. Null: enough people were asked about
   * in this wake-up, and the next one asks.
   */
  readPermission?(login: string): Promise<Permission | null>
  /** Whether somebody is in a team (`org/team`); null: the token may not know. Only where there are teams. */
  isMember?(team: string, login: string): Promise<boolean | null>
  /** Who brought a pull request's head, as far as the forge can say; only where there are other people. */
  readHeadAuthors?(number: number): Promise<HeadAuthors>
  /** Shows who wrote a comment that it was read; only where there is a place for that. */
  react?(comment: string, how: Reaction): Promise<void>
  /** Whether the repository is hidden from the public; only where somebody else keeps it. */
  readonly isPrivate?: () => Promise<boolean>
  readonly workflows?: Workflows
}

/** The single changes are batches of one: a refusal, which a batch answers, is an error here. */
export function withSingleChanges(core: Pick<Forge, 'kind' | 'list' | 'batch' | 'stage'>): Forge {
  async function change(one: ForgeChange): Promise<number> {
    const [answer] = await core.batch([one])
    if (answer?.ok === true) return answer.number
    if (answer?.code === 'refused') throw answer.error
    throw new ForgeError(answer?.message ?? `the forge did not answer to ${one.kind}`)
  }

  return {
    ...core,
    open: pull => change({ kind: 'open', ...pull }),
    async update(number, edit) {
      await change({ kind: 'update', number, ...edit })
    },
    async comment(number, body, options = {}) {
      await change({ kind: 'comment', number, body, ...options })
    },
    async review(number, review) {
      await change({ kind: 'review', number, ...review })
    },
    async label(number, edit) {
      await change({ kind: 'label', number, ...edit })
    },
    async close(number, reason) {
      await change({ kind: 'close', number, reason })
    },
  }
}
