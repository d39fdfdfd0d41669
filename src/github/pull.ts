import type { Oid } from '../model/ids.ts'

export interface Comment {
  id: string
  author: string
  at: string
  body: string
  /** Edited after it was posted, possibly by another person. */
  edited?: true
  /** Posted by winnow. */
  own?: true
  /** Names the kind and subject of winnow's own comment (`computeMarkerKey`). */
  key?: string
  /** winnow has answered it (`getAnswerMarker`). */
  answered?: true
  /** winnow added the reaction for "done". */
  done?: true
  /** winnow added the reaction for "not done". */
  declined?: true
  /** The forge associates the author with the project: a hint, not a right. */
  near?: true
  /** Node id of our own comment that answers no other comment. */
  node?: string
}

export interface Review {
  author: string
  at: string
  /** The reviewed head. The review does not cover later heads. */
  commit: Oid
  state: 'approved' | 'changes-requested' | 'commented' | 'dismissed'
  /** The forge says that the author has write access. */
  writer?: true
}

export const COMMENTS_AT_ONCE = 50

export interface Pull {
  number: number
  title: string
  body: string
  /** Short name of the head branch. */
  branch: string
  /** Tip of the branch, or the last known tip after it was deleted. */
  head: Oid
  base: string
  author: string
  state: 'open' | 'merged' | 'closed'
  draft: boolean
  comments: Comment[]
  /** The pull request has earlier comments that winnow has not read. */
  unread?: true
  /** More are open than winnow reads at once, which is this many: it has not read those opened after this one. */
  newerUnread?: number
  reviews: Review[]
  merged_commit: Oid | null
  closed_at: string | null
  reopened?: true
}

/** GitHub serves a fork's branch (`owner:name`) under the pull request's number. */
export function getHeadRef({ branch, number }: Pick<Pull, 'branch' | 'number'>): string {
  return branch.includes(':') ? `refs/pull/${number}/head` : `refs/heads/${branch}`
}

export function getAnswerMarker({ id }: Pick<Comment, 'id'>): string {
  return `answer ${id}`
}
