import { describe, expect, test } from 'vitest'
import { applyAmendment } from '../../src/engine/campaign/start.ts'
import { UserError } from '../../src/errors.ts'
import { letters, shorter } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'
import { createActionsRepository } from './actions-repository.ts'
import { type OnGithub, onGithub } from './on-github.ts'

/** A campaign on GitHub, with an idea of a person in a branch of their own. */
async function withIdea(): Promise<OnGithub> {
  const there = await onGithub([])
  there.github.token('ada')
  await there.client.start()
  await there.client.run()
  there.commit('mine', { 'src/b.txt': letters('b', 5) }, [there.tip('main')])
  await there.asks('ada', 'POST /pulls', { title: 'mine', head: 'mine', base: 'optimize/size' })
  await there.client.until(({ experiments }) => Object.keys(experiments).length > 0)
  return there
}

const refsOf = (there: OnGithub) => there.git('for-each-ref', '--format=%(refname) %(objectname)')

describe('a campaign that lives on GitHub', () => {
  test('is carried on by no command on a laptop, which ends nobody’s experiment', async () => {
    const there = await withIdea()
    const { client, laptop, github } = there
    const before = refsOf(there)
    const commands = [
      ['tick'],
      ['tick', '--dry-run'],
      ['run'],
      ['run', '--fresh'],
      ['measure'],
      ['try'],
      ['propose', '-m', 'x'],
    ]
    for (const argv of commands) {
      const refused = await laptop(...argv).catch((error: unknown) => error)
      expect(refused, argv.join(' ')).toBeInstanceOf(UserError)
      expect(refused).toMatchObject({
        message: expect.stringContaining('campaign size runs on GitHub'),
        fix: expect.stringContaining('open a pull request against optimize/size'),
      })
    }
    await expect(laptop('archive')).rejects.toMatchObject({ fix: expect.stringContaining('winnow stop') })
    expect(refsOf(there)).toBe(before)
    await client.run()
    expect(await client.outcomes()).toEqual({ mine: 'kept' })
    expect(github.world.pulls.find(({ title }) => title === 'mine')).toMatchObject({ state: 'closed' })
    await proven(client.place)
  })

  test('hears what a person writes into its ledger from there', async () => {
    const there = await withIdea()
    const { client, laptop, winnow, github } = there
    await laptop('note', 'cold cache')
    await laptop('avoid', 'unrolling')
    await laptop('idea', 'add', 'fewer letters')
    await laptop('priority', 'exp-001', 'high')
    await laptop('pause', '-m', 'release week')
    expect((await laptop('status')).join('\n')).toContain('paused, release week')
    await winnow('tick')
    expect((await client.campaign()).status).toBe('paused')
    expect(await laptop('resume')).toEqual(['Campaign size continues. The next run on GitHub measures.'])
    await laptop('audit')
    expect(await laptop('stop', '-m', 'enough')).toEqual([
      'Campaign size is stopped. Its result is on optimize/size. The next run on GitHub cancels the running measurements.',
    ])
    const pull = () => github.world.pulls.find(({ title }) => title === 'mine')?.state
    await winnow('tick')
    expect([await client.outcomes(), pull()]).toEqual([{ mine: null }, 'open'])
    await expect(laptop('archive')).rejects.toThrow('its next run on GitHub closes the open experiments')
    await winnow('tick')
    expect([await client.outcomes(), pull()]).toEqual([{ mine: 'withdrawn' }, 'closed'])
    expect((await laptop('archive')).join()).toContain('optimize-archive/size/')
    expect(refsOf(there)).not.toContain('optimize-state/size ')
  })

  test('takes an amendment from there for what it is: of a campaign with machines of its own', async () => {
    const { openClient, wake, repository, github, ada } = await createActionsRepository([])
    const here = await openClient()
    await here.start()
    await wake()
    const laptop = await repository.another({ env: github.remote(ada).env, cache: 'laptop' })
    const yaml = `${(await here.campaign()).spec_yaml}execution: { runs_on: [bench] }\n`
    await applyAmendment(laptop.place, { yaml, reason: 'the bench is free' })
    expect((await here.events()).at(-1)).toMatchObject({ kind: 'campaign-amended', source: 'person' })
    await expect(
      applyAmendment(laptop.place, { yaml: yaml.replace('bench]', '""]'), reason: 'x' }),
    ).rejects.toThrow('execution.runs_on')
  })
})

test('a campaign that lives on one machine is carried on by no job of GitHub', async () => {
  const there = await onGithub([shorter('a', 3)])
  const { laptop, winnow, client } = there
  await laptop('run')
  expect(await client.outcomes()).toEqual({ a3: 'kept' })
  const before = refsOf(there)
  for (const argv of [['tick'], ['run']])
    await expect(winnow(...argv)).rejects.toMatchObject({
      message: expect.stringContaining('campaign size was started on one machine'),
      fix: expect.stringContaining('winnow archive'),
    })
  expect(refsOf(there)).toBe(before)
  await laptop('archive')
  await winnow('run')
  expect((await client.campaign()).host).toBe('github')
  await expect(laptop('tick')).rejects.toThrow('runs on GitHub')
})
