import { expect, test } from 'vitest'
import { letters } from '../support/size-repository.ts'
import { type OnGithub, onGithub } from './on-github.ts'
import { releaseTest } from '../support/cases.ts'

/** A reader's pull request that waits for a word of somebody who may write. */
async function offeredByEve(): Promise<OnGithub & { head: string }> {
  const there = await onGithub([], { spec: 'merge: { unisolated: allow, forgeable: allow }\n' })
  const { github, client, asks } = there
  github.token('ada')
  github.token('eve', { permission: 'read' })
  await client.start()
  const head = there.commit('spare', { 'src/a.txt': letters('a', 4) }, [there.tip('main')])
  there.git('push', '-q', github.fork('eve'), `${head}:refs/heads/shorter`)
  there.git('update-ref', '-d', 'refs/heads/spare')
  await asks('eve', 'POST /pulls', { title: 'mine', head: 'eve:shorter', base: 'optimize/size' })
  await client.run()
  expect(own(there)).toEqual([expect.stringContaining(`/winnow measure ${head}`)])
  return { ...there, head }
}

/** What one reader writes, again and again. */
function crowd({ github: { world } }: OnGithub, count: number, body = (index: number) => `${index}`): void {
  const author = [...world.accounts.values()].find(({ login }) => login === 'eve')
  if (!author) throw new Error('nobody is called eve')
  for (let index = 0; index < count; index++) {
    const id = world.nextId++
    world.clock += 1000
    const createdAt = new Date(world.clock).toISOString()
    world.comments.push({
      id,
      number: 1,
      author,
      body: body(index),
      createdAt,
      editedAt: null,
      reactions: [],
    })
  }
}

function own({ github }: OnGithub): string[] {
  return github.world.comments.filter(({ author }) => author.kind === 'actions').map(({ body }) => body)
}

function permissionsAsked(spent: readonly string[]): number {
  return spent.filter(route => route.includes('/permission')).length
}

releaseTest(
  'a crowd of comments drowns neither a word of somebody who may, nor what winnow said itself',
  async () => {
    const there = await offeredByEve()
    const { github, client, winnow, say, head } = there
    await say('ada', 1, '/winnow avoid "unrolling loops"')
    crowd(there, 130)
    await winnow('tick')
    expect((await client.campaign()).avoid).toMatchObject([{ text: 'unrolling loops', by: 'ada' }])
    const events = await client.events()
    expect(events.filter(({ kind }) => kind === 'comments-read')).toMatchObject([{ pull: 1 }])
    expect(own(there)).toHaveLength(1)

    // Read once, and not again; what we said first is known all the same.
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect(await client.events()).toHaveLength(events.length)

    await say('ada', 1, `/winnow measure ${head}`)
    crowd(there, 70)
    await winnow('tick')
    expect((await client.experiment('mine')).allowed_head).toBe(head)
    expect(own(there)).toHaveLength(1)
    expect(own(there)[0]).not.toContain('/winnow measure')
  },
  300_000,
)

test('who may not steer has a sign for it, writes nobody mail through winnow, and is asked about once', async () => {
  const there = await offeredByEve()
  const { github, client, winnow, say } = there
  crowd(there, 25, index => `/winnow stop ${index}`)
  const word = await say('ada', 1, '/winnow pause -m "release week"')
  github.spent()
  await winnow('tick')
  const spent = github.spent()
  expect(permissionsAsked(spent)).toBe(2)
  expect(spent.filter(route => route.endsWith('/reactions'))).toHaveLength(21)
  expect(await client.campaign()).toMatchObject({ status: 'paused', status_reason: 'release week' })
  expect(word.reactions).toMatchObject([{ content: '+1' }])
  // The sign says it all, also to the one who may.
  expect(own(there)).toHaveLength(1)

  await winnow('tick')
  expect(github.spent().filter(route => route.endsWith('/reactions'))).toHaveLength(5)
  const signs = github.world.comments.filter(({ author }) => author.login === 'eve')
  expect(signs.every(({ reactions }) => reactions.length === 1)).toBe(true)
  await winnow('tick')
  expect(github.spent().length).toBeLessThanOrEqual(3)
  expect(own(there)).toHaveLength(1)
}, 300_000)
