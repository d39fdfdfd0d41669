import type { RefUpdate } from '../git/push.ts'
import type { Oid } from '../model/ids.ts'
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

export interface PullEdit {
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
}

export interface NewReview {
  commit: Oid
  state: Review['state']
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

export type RefusalCode = 'unknown-pull' | 'duplicate' | 'no-branch' | 'no-base' | 'nothing-new' | 'merged'

/** One a change, in their order. A refusal stops no other change. */
export type ForgeAnswer =
  | { ok: true; number: number }
  | { ok: false; code: RefusalCode; number: number | null; message: string }

/** Refs somebody has just looked at, or is about to leave behind with a push. */
export interface RefView {
  refs: ReadonlyMap<string, Oid>
  /** Whether a ref that is not among them does not exist; else it was not asked for. */
  covers(ref: string): boolean
}

/** Changes that have not happened yet: they do with the push that carries these updates. */
export interface Staged {
  answers: ForgeAnswer[]
  updates: RefUpdate[]
  accepted(): void
}

/** Which pull requests are wanted whatever became of them. */
export interface Wanted {
  numbers?: readonly number[]
  /** Short names: the last pull request of each. */
  branches?: readonly string[]
}

/** Where pull requests are kept. What it holds is output (invariant 11): every change may be repeated. */
export interface Forge {
  readonly kind: 'local' | 'github'
  /** The open pull requests, and the wanted ones in whatever state they are; by number. */
  list(wanted?: Wanted, view?: RefView): Promise<Pull[]>
  open(pull: NewPull): Promise<number>
  update(number: number, edit: PullEdit): Promise<void>
  comment(number: number, body: string, options?: Omit<NewComment, 'body'>): Promise<void>
  review(number: number, review: NewReview): Promise<void>
  label(number: number, edit: LabelEdit): Promise<void>
  close(number: number, reason: string): Promise<void>
  /** Several changes in one write, where the forge can. */
  batch(changes: readonly ForgeChange[]): Promise<ForgeAnswer[]>
  /** The same as part of the engine's own push; only where pull requests are kept in refs. */
  stage?(changes: readonly ForgeChange[], after: RefView): Promise<Staged>
}
