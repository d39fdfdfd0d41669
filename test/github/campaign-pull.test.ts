import { describe, expect, test } from 'vitest'
import { shorter } from '../engine/size-yard.ts'
import { onGithub } from './on-github.ts'

async function keptOne(ideas = [shorter('a', 3)]) {
  const there = await onGithub(ideas)
  const { github, post, winnow } = there
  github.token('ada')
  await post.start()
  await winnow('tick')
  expect(github.world.pulls).toEqual([])
  await post.run()
  const offers = () => github.world.pulls.filter(({ base }) => base === 'main')
  const offer = () => {
    const found = offers().at(-1)
    if (!found) throw new Error('no pull request of the campaign')
    return found
  }
  return { ...there, offers, offer }
}

describe('the pull request of a campaign', () => {
  test('is one draft that says what was kept, follows the incumbent, and is ready when the campaign stops', async () => {
    const there = await keptOne()
    const { github, post, winnow, offers, offer, say, answerTo, number } = there
    const { incumbent } = await post.campaign()
    expect(offers()).toMatchObject([
      {
        branch: 'optimize-campaign/size',
        head: incumbent.commit,
        draft: true,
        state: 'open',
        title: 'optimize(size): 1 change kept',
      },
    ])
    const { body } = offer()
    expect(body).toContain(`| exp-001 #${number('a3')} | a3 | `)
    expect(body).toMatch(/`git cherry-pick -m 1 [0-9a-f]{10,}`/)
    expect(body).toMatch(/\*\*Cost\*\*: \d+ executions/)

    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect(offer().body).toBe(body)

    const stop = await say('ada', offer().number, '/winnow stop -m "good enough"')
    await winnow('tick')
    expect(answerTo(stop)?.text).toMatch(/^stop: Campaign size is stopped/)
    expect(offer()).toMatchObject({ draft: false, state: 'open', head: there.tip('optimize-campaign/size') })
    expect(offer().body).toContain('The campaign is stopped: good enough')
    expect(offers()).toHaveLength(1)
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })

  test('stops the campaign when it is merged, also where its branch went with it', async () => {
    const { github, post, winnow, offer, offers, asks } = await keptOne()
    Object.assign(offer(), { draft: false })
    github.world.settings.deletesMergedBranches = true
    await asks('ada', `PUT /pulls/${offer().number}/merge`, {})
    await winnow('tick')
    expect(await post.campaign()).toMatchObject({ status: 'stopped', stop_code: 'merged' })
    await winnow('resume')
    await winnow('tick')
    expect((await post.campaign()).status).toBe('running')
    expect(offers()).toHaveLength(1)
  })

  test('pauses it when it is closed; who goes on gets another one', async () => {
    const { post, winnow, offer, offers, asks } = await keptOne()
    await asks('ada', `PATCH /pulls/${offer().number}`, { state: 'closed' })
    await winnow('tick')
    expect(await post.campaign()).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('was closed'),
    })
    await winnow('tick')
    await winnow('resume')
    await winnow('tick')
    expect((await post.campaign()).status).toBe('running')
    expect(offers().map(({ state }) => state)).toEqual(['closed', 'open'])
  })
})
