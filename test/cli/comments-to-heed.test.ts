import { describe, expect, it } from 'vitest'
import type { Observation } from '../../src/engine/observe.ts'
import type { Comment, Pull } from '../../src/forge/pull.ts'
import { commandsIn, readingDone } from '../../src/verbs/comments/commands.ts'
import { aPull } from '../forge/a-pull.ts'
import { campaign, type CampaignBuilder } from '../plan/a-campaign.ts'

function said(id: number, rest: Partial<Comment> = {}): Comment {
  const at = new Date(Date.parse('2027-01-02T00:00:00Z') + id * 1000).toISOString()
  return { id: String(id), author: 'ada', at, body: '/winnow stop', ...rest }
}

function seeing(
  comments: readonly Comment[],
  built: CampaignBuilder = campaign(),
  rest: Partial<Pull> = {},
): Pick<Observation, 'pulls'> & { world: Pick<Observation['world'], 'campaign'> } {
  return { pulls: [aPull({ comments: [...comments], ...rest })], world: { campaign: built.campaign } }
}

function idsOf(comments: readonly Comment[], built?: CampaignBuilder): string[] {
  return commandsIn(seeing(comments, built), new Set(['9'])).map(({ comment }) => comment.id)
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

describe('a comment that is still to be dealt with', () => {
  it('is a command as it was written, by a person, that has neither an answer nor a sign', () => {
    expect(
      idsOf([
        said(1),
        said(2, { answered: true }),
        said(3, { declined: true }),
        said(4, { edited: true }),
        said(5, { author: 'renovate[bot]' }),
        said(6, { own: true }),
        said(7, { body: 'stop, please' }),
        said(8, { at: '2020-01-01T00:00:00Z' }),
        said(9),
      ]),
    ).toEqual(['1'])
  })

  it('is not what was read before, whichever of its pull request’s comments that was told by', () => {
    expect(idsOf([said(98), said(99), said(100), said(101)], readUpTo(100))).toEqual(['101'])
    expect(idsOf([said(98), said(99), said(101)], readUpTo(100).add(earlier()))).toEqual(['101'])
  })
})

/** Two ticks at once: what was read less far comes later. */
function earlier() {
  return { kind: 'comments-read', cause: 'late', pull: 7, comment: '98', own: [] as string[] } as const
}

describe('how far comments were read', () => {
  const crowd = Array.from({ length: 80 }, (_, index) => said(index + 1, { body: `${index}` }))

  it('is told where others wrote more than comes by itself, up to shortly before now, with our own', () => {
    const comments = [said(0, { own: true, node: 'IC_0' }), ...crowd]
    expect(readingDone(seeing(comments), [])).toEqual([
      { kind: 'comments-read', pull: 7, comment: '70', own: ['IC_0'] },
    ])
    expect(readingDone(seeing(comments.slice(0, 50)), [])).toEqual([])
    expect(readingDone(seeing(comments, readUpTo(40)), [])).toEqual([])
  })

  it('is not told while earlier ones are unread, or somebody waits for theirs', () => {
    expect(readingDone(seeing(crowd, campaign(), { unread: true }), [])).toEqual([])
    const waits = (id: number) => [{ pull: aPull(), comment: said(id), words: ['stop'] }]
    expect(readingDone(seeing(crowd), waits(70))).toEqual([])
    expect(readingDone(seeing(crowd), waits(71))).toHaveLength(1)
  })
})
