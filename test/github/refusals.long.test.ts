import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { ForgeError } from '../../src/errors.ts'
import { pullOf } from '../github/temp-forge.ts'
import { type TempGithub, tempGithub } from './temp-github.ts'

let temp: TempGithub
beforeEach(async () => {
  temp = await tempGithub()
  onTestFinished(() => temp.remove())
  temp.commit('fast')
})

async function failureOf(work: Promise<unknown>): Promise<ForgeError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ForgeError)) throw new Error(`it was no refusal: ${String(error)}`)
  return error
}

describe('a refusal of GitHub', () => {
  test('for a missing permission names it as a workflow writes it, with the request', async () => {
    const job = temp.forgeOf(temp.github.jobToken({ contents: 'write', pull_requests: 'read' }))
    const error = await failureOf(job.open(pullOf('fast')))
    expect(error.message).toMatch(/rejected POST .*\/pulls \(403\): the token lacks pull-requests: write/)
    expect(error.detail).toMatchObject({ status: 403, rule: 'pull-requests: write' })
    expect(error.detail.requestId).toMatch(/^E/)
    const blind = temp.forgeOf(temp.github.jobToken({ contents: 'read' }))
    expect((await failureOf(blind.list())).message).toMatch(/the token lacks pull-requests: read/)
  })

  test('to let jobs open pull requests names the setting', async () => {
    temp.github.world.settings.actionsMayOpenPulls = false
    const job = temp.forgeOf(temp.github.jobToken({ contents: 'write', pull_requests: 'write' }))
    const { message } = await failureOf(job.open(pullOf('fast')))
    expect(message).toMatch(/Turn on "Allow GitHub Actions to create and approve pull requests"/)
  })

  test('of a token is told without the token', async () => {
    const error = await failureOf(temp.forgeOf('gh-secret').list())
    expect(error.detail.status).toBe(401)
    expect(error.message).toMatch(/the token is expired/)
    expect(JSON.stringify([error.message, error.detail])).not.toMatch(/gh-secret/)
  })

  test('to take more for now is waited for, as long as it asks, and told', async () => {
    const limited = { 'retry-after': '7', 'content-type': 'application/json' }
    const message = 'You have exceeded a secondary rate limit. Please wait a few minutes.'
    let times = 0
    temp.github.api.intercept = (_, route) =>
      route.startsWith('POST /repos') && times++ < 2
        ? { status: times === 1 ? 403 : 429, body: { message }, headers: limited }
        : null
    expect(await temp.forge.open(pullOf('fast'))).toBe(1)
    expect(temp.said).toEqual(Array(2).fill(expect.stringMatching(/GitHub asks to wait 7 s before POST/)))
  })

  test('to take more for long is not waited for', async () => {
    const headers = { 'retry-after': '600' }
    const message = 'You have exceeded a secondary rate limit.'
    temp.github.api.intercept = () => ({ status: 403, body: { message }, headers })
    const error = await failureOf(temp.forge.open(pullOf('fast')))
    expect(error.message).toMatch(/Retry after 600 s/)
    expect(temp.said).toEqual([])
  })

  test('because the hour is used up says when it goes on', async () => {
    temp.github.world.settings.allowance = 0
    const error = await failureOf(temp.forge.open(pullOf('fast')))
    expect(error.message).toMatch(/rate limit exceeded.*More requests are allowed from \d{4}-/)
  })

  test('to make a draft where there are none: it is none', async () => {
    temp.github.world.settings.draftsSupported = false
    await temp.forge.open(pullOf('fast', { draft: true }))
    expect(await temp.only(1)).toMatchObject({ draft: false, state: 'open' })
  })
})

