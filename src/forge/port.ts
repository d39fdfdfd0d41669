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

/** Where pull requests are kept. What it holds is output (invariant 11): every change may be repeated. */
export interface Forge {
  readonly kind: 'local' | 'github'
  /** The open pull requests, and the watched ones in whatever state they are; by number. */
  list(watched?: readonly number[]): Promise<Pull[]>
  open(pull: NewPull): Promise<number>
  update(number: number, edit: PullEdit): Promise<void>
  comment(number: number, body: string, options?: Omit<NewComment, 'body'>): Promise<void>
  review(number: number, review: NewReview): Promise<void>
  label(number: number, edit: LabelEdit): Promise<void>
  close(number: number, reason: string): Promise<void>
  /** Several changes in one write, where the forge can. */
  batch(changes: readonly ForgeChange[]): Promise<ForgeAnswer[]>
}
