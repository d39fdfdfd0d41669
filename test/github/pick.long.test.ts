import { describe, expect, test } from 'vitest'
import { proven } from '../support/repository.ts'
import { shorter } from '../support/size-repository.ts'
import { onGithub } from './on-github.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'
import { releaseTest } from '../support/cases.ts'

async function kept() {
  const there = await onGithub([shorter('a', 3), shorter('b', 5)], { spec: 'execution: { mode: serial }\n' })
  const { github, client } = there
  github.token('ada')
  await client.start()
  await client.run()
  const offered = () =>
    github.world.pulls.filter(({ base, branch }) => base === 'main' && branch.includes('-exp/'))
  const picked = () => {
    const found = offered().at(-1)
    if (!found) throw new Error('nothing was offered alone')
    return found
  }
  const checks = (head: string) => github.world.checks.filter(check => check.head === head)
  return { ...there, offered, picked, checks }
}

describe('a change is taken alone by a comment', () => {
  test('on its own pull request: a draft against the default branch, ready once it was measured there', async () => {
    const there = await kept()
    const { github, client, winnow, say, answerTo, number, offered, picked, checks } = there
    const comment = await say('ada', number('b5'), '/winnow pick')
    const stranger = await say('mallory', number('b5'), '/winnow pick')
    await winnow('tick')
    expect(answerTo(comment)?.text).toMatch(/^pick: The next run on GitHub measures exp-002 on its own/)
    expect(stranger.reactions).toMatchObject([{ content: '-1' }])
    expect(offered()).toMatchObject([
      { title: 'b5', draft: true, state: 'open', author: { kind: 'actions' } },
    ])
    expect(checks(picked().head)).toMatchObject([{ conclusion: null }])

    await client.run()
    expect(offered()).toMatchObject([{ draft: false, state: 'open' }])
    expect(picked().body).toContain('**Kept: bytes 48 → 38')
    expect(picked().body).toContain(`In the campaign it was exp-002 (#${number('b5')}): `)
    expect(checks(picked().head).at(-1)).toMatchObject({ conclusion: 'success' })
    const campaign = github.world.pulls.find(({ branch }) => branch === 'optimize-campaign/size')
    expect(campaign?.body).toContain('| #4: kept |')

    const again = await say('ada', picked().number, '/winnow pick')
    await winnow('tick')
    expect(answerTo(again)?.text).toMatch(/^pick: exp-003 takes exp-002 alone: Kept: /)
    expect(offered()).toHaveLength(1)
    github.spent()
    await winnow('tick')
    expect(github.spent().length).toBeLessThanOrEqual(3)
    await proven(client.place)
  })

  releaseTest.each(['merge', 'squash'])(
    'and is counted once when a person takes it: %s',
    async merge_method => {
      const there = await kept()
      const { github, client, winnow, say, asks, number, picked } = there
      github.world.settings.deletesMergedBranches = true
      await say('ada', number('a3'), '/winnow pick')
      await winnow('tick')
      await client.run()
      const { incumbent } = await client.campaign()
      await asks('ada', `PUT /pulls/${picked().number}/merge`, { merge_method })
      await winnow('tick')
      await client.run()
      const campaign = await client.campaign()
      expect(campaign.picks['exp-003']).toMatchObject({ pick_end: 'merged', outcome: 'kept' })
      expect(campaign.incumbent.tree).toBe(incumbent.tree)
      // What a person merged is on both sides of it: progress is counted from the default branch (decision 037).
      const merged = there.tip('main')
      expect(campaign.reference).toEqual({ commit: merged, tree: there.git('rev-parse', `${merged}^{tree}`) })
      const upstream = campaign.landings.map(landing => [landing.experiment, landing.upstream])
      expect(upstream).toEqual([
        ['exp-001', true],
        ['exp-002', false],
      ])
      expect(outcomeCounts(campaign)).toEqual({ kept: 2 })
      expect(campaign.status).toBe('running')
      expect(there.git('for-each-ref', 'refs/heads/optimize-exp/size/exp-003')).toBe('')
      await proven(client.place)
    },
  )

  releaseTest('and is withdrawn when a person closes it before it was measured', async () => {
    const { client, winnow, say, asks, number, picked, offered } = await kept()
    await say('ada', number('a3'), '/winnow pick')
    await winnow('tick')
    await asks('ada', `PATCH /pulls/${picked().number}`, { state: 'closed' })
    await client.run()
    expect((await client.campaign()).picks['exp-003']).toMatchObject({
      outcome: 'withdrawn',
      pick_end: 'declined',
      reason: expect.stringContaining('was closed'),
    })
    expect(offered()).toMatchObject([{ state: 'closed' }])
    await proven(client.place)
  })
})