describe('what other people do', () => {
  test('with a branch of a fork has a name that no branch of ours can have', async () => {
    const { github, scene, forge } = temp
    const eve = github.token('eve', { permission: 'read' })
    temp.git('push', '-q', github.fork('eve'), `${scene.tip('fast')}:refs/heads/optimize-exp/demo/exp-001`)
    const head = 'eve:optimize-exp/demo/exp-001'
    await scene.ask(eve, 'POST /pulls', { title: 'mine', head, base: 'optimize/demo', body: 'x' })
    temp.commit('optimize-exp/demo/exp-001')
    expect(await forge.list({ branches: ['optimize-exp/demo/exp-001'] })).toMatchObject([{ branch: head }])
    expect(await forge.list({ branches: ['eve:fast', '../..', 'a b'] })).toHaveLength(1)
  })

  test("with an experiment's branch and another base does not hide our pull request", async () => {
    const number = await temp.forge.open(pullOf('fast'))
    const bob = await temp.other('bob')
    await bob.open(pullOf('fast', { base: 'main' }))
    expect(await temp.forge.list({ branches: ['fast'] })).toMatchObject([{ number, base: 'optimize/demo' }])
    expect(await temp.forge.open(pullOf('fast'))).toBe(number)
    const retarget = () =>
      temp.scene.ask(temp.github.token('ada'), `PATCH /pulls/${number}`, { base: 'main' })
    expect((await retarget()).status).toBe(422)
    await bob.close(2)
    expect((await retarget()).status).toBe(200)
    expect(await temp.forge.list({ branches: ['fast'] })).toEqual([])
    expect(await temp.only(number)).toMatchObject({ base: 'main' })
  })

  test('as a bot is told from a person with the same name', async () => {
    await temp.forge.open(pullOf('fast'))
    const job = temp.forgeOf(temp.github.jobToken({ pull_requests: 'write', issues: 'write' }))
    await job.comment(1, 'by the job', { marker: 'm' })
    await (await temp.other('github-actions')).comment(1, 'by a person', { marker: 'm' })
    await job.comment(1, 'by the job, again', { marker: 'm' })
    const { comments } = await temp.only(1)
    expect(comments.map(each => `${each.author}: ${each.body}`)).toEqual([
      'github-actions[bot]: by the job, again',
      'github-actions: by a person',
    ])
  })

  test('does not hide our comment, however much they write', async () => {
    const number = await temp.forge.open(pullOf('fast'))
    await temp.forge.comment(number, 'measuring', { marker: 'verdict' })
    const bob = temp.github.world.accounts.get(temp.github.token('bob'))
    const { comments } = temp.github.world
    const [ours] = comments
    if (!bob || !ours) throw new Error('nobody said anything')
    // With our own words, hidden ones included.
    for (let index = 0; index < 160; index++) comments.push({ ...ours, id: 5000 + index, author: bob })
    await temp.forge.comment(number, 'kept', { marker: 'verdict' })
    const own = temp.github.world.comments.filter(({ author }) => author.login === 'ada')
    expect(own).toMatchObject([{ body: expect.stringMatching(/^kept\n/) }])
  })

  test('may do what GitHub says, and nobody unknown may do anything', async () => {
    temp.github.token('boss', { permission: 'admin' })
    temp.github.token('guest', { permission: 'read' })
    const may = (login: string) => temp.forge.readPermission?.(login)
    expect([await may('boss'), await may('guest'), await may('nobody')]).toEqual(['admin', 'read', 'none'])
  })

  test('and undid is their last word: an approval that was dismissed', async () => {
    const number = await temp.forge.open(pullOf('fast'))
    const head = temp.scene.tip('fast')
    await (await temp.other('bob')).review(number, { commit: head, state: 'approved' })
    expect((await temp.only(number)).reviews).toMatchObject([{ author: 'bob', commit: head }])
    for (const review of temp.github.world.reviews) review.state = 'DISMISSED'
    expect((await temp.only(number)).reviews).toMatchObject([{ author: 'bob', state: 'dismissed' }])
  })
})

describe('what is too long for GitHub', () => {
  test('is cut where it may be, and still found again', async () => {
    const number = await temp.forge.open(pullOf('fast', { body: '😀'.repeat(40_000) }))
    expect((await temp.only(number)).body.length).toBeLessThanOrEqual(60_000)
    expect(await temp.forge.open(pullOf('fast', { body: '😀'.repeat(40_000) }))).toBe(number)
    const long = 'x'.repeat(100_000)
    await temp.forge.comment(number, long, { marker: 'm' })
    await temp.forge.comment(number, long, { marker: 'm' })
    expect(temp.github.world.comments).toHaveLength(1)
  })
})
