import { describe, expect, test } from 'vitest'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { type OnGithub, onGithub } from './on-github.ts'

const CI = { '.github/workflows/ci.yml': 'on: push\njobs: {}\n' }

/** One change is kept, and then the default branch brings a workflow file, and an idea. */
async function refused() {
  const there = await onGithub([shorter('a', 3)], { spec: 'execution: { mode: serial }\n' })
  const { github, client } = there
  github.token('ada')
  await client.start()
  await client.run()
  const tip = there.commit('main', { ...CI, 'ideas/02.patch': shorter('b', 5) })
  await client.run()
  return { ...there, tip: (branch: string) => there.tip(branch), brought: tip }
}

async function alerts({ client }: Pick<OnGithub, 'client'>) {
  return (await client.campaign()).alerts.filter(({ code }) => code === 'sync-workflows')
}

async function orders({ client }: Pick<OnGithub, 'client'>) {
  return (await client.events()).flatMap(event => (event.kind === 'order-issued' ? [event.purpose] : []))
}

describe('a default branch with other workflow files, which the token of a job may not push', () => {
  test('is said once, with what to do about it, and the campaign goes on without it', async () => {
    const there = await refused()
    const { github, client, winnow, brought } = there
    const before = await client.campaign()
    expect(before).toMatchObject({ status: 'running', default_tip: before.start.commit })
    expect(await client.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
    const [alert, ...more] = await alerts(there)
    expect(more).toEqual([])
    expect(alert).toMatchObject({
      about: brought,
      message: expect.stringMatching(/`\.github\/workflows\/ci\.yml` without `workflows` permission/),
    })
    expect(alert?.message).toContain('git switch optimize/size && git merge --no-ff main')
    const campaign = github.world.pulls.find(({ branch }) => branch === 'optimize-campaign/size')
    expect(campaign?.body).toContain('**Needs you:** main at ')
    expect((await winnow('doctor').catch(String)).toString()).toContain('changes workflow files')

    const asked = await orders(there)
    for (let times = 0; times < 3; times++) await winnow('tick')
    expect(await orders(there)).toEqual(asked)
    expect(await alerts(there)).toHaveLength(1)
    await proven(client.place)
  })

  test('is adopted as that sync where a person merges it into the optimize branch', async () => {
    const there = await refused()
    const { client, winnow, brought, github } = there
    const { incumbent } = await client.campaign()
    const merged = there.commit('optimize/size', { ...CI, 'ideas/02.patch': shorter('b', 5) }, [
      incumbent.commit,
      brought,
    ])
    // The default branch goes on meanwhile.
    const later = there.commit('main', { 'README.md': 'more\n' })
    await client.run()
    const campaign = await client.campaign()
    const events = await client.events()
    expect(
      events.flatMap(event => (event.kind === 'synced' ? [[event.to.commit, event.default_tip]] : [])),
    ).toEqual([
      [merged, brought],
      [campaign.incumbent.commit, later],
    ])
    expect(events.filter(({ kind }) => kind === 'foreign-tip')).toEqual([])
    expect(there.tip('optimize/size')).toBe(campaign.incumbent.commit)
    await winnow('tick')
    const pull = github.world.pulls.find(({ branch }) => branch === 'optimize-campaign/size')
    expect(pull?.body).not.toContain('Needs you')
    await proven(client.place)
  })

  test('keeps what is on top of it waiting, visibly, and says what helps; it goes on by itself after that', async () => {
    const there = await refused()
    const { github, client, winnow, brought } = there
    const head = there.commit('mine', { 'src/c.txt': letters('c', 5) }, [brought])
    await there.asks('ada', 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
    await client.run()
    const waits = 'git switch optimize/size && git merge --no-ff main && git push'
    const shown = () => github.world.checks.filter(check => check.head === head)
    expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'neutral' }])
    expect(shown()[0]?.output['title']).toBe("Waiting for a person's sync")
    const said = () => github.world.comments.filter(({ number }) => number === there.number('mine'))
    expect(said()).toMatchObject([{ body: expect.stringContaining(waits) }])
    expect(said()[0]?.body).not.toContain('Being measured')
    const [told] = await winnow('tick')
    expect(told).toContain(`a sync, for exp-003 (#${there.number('mine')})`)
    expect(told).toContain(waits)
    expect((await winnow('status')).join('\n')).toMatch(
      /exp-003 .*Waiting for a person's sync\. Next: git switch/,
    )

    // Looked at again, nothing is said or recorded again.
    const before = (await client.events()).length
    const texts = said().map(({ body }) => body)
    await winnow('tick')
    expect((await client.events()).length).toBe(before)
    expect(said().map(({ body }) => body)).toEqual(texts)

    const { incumbent } = await client.campaign()
    there.commit('optimize/size', { ...CI, 'ideas/02.patch': shorter('b', 5) }, [incumbent.commit, brought])
    await client.run()
    expect(await client.outcomes()).toMatchObject({ mine: 'kept' })
    expect(shown()).toMatchObject([{ status: 'completed', conclusion: 'success' }])
    expect(said()).toMatchObject([{ body: expect.stringMatching(/^\*\*Kept: /) }])
    await proven(client.place)
  })

  test('is no sync where a person brought something else with it', async () => {
    const there = await refused()
    const { client, brought } = there
    const { incumbent } = await client.campaign()
    there.commit('optimize/size', { ...CI, 'bench/test.sh': '#!/bin/sh\n' }, [incumbent.commit, brought])
    await client.run()
    expect(there.tip('optimize/size')).toBe(incumbent.commit)
    const found = (await client.events()).flatMap(event =>
      event.kind === 'foreign-tip' ? [event.state] : [],
    )
    expect(found).toEqual(['found', 'moved-back'])
    await proven(client.place)
  })
})
