import { describe, expect, test } from 'vitest'
import { letters } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import type { ReviewRecord } from './emulator/world.ts'
import { APPROVE, REVIEWS, waitingForReview } from './waiting-for-review.ts'
import { releaseTest } from '../support/cases.ts'

type Waiting = Awaited<ReturnType<typeof waitingForReview>>

const NO = { event: 'REQUEST_CHANGES', body: 'on second thoughts' }

/** The review that was written last. */
function last({ github }: Waiting): ReviewRecord {
  const review = github.world.reviews.at(-1)
  if (review === undefined) throw new Error('nobody has reviewed anything')
  return review
}

async function statusOf({ client }: Waiting): Promise<string> {
  return (await client.experiment('mine')).status
}

async function consents({ client }: Waiting): Promise<string[]> {
  const events = await client.events()
  return events.flatMap(event => {
    if (event.kind === 'approved') return [`${event.by.actor} approves ${event.packages.join(' ')}`]
    return event.kind === 'approval-withdrawn' ? [`${event.login} takes back`] : []
  })
}

describe('an approving review', () => {
  test('of the set counts whatever its text becomes, and holds for a head that leaves the set as it is', async () => {
    const there = await waitingForReview()
    const { client, asks, winnow, head, digest } = there
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    last(there).body = 'edited since'
    await winnow('tick')
    expect(await consents(there)).toEqual(['ada approves left-pad'])
    const next = there.commit('small', { 'src/b.txt': letters('b', 4) })
    await client.run()
    expect(await client.experiment('mine')).toMatchObject({
      head: next,
      outcome: 'kept',
      approval: { digest },
    })
    expect(await consents(there)).toEqual(['ada approves left-pad'])
    await proven(client.place)
  })

  releaseTest('of an outdated head is none, though the set is the same', async () => {
    const there = await waitingForReview()
    const { asks, winnow, head } = there
    const next = there.commit('small', { 'src/b.txt': letters('b', 4) })
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect(await statusOf(there)).toBe('deferred')
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: next })
    await winnow('tick')
    expect(await consents(there)).toEqual(['ada approves left-pad'])
  })

  releaseTest(
    'is none where it was dismissed, not sent yet, or written before the set was asked about',
    async () => {
      const there = await waitingForReview()
      const { asks, winnow, head } = there
      for (const change of [
        { state: 'DISMISSED' },
        { state: 'PENDING', at: null },
        { at: '2020-01-01T00:00:00Z' },
      ]) {
        await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
        Object.assign(last(there), change)
        await winnow('tick')
        expect(await statusOf(there)).toBe('deferred')
        there.github.world.reviews.length = 0
      }
      // What is dismissed and given anew is given.
      await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
      last(there).state = 'DISMISSED'
      await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
      await winnow('tick')
      expect(await consents(there)).toEqual(['ada approves left-pad'])
    },
  )

  releaseTest('is not revived when the change that somebody asked for after it is dismissed', async () => {
    const there = await waitingForReview()
    const { asks, winnow, head } = there
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await asks('ada', REVIEWS, { ...NO, commit_id: head })
    last(there).state = 'DISMISSED'
    await winnow('tick')
    expect(await statusOf(there)).toBe('deferred')
    expect(await consents(there)).toEqual([])
  })

  releaseTest(
    'counts by the rights of when it is heard, and whoever loses them later has given it',
    async () => {
      const there = await waitingForReview()
      const { github, asks, winnow, head } = there
      const ada = [...github.world.accounts.values()].find(({ login }) => login === 'ada')
      if (ada === undefined) throw new Error('ada is nobody')
      await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
      ada.permission = 'read'
      await winnow('tick')
      expect(await statusOf(there)).toBe('deferred')
      ada.permission = 'write'
      await winnow('tick')
      expect(await consents(there)).toEqual(['ada approves left-pad'])
      ada.permission = 'none'
      await there.client.run()
      expect(await there.client.outcomes()).toEqual({ mine: 'kept' })
    },
  )

  test('by the author is none, whatever GitHub lets through, and neither is one by a bot', async () => {
    const there = await waitingForReview('[mia, github-actions, "github-actions[bot]"]')
    const { github, asks, winnow, head } = there
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    const accounts = [...github.world.accounts.values()]
    for (const found of [
      accounts.find(({ login }) => login === 'mia'),
      accounts.find(({ kind }) => kind === 'actions'),
    ]) {
      if (found === undefined) throw new Error('nobody has that account')
      last(there).author = found
      await winnow('tick')
      expect(await statusOf(there)).toBe('deferred')
    }
  })

  releaseTest('by somebody who was only invited into the team is none', async () => {
    const there = await waitingForReview('[team/core]')
    const { github, asks, winnow, head } = there
    github.world.teams.set('core', new Set(['ada']))
    for (const account of github.world.accounts.values())
      if (account.grants !== null) account.grants = { ...account.grants, members: 'read' }
    const route = 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}'
    const invited = { url: 'http://127.0.0.1/', role: 'member', state: 'pending' }
    github.api.intercept = (_, asked) => (asked === route ? { status: 200, body: invited } : null)
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect(await statusOf(there)).toBe('deferred')
    github.api.intercept = null
    await winnow('tick')
    expect(await statusOf(there)).toBe('deferred')
    // Who may only since then says it once more.
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    expect(await consents(there)).toEqual(['ada approves left-pad'])
  })
})

