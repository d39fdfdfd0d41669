import { describe, expect, test } from 'vitest'
import { packageFiles } from '../support/package-files.ts'
import { letters, shorter, type SizeOptions } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { onGithub } from './on-github.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

async function keptOne(ideas = [shorter('a', 3)], options: SizeOptions = {}) {
  const there = await onGithub(ideas, options)
  const { github, client, winnow } = there
  github.token('ada')
  await client.start()
  await winnow('tick')
  expect(github.world.pulls).toEqual([])
  await client.run()
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
    const { github, client, winnow, campaignPulls, campaignPull, say, answerTo, number } = there
    const { incumbent } = await client.campaign()
    expect(campaignPulls()).toMatchObject([
      {
        branch: 'optimize-campaign/size',
        head: incumbent.commit,
        draft: true,
        state: 'open',
        title: expect.stringMatching(/^optimize\(size\): bytes \d+(?:\.\d)? % lower, 1 change$/),
      },
    ])
    const { body } = campaignPull()
    expect(body).toContain(`| #${number('a3')} | a3 | `)
    expect(body).toContain('`/winnow pick exp-001` |')
    expect(body).toContain(`(${github.url}/team/project/blob/optimize-state/size/chart.svg?raw=true)`)
    expect(body).toMatch(
      / · \d+ job-minutes? · the harness is not probed · measured without isolation · running\n/,
    )

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
    expect(campaignPull().body).toContain(' · stopped: good enough\n')
    expect(campaignPulls()).toHaveLength(1)
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
  })

  releaseTest('stops the campaign when it is merged, also where its branch went with it', async () => {
    const { github, client, winnow, campaignPull, campaignPulls, asks } = await keptOne()
    Object.assign(campaignPull(), { draft: false })
    github.world.settings.deletesMergedBranches = true
    await asks('ada', `PUT /pulls/${campaignPull().number}/merge`, {})
    await winnow('tick')
    expect(await client.campaign()).toMatchObject({ status: 'stopped', stop_code: 'merged' })
    expect(campaignPull()).toMatchObject({
      state: 'closed',
      body: expect.stringContaining('\nMerged into main.\n'),
    })
    expect(campaignPull().body).not.toContain('Merge this pull request')
    await winnow('resume')
    await winnow('tick')
    expect((await client.campaign()).status).toBe('running')
    expect(campaignPulls()).toHaveLength(1)
  })

  test.each(selectCases(['under way', 'stopped']))(
    'begins the next one where the spec wants that: %s',
    async standing => {
      const there = await keptOne(undefined, { spec: 'merge: { on_merge: restart }\n' })
      const { github, client, winnow, campaignPull, asks } = there
      if (standing === 'stopped') await winnow('stop')
      Object.assign(campaignPull(), { draft: false })
      github.world.settings.deletesMergedBranches = true
      await asks('ada', `PUT /pulls/${campaignPull().number}/merge`, { merge_method: 'squash' })
      await winnow('tick')
      expect(campaignPull().body).toContain('Merged into main. The next campaign begins by itself.')
      const campaign = await client.campaign()
      expect(campaign).toMatchObject({
        status: 'running',
        landings: [],
        experiments: {},
        next_number: 2,
      })
      expect(campaign.start.commit).toBe(there.tip('main'))
      github.spent()
      await winnow('tick')
      expect((await client.campaign()).started).toBe(campaign.started)
      expect(github.spent().length).toBeLessThanOrEqual(3)
      await proven(client.place)
    },
  )

  releaseTest('pauses it when it is closed; who goes on gets another one', async () => {
    const { client, winnow, campaignPull, campaignPulls, asks } = await keptOne()
    await asks('ada', `PATCH /pulls/${campaignPull().number}`, { state: 'closed' })
    await winnow('tick')
    expect(await client.campaign()).toMatchObject({
      status: 'paused',
      status_reason: expect.stringContaining('was closed'),
    })
    await winnow('tick')
    await winnow('resume')
    await winnow('tick')
    expect((await client.campaign()).status).toBe('running')
    expect(campaignPulls().map(({ state }) => state)).toEqual(['closed', 'open'])
  })

  releaseTest(
    'is where people hear of packages that wait, once, and where those that were kept are listed again',
    async () => {
      const there = await keptOne([shorter('a', 3)], {
        files: packageFiles({}),
        spec: text => text.replace('[src/]', '[src/, package.json, package-lock.json]'),
      })
      const { github, client, winnow, campaignPull, asks } = there
      const told = () => github.world.comments.filter(({ number }) => number === campaignPull().number)
      const pads = (version: string) => packageFiles({ 'left-pad': { version } })
      const first = { 'src/b.txt': letters('b', 5), ...pads('1.3.0') }
      there.commit('pads', first, [there.tip('main')])
      await asks('ada', 'POST /pulls', { title: 'pads', head: 'pads', base: 'optimize/size' })
      await winnow('tick')
      expect(told()).toMatchObject([{ body: expect.stringContaining('left-pad 1.3.0 (npm)') }])
      const head = there.commit('pads', pads('1.4.0'))
      await winnow('tick')
      await winnow('tick')
      expect(told()).toMatchObject([{ body: expect.stringContaining('left-pad 1.4.0 (npm)') }])
      expect(told()[0]?.body).not.toMatch(/@\w/)

      github.token('olga')
      const review = `POST /pulls/${there.number('pads')}/reviews`
      await asks('olga', review, { event: 'APPROVE', commit_id: head })
      await client.run()
      expect(await client.outcomes()).toMatchObject({ pads: 'kept' })
      expect(campaignPull().body).toMatch(/\*\*Packages it adds\*\*\n\n.*\n.*\n\| left-pad 1\.4\.0 \|/)
      expect(told()).toHaveLength(1)
    },
  )
})
