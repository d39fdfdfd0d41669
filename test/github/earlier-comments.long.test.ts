import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { pullOf } from '../github/temp-forge.ts'
import type { CommentRecord } from './emulator/world.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'
import { releaseTest } from '../support/cases.ts'

let temp: TempGithub
let pull: number
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.commit('fast')
  pull = await temp.forge.open(pullOf('fast'))
})

/** What others write, all at once. */
function crowd(count: number): CommentRecord[] {
  const { world } = temp.github
  const author = [...world.accounts.values()].find(({ login }) => login === 'eve')
  if (!author) throw new Error('nobody is called eve')
  const made = Array.from({ length: count }, (_, index) => {
    const id = world.nextId++
    const at = new Date(world.clock + index).toISOString()
    return { id, number: pull, author, body: `${index}`, createdAt: at, editedAt: null, reactions: [] }
  })
  world.comments.push(...made)
  return made
}

async function look(read?: { comment: string; own: readonly string[] }) {
  temp.github.spent()
  const wanted = read === undefined ? {} : { read: new Map([[pull, read]]) }
  const [found] = await temp.forge.list(wanted)
  if (!found) throw new Error('it is not listed')
  return { ...found, asked: temp.github.spent() }
}

test('comments that others wrote more of than come by themselves are read back to the first', async () => {
  temp.github.token('eve', { permission: 'read' })
  await temp.forge.comment(pull, 'waits', { marker: 'verdict' })
  crowd(310)
  const { comments, unread, asked } = await look()
  expect(comments).toHaveLength(311)
  expect(comments[0]).toMatchObject({ body: 'waits', own: true })
  expect(unread).toBeUndefined()
  expect(asked).toHaveLength(4)
  expect(temp.said).toEqual([])
})

releaseTest(
  'what was read once is not read again, and our own is found by its name, in the same question',
  async () => {
    temp.github.token('eve', { permission: 'read' })
    await temp.forge.comment(pull, 'waits', { marker: 'verdict' })
    crowd(200)
    const whole = await look()
    const own = whole.comments.flatMap(({ node }) => node ?? [])
    const last = whole.comments.at(-11)?.id ?? ''
    crowd(60)
    const { comments, asked } = await look({ comment: last, own })
    expect(asked).toHaveLength(2)
    expect(comments[0]).toMatchObject({ body: 'waits', own: true })
    // Of what was read before nothing is asked for, but what comes with it.
    expect(comments.length).toBeGreaterThanOrEqual(71)

    const settled = await look({ comment: comments.at(-11)?.id ?? '', own })
    expect(settled.asked).toEqual(['POST /graphql'])
    expect(settled.comments[0]).toMatchObject({ body: 'waits', own: true })
    // Where it was deleted there is nothing to find, and nothing breaks.
    temp.github.world.comments.splice(0, 1)
    const without = await look({ comment: comments.at(-11)?.id ?? '', own })
    expect(without.comments.some(each => each.own)).toBe(false)
  },
)

test('a wake-up reads so many and no more, says so, and the next one goes on', async () => {
  temp.github.token('eve', { permission: 'read' })
  crowd(50 + 100 * 50 + 30)
  let now = 0
  const forge = temp.forgeOf(temp.github.token('ada'), { monotonic: () => now })
  const [first] = await forge.list()
  expect(first).toMatchObject({ unread: true })
  expect(first?.comments).toHaveLength(50 + 100 * 50)
  expect(temp.said).toEqual([expect.stringMatching(/^#1: too many comments for one run/)])
  temp.github.spent()
  await forge.list()
  expect(temp.github.spent()).toHaveLength(1)
  now = 10 * 60_000
  await forge.list()
  expect(temp.github.spent()).toHaveLength(51)
})

releaseTest('an answer is not looked for before what it answers', async () => {
  temp.github.token('eve', { permission: 'read' })
  crowd(400)
  const [asked] = crowd(1)
  crowd(70)
  const answer = { marker: `answer ${asked?.id}`, after: String(asked?.id) }
  temp.github.spent()
  await temp.forge.comment(pull, 'done', answer)
  expect(temp.github.spent()).toHaveLength(3)
  crowd(120)
  await temp.forge.comment(pull, 'done', answer)
  const own = temp.github.world.comments.filter(({ author }) => author.login === 'ada')
  expect(own).toHaveLength(1)
  // It tells of nothing but what it answers, so nobody asks for it by name.
  const { comments } = await look()
  const ours = comments.find(each => each.own)
  expect(ours).toMatchObject({ body: 'done' })
  expect(ours?.node).toBeUndefined()
})

test('the last opinion of each person counts, however many others have one', async () => {
  const head = temp.scene.tip('fast')
  const bob = await temp.other('bob')
  await bob.review(pull, { commit: head, state: 'approved' })
  const { world } = temp.github
  const [ours] = world.reviews
  if (!ours) throw new Error('nobody reviewed')
  for (let index = 0; index < 120; index++) {
    const at = new Date(world.clock + index).toISOString()
    const login = `eve${index}`
    temp.github.token(login, { permission: 'read' })
    const author = [...world.accounts.values()].find(each => each.login === login) ?? ours.author
    world.reviews.push({ ...ours, id: 9000 + index, author, at })
  }
  const { reviews } = await look()
  expect(reviews.find(({ author }) => author === 'bob')).toMatchObject({ state: 'approved', writer: true })
  expect(reviews.filter(({ writer }) => writer)).toHaveLength(1)
  expect(temp.said).toEqual([
    expect.stringContaining('winnow reads the last 100 of those without write access'),
  ])

  // That it was dismissed is the last there is of them, whatever they said before.
  world.reviews.push({ ...ours, id: 9999, at: new Date(world.clock + 999).toISOString(), state: 'DISMISSED' })
  const later = await look()
  expect(later.reviews.findLast(({ author }) => author === 'bob')).toMatchObject({ state: 'dismissed' })
})

releaseTest('people are asked about once in a wake-up, and not all of them', async () => {
  let now = 0
  const forge = temp.forgeOf(temp.github.token('ada'), { monotonic: () => now })
  temp.github.token('eve', { permission: 'read' })
  temp.github.spent()
  expect([await forge.readPermission?.('eve'), await forge.readPermission?.('eve')]).toEqual(['read', 'read'])
  expect(temp.github.spent()).toHaveLength(1)
  const answers: unknown[] = []
  for (let index = 0; index < 60; index++) {
    temp.github.token(`eve${index}`, { permission: 'read' })
    answers.push(await forge.readPermission?.(`eve${index}`))
  }
  expect(answers.filter(answer => answer === null)).toHaveLength(1)
  now = 10 * 60_000
  expect(await forge.readPermission?.('eve59')).toBe('read')
})

test('who pushed a head is what GitHub keeps of pushes, and who made its commits what they say', async () => {
  const { world } = temp.github
  expect(await temp.forge.readHeadAuthors?.(pull)).toMatchObject({
    head: temp.scene.tip('fast'),
    pusher: 'ada',
  })
  temp.github.token('mia')
  world.pushers.set(temp.scene.tip('fast'), 'mia')
  expect(await temp.forge.readHeadAuthors?.(pull)).toMatchObject({ pusher: 'mia', named: [] })
  world.pushers.set(temp.scene.tip('fast'), null)
  expect(await temp.forge.readHeadAuthors?.(pull)).toMatchObject({ pusher: null })
})