describe('an approval that is taken back', () => {
  releaseTest(
    'by dismissing the review, before anything runs: it waits again, and may be given again',
    async () => {
      const there = await waitingForReview()
      const { client, asks, winnow, head, digest } = there
      await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
      await winnow('tick')
      expect(await statusOf(there)).not.toBe('deferred')
      last(there).state = 'DISMISSED'
      await winnow('tick')
      expect(await client.experiment('mine')).toMatchObject({
        status: 'deferred',
        outcome: null,
        approval: { digest },
      })
      expect(await consents(there)).toEqual(['ada approves left-pad', 'ada takes back'])
      const shown = there.github.world.checks.filter(check => check.head === head)
      expect(new Set(shown.map(({ conclusion }) => conclusion))).toEqual(new Set(['neutral']))
      await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
      await client.run()
      expect(await client.outcomes()).toEqual({ mine: 'kept' })
      await proven(client.place)
    },
  )

  releaseTest('by asking for changes, where it was given by a comment', async () => {
    const there = await waitingForReview()
    const { client, asks, say, winnow, head, digest } = there
    await asks('ada', REVIEWS, { ...NO, commit_id: head })
    await say('ada', 1, `/winnow approve ${digest.slice(0, 16)}`)
    await winnow('tick')
    expect(await consents(there)).toEqual(['ada approves left-pad'])
    await asks('olga', REVIEWS, { ...NO, commit_id: head })
    await asks('ada', REVIEWS, { ...NO, commit_id: head })
    await client.run()
    expect(await statusOf(there)).toBe('deferred')
    expect(await consents(there)).toEqual(['ada approves left-pad', 'ada takes back'])
  })

  test('is taken back once by a review: one on a command line after it holds, whatever its clock says', async () => {
    const there = await waitingForReview()
    const { asks, laptop, winnow, head } = there
    // GitHub's time is an hour later than that of the machine.
    await asks('ada', REVIEWS, { ...NO, commit_id: head })
    await laptop('approve', 'exp-001')
    await winnow('tick')
    expect(await statusOf(there)).toBe('deferred')
    await laptop('approve', 'exp-001')
    await winnow('tick')
    expect(await statusOf(there)).not.toBe('deferred')
    expect(await consents(there)).toEqual([
      'ada approves left-pad',
      'ada takes back',
      'ada approves left-pad',
    ])
  })

  releaseTest(
    'by asking for changes, where it was given on a command line whose clock is ahead',
    async () => {
      const there = await waitingForReview()
      const { asks, client, laptop, winnow, head } = there
      const { clock } = client.place
      client.place.clock = { ...clock, now: () => clock.now() + 5 * 3_600_000 }
      await laptop('approve', 'exp-001')
      client.place.clock = clock
      await asks('ada', REVIEWS, { ...NO, commit_id: head })
      await winnow('tick')
      expect(await consents(there)).toEqual(['ada approves left-pad', 'ada takes back'])
    },
  )

  releaseTest('counts no more, and somebody else’s approval of the same head does', async () => {
    const there = await waitingForReview()
    const { github, client, asks, winnow, head } = there
    github.token('olga')
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await winnow('tick')
    await asks('olga', REVIEWS, { ...APPROVE, commit_id: head })
    await asks('ada', REVIEWS, { ...NO, commit_id: head })
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    expect(await consents(there)).toEqual([
      'ada approves left-pad',
      'ada takes back',
      'olga approves left-pad',
    ])
    await proven(client.place)
  })

  releaseTest('after it landed is taken back too late', async () => {
    const there = await waitingForReview()
    const { client, asks, head } = there
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    last(there).state = 'DISMISSED'
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    expect(await consents(there)).toEqual(['ada approves left-pad'])
    await proven(client.place)
  })
})

describe('while the merge is awaited', () => {
  /** Approved, measured and decided; GitHub does not merge it yet. */
  async function landing(merge: string) {
    const there = await waitingForReview('write', merge)
    const { github, client, asks, head } = there
    github.api.intercept = (_, route) =>
      route === 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'
        ? { status: 405, body: { message: 'Required status check "ci" is expected.' } }
        : null
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await client.run()
    expect(await client.experiment('mine')).toMatchObject({ status: 'landing', verdict: 'kept' })
    github.api.intercept = null
    return there
  }

  test('an approval that is taken back keeps it from landing, and given again lets it be measured again', async () => {
    const there = await landing('merge: { via: api }\n')
    const { github, client, asks, head } = there
    const before = there.tip('optimize/size')
    last(there).state = 'DISMISSED'
    await client.run()
    expect(await client.experiment('mine')).toMatchObject({ status: 'deferred', verdict: null })
    expect((await client.campaign()).landing).toBeNull()
    expect(github.world.pulls[0]).toMatchObject({ state: 'open', merge: null })
    expect(there.tip('optimize/size')).toBe(before)
    await asks('ada', REVIEWS, { ...APPROVE, commit_id: head })
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    await proven(client.place)
  })

  releaseTest('a person who merges it all the same has pushed a tip that nobody approved', async () => {
    const there = await landing('merge: { auto: false }\n')
    const { client, asks } = there
    const before = there.tip('optimize/size')
    last(there).state = 'DISMISSED'
    await asks('ada', 'PUT /pulls/1/merge', {})
    await client.run()
    expect(there.tip('optimize/size')).toBe(before)
    expect((await client.kinds()).filter(kind => kind === 'merged')).toEqual([])
    expect(
      (await client.events()).flatMap(each => (each.kind === 'foreign-tip' ? [each.state] : [])),
    ).toContain('moved-back')
    await proven(client.place)
  })
})
