import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  letters,
  SIZE_SPEC,
  shorter,
  type SizeOptions,
  createSizeRepository,
} from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

async function underWay(options: SizeOptions = { remote: true }): Promise<TestRepository> {
  const site = await createSizeRepository([shorter('a', 3)], options)
  await site.start()
  await site.run()
  expect(await site.outcomes()).toEqual({ a3: 'kept' })
  return site
}

async function orders(site: TestRepository) {
  return (await site.events()).flatMap(event => (event.kind === 'order-issued' ? [event] : []))
}

describe('a sync', () => {
  it.each(selectCases([{ remote: true }, { remote: false }]))(
    'brings a new pin, ruler and baseline; $remote',
    async options => {
      const site = await underWay(options)
      const { harness } = await site.campaign()
      site.write('bench/size.sh', '#!/bin/sh\nprintf \'{"bytes": %s000}\' "$(cat src/*.txt | wc -c)"\n')
      site.write('README.md', 'hello\n')
      site.write('ideas/02.patch', shorter('b', 5))
      const tip = site.commit('another harness')
      await site.run()

      const campaign = await site.campaign()
      const moved = (await site.events()).findLast(event => event.kind === 'synced')
      expect(moved).toMatchObject({ default_tip: tip })
      expect(campaign.harness).not.toBe(harness)
      expect(site.bare('show', 'optimize/size:README.md')).toBe('hello')
      expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaa')
      expect(await site.reasonOf('b5')).toContain('bytes 36000 -> 26000')
      const [last] = (await orders(site)).slice(-1)
      expect(last).toMatchObject({ harness: campaign.harness, pin: campaign.pin })
      expect(campaign.pin).toEqual(moved && 'to' in moved ? moved.to : null)
      await site.proven()
    },
  )

  it.each(selectCases(['start', 'resume']))(
    'that fixes a harness which never worked is measured first, at %s',
    async when => {
      const site = await createSizeRepository([shorter('a', 3)], { remote: true })
      const harness = readFileSync(join(site.repo, 'bench/size.sh'), 'utf8')
      site.write('bench/size.sh', '#!/bin/sh\nexit 3\n')
      site.commit('a harness that does not work')
      await site.start()
      if (when === 'resume') {
        await site.run()
        expect(await site.campaign()).toMatchObject({ status: 'paused', baseline: null })
      }
      site.write('bench/size.sh', harness)
      const tip = site.commit('and one that does')
      if (when === 'resume') await site.person({ kind: 'campaign-resumed', reason: 'mended' })
      await site.run()
      expect((await site.events()).findLast(event => event.kind === 'synced')).toMatchObject({
        default_tip: tip,
      })
      expect(await site.outcomes()).toEqual({ a3: 'kept' })
      await site.proven()
    },
  )

  it('without a change of the ruler keeps the evidence', async () => {
    const site = await underWay()
    const { harness, calibration } = await site.campaign()
    site.write('src/c.txt', letters('c', 14))
    site.commit('a change of our own')
    await site.run()
    const campaign = await site.campaign()
    expect(campaign).toMatchObject({ harness, calibration })
    expect(campaign.baseline?.snapshot.metrics).toMatchObject({ bytes: { aggregate: 35 } })
    await site.proven()
  })

  releaseTest('waits for the end of an open round', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { remote: true })
    await site.start()
    await site.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
    site.write('src/c.txt', letters('c', 14))
    site.commit('meanwhile')
    await site.run()
    expect(
      (await site.events()).flatMap(event => (event.kind === 'incumbent-moved' ? [event.why] : [])),
    ).toEqual(['merged', 'synced'])
    await site.proven()
  })

  it('with a conflict raises an alert and stops new rounds until a person resolves it', async () => {
    const site = await underWay()
    site.write('src/a.txt', 'something else\n')
    site.write('ideas/02.patch', shorter('b', 5))
    const tip = site.commit('rewrites a')
    const waiting = await site.run()
    const message = `the default branch at ${tip.slice(0, 10)} conflicts with the incumbent in src/a.txt: merge the optimize branch into the default branch`
    expect(waiting).toEqual({ for: 'person', what: expect.stringContaining(message) })
    expect(await site.alerts()).toEqual([expect.stringContaining(message)])
    expect(await site.outcomes()).toEqual({ a3: 'kept' })

    site.git('fetch', '-q', 'origin')
    site.git('merge', '-q', '-s', 'ours', '-m', 'resolved', 'origin/optimize/size')
    site.git('push', '-q', 'origin', 'main')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('something else')
    expect((await site.outcomes())['b5']).toBe('kept')
    await site.proven()
  })

  it('with another spec is an amendment in the ledger, whose rules apply from then on', async () => {
    const site = await underWay()
    const { harness, spec_sha256 } = await site.campaign()
    const yaml = SIZE_SPEC.replace('bench/test.sh', 'bench/test.sh strict')
    site.write('.winnow/size.yaml', yaml)
    site.commit('another gate')
    await site.run()
    const amended = (await site.events()).find(event => event.kind === 'campaign-amended')
    expect(amended).toMatchObject({ spec_yaml: yaml, source: 'default-branch' })
    const campaign = await site.campaign()
    expect(campaign.harness).not.toBe(harness)
    expect(campaign.spec_sha256).not.toBe(spec_sha256)
    expect(site.bare('show', 'optimize-state/size:spec.yaml')).toBe(yaml.trimEnd())
    await site.proven()
  })

  releaseTest(
    'with an invalid spec raises an alert with the line, and the old spec stays in force',
    async () => {
      const site = await underWay()
      const { spec_sha256 } = await site.campaign()
      site.write('.winnow/size.yaml', `${SIZE_SPEC}stoping: { max_hours: 1 }\n`)
      site.commit('a mistake')
      const waiting = await site.run()
      const message = /\.winnow\/size\.yaml:8:1.*stoping.*stopping/s
      expect(waiting).toEqual({ for: 'person', what: expect.stringMatching(message) })
      expect(await site.alerts()).toEqual([expect.stringMatching(message)])
      expect((await site.campaign()).spec_sha256).toBe(spec_sha256)

      site.write('.winnow/size.yaml', SIZE_SPEC)
      site.commit('mended')
      expect(await site.run()).toEqual({ for: 'ideas' })
      await site.proven()
    },
  )

  releaseTest('that fails the gates raises an alert, and no experiment builds on it', async () => {
    const site = await underWay()
    const before = site.bare('rev-parse', 'optimize/size')
    site.write('src/c.txt', 'broken\n')
    const tip = site.commit('breaks the tests')
    const waiting = await site.run()
    const message = `the default branch at ${tip.slice(0, 10)} does not pass when merged with the incumbent: gate tests failed (exit 1)`
    expect(waiting).toEqual({ for: 'person', what: message })
    expect(await site.alerts()).toEqual([message])
    expect(site.bare('rev-parse', 'optimize/size')).toBe(before)

    site.write('src/c.txt', 'mended\n')
    site.commit('mended')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(site.bare('show', 'optimize/size:src/c.txt')).toBe('mended')
    await site.proven()
  })
})

describe('the default branch', () => {
  releaseTest('with a remote is its tip there: local commits do not count', async () => {
    const site = await underWay()
    site.write('src/c.txt', 'local\n')
    site.git('add', '-A')
    site.git('commit', '-q', '-m', 'not pushed')
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.kinds()).not.toContain('synced')
  })

  releaseTest(
    'without a remote is the branch of HEAD at the start, whatever is checked out later',
    async () => {
      const site = await underWay({ remote: false })
      site.git('checkout', '-q', '-b', 'elsewhere')
      site.write('src/c.txt', 'elsewhere\n')
      site.commit('of another branch')
      await site.reopen()
      expect(await site.run()).toEqual({ for: 'ideas' })
      expect(await site.kinds()).not.toContain('synced')
      expect((await site.campaign()).default_branch).toBe('refs/heads/main')
      site.git('checkout', '-q', '--detach')
      await site.proven()
    },
  )
})
