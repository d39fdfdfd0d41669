import { describe, expect, it } from 'vitest'
import type { Observation } from '../../src/engine/observe/observe.ts'
import type { Comment, Pull } from '../../src/github/pull.ts'
import { buildReadEvents, listCommentCommands } from '../../src/cli/comments.ts'
import { aPull } from '../github/a-pull.ts'
import { campaign, type CampaignBuilder } from '../plan/a-campaign.ts'

function said(id: number, rest: Partial<Comment> = {}): Comment {
  const at = new Date(Date.parse('2027-01-02T00:00:00Z') + id * 1000).toISOString()
  return { id: String(id), author: 'ada', at, body: '/winnow stop', ...rest }
}

function seeing(
  comments: readonly Comment[],
  built: CampaignBuilder = campaign(),
  rest: Partial<Pull> = {},
): Pick<Observation, 'pulls'> & { world: Pick<Observation['world'], 'campaign' | 'now'> } {
  const world = { campaign: built.campaign, now: '2027-01-05T00:00:00Z' }
  return { pulls: [aPull({ comments: [...comments], ...rest })], world }
}

function idsOf(comments: readonly Comment[], built?: CampaignBuilder): string[] {
  return listCommentCommands(seeing(comments, built), new Set(['9'])).map(({ comment }) => comment.id)
}

function readUpTo(comment: number): CampaignBuilder {
  return campaign().add({
    kind: 'comments-read',
    cause: `comments up to ${comment}`,
    pull: 7,
    comment: String(comment),
    own: ['IC_1'],
  })
}

describe('a pending command in a comment', () => {
  it('is unedited, by a person, and has no answer and no reaction', () => {
    expect(
      idsOf([
        said(1),
        said(2, { answered: true }),
        said(3, { declined: true }),
        said(10, { done: true }),
        said(4, { edited: true }),
        said(5, { author: 'renovate[bot]' }),
        said(6, { own: true }),
        said(7, { body: 'stop, please' }),
        said(8, { at: '2020-01-01T00:00:00Z' }),
        said(9),
      ]),
    ).toEqual(['1'])
  })

  it('is not one that was recorded as read', () => {
    expect(idsOf([said(98), said(99), said(100), said(101)], readUpTo(100))).toEqual(['101'])
    expect(idsOf([said(98), said(99), said(101)], readUpTo(100).add(earlier()))).toEqual(['101'])
  })
})

describe('a comment on a closed pull request', () => {
  /** One said before it, one as it was closed, one after. */
  const SAID = [said(10), said(20), said(30)]
  const closedAt = (closed_at: string, more: Partial<Pull> = {}): Partial<Pull> => ({
    state: 'closed',
    closed_at,
    ...more,
  })
  const heard = (rest: Partial<Pull>, built = campaign()) =>
    listCommentCommands(seeing(SAID, built, rest), new Set()).map(({ comment }) => comment.id)
  const LONG_AGO = '2027-01-02T00:00:20Z'

  it('is ignored if it is older than a closing long ago', () => {
    expect(heard(closedAt(LONG_AGO))).toEqual(['30'])
    expect(heard(closedAt(LONG_AGO, { state: 'merged' }))).toEqual(['30'])
  })

  it('is handled after a recent closing, which it may have come with', () => {
    expect(heard(closedAt('2027-01-04T00:00:01Z'))).toEqual(['10', '20', '30'])
    expect(heard(closedAt('2027-01-03T23:59:59Z'))).toEqual([])
  })

  it('is handled after the pull request is reopened', () => {
    expect(heard({ state: 'open', closed_at: null, reopened: true })).toEqual(['10', '20', '30'])
  })

  it('follows the ledger where comments were recorded as read', () => {
    expect(heard(closedAt(LONG_AGO), readUpTo(10))).toEqual(['20', '30'])
  })

  it('is still answered if the ledger has recorded it', () => {
    const built = campaign().add({
      kind: 'note',
      cause: 'comment:10',
      text: 'heard and not answered',
      experiment: null,
    })
    expect(heard(closedAt(LONG_AGO), built)).toEqual(['10', '30'])
  })
})

/** Two ticks at once: what was read less far comes later. */
function earlier() {
  return { kind: 'comments-read', cause: 'late', pull: 7, comment: '98', own: [] as string[] } as const
}

describe('how far comments were read', () => {
  const crowd = Array.from({ length: 80 }, (_, index) => said(index + 1, { body: `${index}` }))

  it('is recorded for long threads, without the newest comments', () => {
    const comments = [said(0, { own: true, node: 'IC_0' }), ...crowd]
    expect(buildReadEvents(seeing(comments), [])).toEqual([
      { kind: 'comments-read', pull: 7, comment: '70', own: ['IC_0'] },
    ])
    expect(buildReadEvents(seeing(comments.slice(0, 50)), [])).toEqual([])
    expect(buildReadEvents(seeing(comments, readUpTo(40)), [])).toEqual([])
  })

  it('is not recorded before unread comments or commands without an answer', () => {
    expect(buildReadEvents(seeing(crowd, campaign(), { unread: true }), [])).toEqual([])
    const waits = (id: number) => [{ pull: aPull(), comment: said(id), words: ['stop'] }]
    expect(buildReadEvents(seeing(crowd), waits(70))).toEqual([])
    expect(buildReadEvents(seeing(crowd), waits(71))).toHaveLength(1)
  })
})
