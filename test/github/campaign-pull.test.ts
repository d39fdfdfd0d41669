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
  const campaignPulls = () => github.world.pulls.filter(({ base }) => base === 'main')
  const campaignPull = () => {
    const found = campaignPulls().at(-1)
    if (!found) throw new Error('no pull request of the campaign')
    return found
  }
  return { ...there, campaignPulls, campaignPull }
}

describe('the pull request of a campaign', () => {
  test('is one draft that says what was kept, follows the incumbent, and is ready when the campaign stops', async () => {
    const there = await keptOne()
    const { github, post, winnow, campaignPulls, campaignPull, say, answerTo, number } = there
    const { incumbent } = await post.campaign()
    expect(campaignPulls()).toMatchObject([
      {
        branch: 'optimize-campaign/size',
        head: incumbent.commit,
        draft: true,
        state: 'open',
        title: 'optimize(size): 1 change kept',
      },
    ])
    const { body } = campaignPull()
    expect(body).toContain(`| exp-001 #${number('a3')} | a3 | `)
    expect(body).toContain('`/winnow pick exp-001` |')
    expect(body).toMatch(/\*\*Cost\*\*: \d+ executions/)

    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    expect(campaignPull().body).toBe(body)

    const stop = await say('ada', campaignPull().number, '/winnow stop -m "good enough"')
    await winnow('tick')
    expect(answerTo(stop)?.text).toMatch(/^stop: Campaign size is stopped/)
    expect(campaignPull()).toMatchObject({
      draft: false,
      state: 'open',
      head: there.tip('optimize-campaign/size'),
    })
    expect(campaignPull().body).toContain('The campaign is stopped: good enough')
    expect(campaignPulls()).toHaveLength(1)
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })

  test('stops the campaign when it is merged, also where its branch went with it', async () => {
    const { github, post, winnow, campaignPull, campaignPulls, asks } = await keptOne()
    Object.assign(campaignPull(), { draft: false })
    github.world.settings.deletesMergedBranches = true
    await asks('ada', `PUT /pulls/${campaignPull().number}/merge`, {})
    await winnow('tick')
    expect(await post.campaign()).toMatchObject({ status: 'stopped', stop_code: 'merged' })
    await winnow('resume')
    await winnow('tick')
    expect((await post.campaign()).status).toBe('running')
    expect(campaignPulls()).toHaveLength(1)
  })

  test('pauses it when it is closed; who goes on gets another one', async () => {
    const { post, winnow, campaignPull, campaignPulls, asks } = await keptOne()
    await asks('ada', `PATCH /pulls/${campaignPull().number}`, { state: 'closed' })
    await winnow('tick')
    expect(await post.campaign()).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('was closed'),
    })
    await winnow('tick')
    await winnow('resume')
    await winnow('tick')
    expect((await post.campaign()).status).toBe('running')
    expect(campaignPulls().map(({ state }) => state)).toEqual(['closed', 'open'])
  })
})
