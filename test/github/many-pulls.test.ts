import { describe, expect, it } from 'vitest'
import type { GithubClient } from '../../src/github/client.ts'
import type { KnownPull } from '../../src/github/pull-node.ts'
import { MOST_OPEN_PULLS, readOpen } from '../../src/github/read-pulls.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign } from '../plan/a-campaign.ts'
import { draftsOfKind, world } from '../plan/a-world.ts'

const AT = '2026-01-02T03:04:05Z'

function toNode(number: number): object {
  const none = { nodes: [], pageInfo: { hasPreviousPage: false, startCursor: null } }
  return {
    id: `id ${number}`,
    number,
    title: `idea ${number}`,
    body: '',
    headRefName: `idea-${number}`,
    headRefOid: String(number).padStart(40, '0'),
    baseRefName: 'optimize/size',
    author: { __typename: 'User', login: 'eve' },
    state: 'OPEN',
    isDraft: false,
    isCrossRepository: false,
    headRepositoryOwner: null,
    viewerDidAuthor: false,
    comments: none,
    reviews: none,
    opinions: none,
    writers: none,
    mergeCommit: null,
    closedAt: AT,
    timelineItems: none,
  }
}

/** Reads from a GitHub with this many open pull requests, which answers by pages. */
async function readOf(count: number): Promise<KnownPull[]> {
  const graphql: GithubClient['graphql'] = async (_, { after, base }) => {
    expect(base).toBe('optimize/size')
    const from = Number(after ?? 0)
    const numbers = Array.from({ length: Math.min(50, count - from) }, (_, at) => from + at + 1)
    const pageInfo = { hasNextPage: from + 50 < count, endCursor: String(from + 50) }
    return { repository: { open: { nodes: numbers.map(toNode), pageInfo } } }
  }
  const client = { where: { owner: 'team', repo: 'project' }, graphql } as Partial<GithubClient>
  return (await readOpen(client as GithubClient, 'optimize/size', {})).known
}

describe('very many open pull requests', () => {
  it('are all read, up to a limit that is far above what a campaign needs', async () => {
    for (const count of [0, 501, MOST_OPEN_PULLS]) {
      const known = await readOf(count)
      expect(known).toHaveLength(count)
      expect(known.filter(({ pull }) => pull.newerUnread !== undefined)).toEqual([])
    }
  })

  it('beyond it are named in one alert', async () => {
    const known = await readOf(MOST_OPEN_PULLS + 1)
    expect(known).toHaveLength(MOST_OPEN_PULLS)
    expect(known.at(-1)?.pull).toMatchObject({ number: MOST_OPEN_PULLS, newerUnread: MOST_OPEN_PULLS })
    const pulls = known.slice(-1).map(({ pull }) => pull)
    const built = campaign().ready()
    const planned = planCampaign(world(built, { pulls }))
    expect(draftsOfKind(planned, 'alert')).toMatchObject([
      {
        code: 'too-many-pulls',
        message:
          'more than 5000 pull requests into optimize/size are open, and winnow reads the oldest 5000: those opened after #5000 wait until others are closed',
      },
    ])
    built.add(...draftsOfKind(planned, 'alert'))
    expect(draftsOfKind(planCampaign(world(built, { pulls })), 'alert')).toEqual([])
  })
})
