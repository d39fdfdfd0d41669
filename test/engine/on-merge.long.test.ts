import { describe, expect, it } from 'vitest'
import { cutOffEverywhere } from './cut-off.ts'
import { shorter, createSizeRepository, type SizeOptions } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const RESTART = 'execution: { mode: serial }\nmerge: { on_merge: restart }\n'

async function kept(options: SizeOptions = {}): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3), shorter('b', 5)], {
    remote: true,
    spec: RESTART,
    ...options,
  })
  await site.start()
  await site.run()
  expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'kept' })
  return site
}

/** What the person who takes it does. */
function merge(site: TestRepository): string {
  const here = site.origin === site.repo
  if (!here) site.git('fetch', '-q', 'origin')
  site.git('merge', '-q', '-m', 'merge it', here ? 'optimize/size' : 'origin/optimize/size')
  if (!here) site.git('push', '-q', 'origin', 'main')
  return site.git('rev-parse', 'HEAD')
}

function archived(site: TestRepository): string[] {
  return site
    .bare('for-each-ref', '--format=%(refname)', 'refs/heads/optimize-archive/')
    .split('\n')
    .filter(Boolean)
}

describe('a merged campaign with on_merge: restart', () => {
  it.each(selectCases([{ remote: true }, { remote: false }]))(
    'is archived, and the next one starts; $remote',
    async options => {
      const site = await kept(options)
      const tip = merge(site)
      await site.run()
      const campaign = await site.campaign()
      expect(campaign).toMatchObject({ status: 'running', start: { commit: tip }, landings: [] })
      // The same folder of ideas: what the default branch has by now does not apply any more.
      expect(Object.keys(campaign.experiments)).toEqual(['exp-003', 'exp-004'])
      expect(await site.outcomes()).toEqual({ a3: 'refused', b5: 'refused' })
      expect(site.bare('rev-parse', 'optimize/size')).toBe(tip)
      expect(archived(site).map(ref => ref.split('/').at(-1))).toEqual(['closed', 'optimize', 'state'])
      await site.proven()

      site.write('ideas/03.patch', shorter('c', 4))
      site.commit('another idea')
      await site.run()
      expect((await site.experiment('c4')).id).toBe('exp-005')
      expect(archived(site)).toHaveLength(3)
      await site.proven()
    },
  )

  releaseTest('is archived after an earlier stop too, and its open picks are closed', async () => {
    const site = await kept()
    await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-002', reason: 'alone' })
    await site.run()
    await site.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })
    await site.run()
    const tip = merge(site)
    await site.run()
    expect(await site.campaign()).toMatchObject({
      status: 'running',
      start: { commit: tip },
      next_number: 6,
    })
    expect(site.bare('for-each-ref', 'refs/heads/optimize-exp')).toBe('')
    await site.proven()
  })

  it.each(selectCases(['campaign-paused', 'campaign-stopped'] as const))(
    'does not restart before it is merged: %s',
    async kind => {
      const site = await kept()
      const { started } = await site.campaign()
      if (kind === 'campaign-paused') await site.person({ kind, reason: 'lunch', source: 'person' })
      else await site.person({ kind, code: 'person', reason: 'enough' })
      site.write('README.md', 'hello\n')
      site.commit('something else')
      await site.run()
      expect((await site.campaign()).started).toBe(started)
      expect(archived(site)).toEqual([])
    },
  )

  releaseTest('does not restart when the spec on the default branch asks for a stop', async () => {
    const site = await kept()
    const { started } = await site.campaign()
    merge(site)
    site.write('.winnow/size.yaml', site.git('show', 'HEAD:.winnow/size.yaml').replace('restart', 'stop'))
    site.commit('no more')
    await site.run()
    expect(await site.campaign()).toMatchObject({ started, status: 'stopped', stop_code: 'merged' })
    expect(archived(site)).toEqual([])
    await site.proven()
  })

  releaseTest('names the reason when the next one cannot start', async () => {
    const site = await kept()
    merge(site)
    site.write('.winnow/size.yaml', 'winnow: 1\n')
    site.commit('a broken spec')
    expect(await site.run()).toMatchObject({
      for: 'person',
      what: expect.stringContaining('the campaign was merged, but the next campaign cannot start: '),
    })
    expect(archived(site)).toEqual([])
  })

  it.each(
    selectCases([
      ['name: other', 'it is now named other, and the campaign size'],
      [
        'branches: { prefix: search }',
        'its branches.prefix is now search, and that of the campaign optimize',
      ],
    ]),
  )('does not start one with other branches: %s', async (line, why) => {
    const site = await kept()
    merge(site)
    const before = () => site.bare('for-each-ref', 'refs/heads', '--format=%(refname)')
    const refs = before()
    site.write('.winnow/size.yaml', `${site.git('show', 'HEAD:.winnow/size.yaml')}\n${line}\n`)
    site.commit('other branches')
    expect(await site.run()).toMatchObject({ for: 'person', what: expect.stringContaining(why) })
    expect(await site.campaign()).toMatchObject({
      status: 'stopped',
      stop_code: 'merged',
      alerts: [{ code: 'restart-refused', message: expect.stringContaining(why) }],
    })
    expect(before()).toBe(refs)
    // Told once, and mended by putting it back.
    const { length } = await site.events()
    await site.run()
    expect(await site.events()).toHaveLength(length)
    site.write('.winnow/size.yaml', site.git('show', 'HEAD~1:.winnow/size.yaml'))
    site.commit('as it was')
    await site.run()
    expect(await site.campaign()).toMatchObject({ status: 'running', next_number: 5 })
    await site.proven()
  })

  releaseTest('stays as it is when no spec asks for the next one', async () => {
    const site = await kept({ spec: 'execution: { mode: serial }\n' })
    const { started } = await site.campaign()
    merge(site)
    await site.run()
    expect(await site.campaign()).toMatchObject({ started, status: 'running' })
    await site.proven()
  })

  releaseTest('restarts once, wherever a process is killed, and for any number of processes', async () => {
    const site = await kept()
    const tip = merge(site)
    const reached = await cutOffEverywhere(site)
    expect(reached).toEqual(expect.arrayContaining(['before:restart', 'commit:after-push', 'after:restart']))
    await Promise.all([site.run(), (await site.another()).run()])
    expect(await site.campaign()).toMatchObject({ status: 'running', start: { commit: tip }, next_number: 5 })
    expect(archived(site)).toHaveLength(3)
    await site.proven()
  })

  releaseTest('restarts in one of two processes that observe it at the same time', async () => {
    const site = await kept()
    merge(site)
    const other = await site.another()
    await Promise.all([site.tick(), other.tick()])
    await site.run()
    expect(archived(site)).toHaveLength(3)
    await site.proven()
  })
})
