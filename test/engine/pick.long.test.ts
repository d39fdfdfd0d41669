import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { PickedChange } from '../../src/model/experiment.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { renderPickBody } from '../../src/report/pull-request.ts'
import { cutOffEverywhere } from './cut-off.ts'
import { letters, shorter, createSizeRepository, type SizeOptions } from '../support/size-repository.ts'
import { packageFiles } from '../support/package-files.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { outcomeCounts } from '../model/outcome-counts.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\nmerge: { max_open_experiments: 1 }\n'

async function ended(ideas: readonly string[], options: SizeOptions = {}): Promise<TestRepository> {
  const site = await createSizeRepository(ideas, { remote: true, spec: SERIAL, ...options })
  await site.start()
  await site.run()
  return site
}

async function pick(site: TestRepository, experiment = 'exp-001'): Promise<PickedChange> {
  await site.person({ kind: 'steered', action: 'pick', experiment, reason: 'alone, please' })
  await site.run()
  return picked(site)
}

async function picked(site: TestRepository): Promise<PickedChange> {
  const found = Object.values((await site.campaign()).picks).at(-1)
  if (found === undefined) throw new Error('nothing was taken alone')
  return found
}

function branches(site: TestRepository): string[] {
  const found = site.bare('for-each-ref', '--format=%(refname:short)', 'refs/heads/optimize-exp')
  return found === '' ? [] : found.split('\n')
}

function bodyOf(campaign: Campaign, found: PickedChange): string {
  return renderPickBody(campaign, found, null)
}

describe('a pick', () => {
  it.each(selectCases([{ remote: true }, { remote: false }]))(
    'is one commit on the default branch, offered and measured there; $remote',
    async options => {
      const site = await ended([shorter('a', 3), shorter('b', 5)], options)
      const before = await site.campaign()
      const found = await pick(site, 'exp-002')
      const main = site.bare('rev-parse', 'main')

      expect(found).toMatchObject({ id: 'exp-003', picks: 'exp-002', base: main, outcome: 'kept' })
      expect(found.reason).toBe('bytes 48 -> 38 (-20.8 %), deterministic, identical when re-run')
      expect(site.bare('rev-list', '--parents', '-1', 'optimize-exp/size/exp-003')).toBe(
        `${found.head} ${main}`,
      )
      expect(site.bare('diff', '--name-only', main, `${found.head}`)).toBe('src/b.txt')
      expect(site.bare('show', `${found.head}:src/b.txt`)).toBe('bbbbb')
      expect(site.bare('log', '-1', '--format=%s', `${found.head}`)).toBe('optimize(size): b5')

      const body = bodyOf(await site.campaign(), found)
      expect(body).toContain('**Kept: bytes 48 → 38 (-20.8 %)**')
      expect(body).toContain(`main at \`${main.slice(0, 10)}\``)

      const after = await site.campaign()
      expect(outcomeCounts(after)).toEqual(outcomeCounts(before))
      expect(after).toMatchObject({
        incumbent: before.incumbent,
        ended: before.ended,
        error_budget: before.error_budget,
        landings: before.landings,
        round: before.round,
      })
      expect(Object.keys(after.experiments)).toEqual(['exp-001', 'exp-002'])
      await site.proven()
    },
  )

  releaseTest('that a person merges is recorded, and the next sync counts it once', async () => {
    const site = await ended([shorter('a', 3), shorter('b', 5)])
    const found = await pick(site)
    const { incumbent } = await site.campaign()
    site.git('fetch', '-q', 'origin')
    site.git('merge', '-q', '--no-ff', '-m', 'merge it', `origin/${found.branch}`)
    site.git('push', '-q', 'origin', 'main')
    await site.run()

    expect(await picked(site)).toMatchObject({ closed: true, pick_end: 'merged', outcome: 'kept' })
    expect(site.bare('branch', '--list', found.branch ?? '')).toBe('')
    const after = await site.campaign()
    expect(after.incumbent.tree).toBe(incumbent.tree)
    expect(after.reference.commit).toBe(after.default_tip)
    expect(after.default_tip).toBe(site.bare('rev-parse', 'main'))
    expect(outcomeCounts(after)).toEqual({ kept: 2 })
    await site.proven()

    await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-001', reason: 'again' })
    await site.run()
    expect((await picked(site)).reason).toMatch(/^main at \w+ has exp-001 already$/)
    await site.proven()
  })

  releaseTest('that a person copies is found on the default branch', async () => {
    const site = await ended([shorter('a', 3)])
    const found = await pick(site)
    site.write('src/a.txt', letters('a', 3))
    site.commit('by hand')
    await site.run()
    expect(await picked(site)).toMatchObject({ id: found.id, closed: true, pick_end: 'merged' })
    expect(branches(site)).not.toContain(found.branch)
    await site.proven()
  })

  releaseTest('ends when a person deletes its branch, and can be requested again', async () => {
    const site = await ended([shorter('a', 3)])
    const found = await pick(site)
    site.bare('update-ref', '-d', `refs/heads/${found.branch}`)
    await site.run()
    expect(await picked(site)).toMatchObject({ closed: true, pick_end: 'declined', outcome: 'kept' })
    const again = await pick(site)
    expect(again).toMatchObject({ id: 'exp-003', outcome: 'kept', closed: false })
    expect(again.head).toBe(found.head)
    await site.proven()
  })

  releaseTest('stays alone after another person pushes to its branch', async () => {
    const site = await ended([shorter('a', 3)])
    const found = await pick(site)
    const theirs = site.commitOn(found.head ?? '', { 'src/a.txt': 'a\n' }, 'shorter still')
    site.push(theirs, found.branch ?? '')
    await site.run()
    expect(await picked(site)).toMatchObject({ closed: true, pick_end: 'left' })
    expect(site.bare('rev-parse', found.branch ?? '')).toBe(theirs)
    expect(Object.keys((await site.campaign()).experiments)).toEqual(['exp-001'])
    await site.proven()
  })

  it('is refused with the conflict when it needs earlier changes', async () => {
    const further = patchOf({ 'src/a.txt': ['aaa\n', 'a\n'] }, { hypothesis: 'even shorter' })
    const site = await ended([shorter('a', 3), further])
    const found = await pick(site, 'exp-002')
    expect(found).toMatchObject({ outcome: 'refused', closed: true, branch: null })
    expect(found.reason).toMatch(
      /^exp-002 does not apply to main at \w+ on its own: conflict in src\/a.txt, which other kept changes touch as well$/,
    )
    expect(branches(site)).toEqual([])
    await site.proven()
  })

  it('reports when it has no gain alone, or fails a gate', async () => {
    const site = await createSizeRepository([], { remote: true, spec: SERIAL })
    site.write('src/c.txt', `${letters('c', 15)}clash\n`)
    site.write(
      'ideas/01.patch',
      patchOf({ 'src/c.txt': [`${letters('c', 15)}clash\n`, 'c\n'] }, { hypothesis: 'c1' }),
    )
    site.write(
      'ideas/02.patch',
      patchOf({ 'src/b.txt': [letters('b', 15), 'clash b\n'] }, { hypothesis: 'clash' }),
    )
    site.commit('a harness in which two changes depend on each other')
    await site.start()
    await site.run()
    expect(await site.outcomes()).toEqual({ c1: 'kept', clash: 'kept' })
    const found = await pick(site, 'exp-002')
    expect(found).toMatchObject({ outcome: 'dropped', verdict: 'worse', closed: false })
    expect(branches(site)).toContain(found.branch)
    await site.proven()
  })
})

describe('a pick is measured like the campaign', () => {
  releaseTest(
    'by pairs where pairs decide, like a confirmation, without a share of the error budget',
    async () => {
      const paired = (text: string) => `${text.replace('seconds: 60', 'seconds: 60, mode: paired')}${SERIAL}`
      const site = await createSizeRepository([shorter('a', 3)], { remote: true, spec: paired })
      await site.start()
      await site.until(({ landings }) => landings.length === 1)
      const { error_budget } = await site.campaign()
      const found = await pick(site)
      expect(found).toMatchObject({ outcome: 'kept', evidence: null })
      expect(found.reason).toMatch(/^bytes .* lower[^]*\nevidence \d+ \(needed to be sure: \d+\) /)
      const ordered = (await site.events()).flatMap(each => (each.kind === 'order-issued' ? [each] : []))
      const terms = ordered.flatMap(({ purpose, stop }) =>
        purpose === 'pick' && stop.rule === 'paired' ? Object.values(stop.terms) : [],
      )
      expect(terms.length).toBeGreaterThan(0)
      for (const each of terms) expect(each).toMatchObject({ as: 'confirmed', alpha: 0.05, alpha_share: 0 })
      expect((await site.campaign()).error_budget).toEqual(error_budget)
      expect(bodyOf(await site.campaign(), found)).toMatch(/\d+ pairs of runs on this machine/)
      await site.proven()
    },
  )

  releaseTest('with its new packages listed and approved again', async () => {
    const open = (text: string) => text.replace('[src/]', '[src/, package.json, package-lock.json]')
    const site = await createSizeRepository([], { remote: true, spec: open, files: packageFiles({}) })
    await site.start()
    const change = { 'src/a.txt': letters('a', 3), ...packageFiles({ 'left-pad': { version: '1.3.0' } }) }
    site.push(site.commitOn(site.bare('rev-parse', 'main'), change, 'pads'), 'optimize-exp/size/mine')
    await site.run()
    const { approval } = await site.experiment('pads')
    const packages = ['left-pad']
    await site.person({ kind: 'approved', experiment: 'exp-001', digest: approval?.digest ?? '', packages })
    await site.run()
    expect(await site.outcomes()).toEqual({ pads: 'kept' })
    const found = await pick(site)
    expect(found).toMatchObject({ outcome: 'kept' })
    const body = bodyOf(await site.campaign(), found)
    expect(body).toMatch(/\| left-pad 1\.3\.0 \| .* \| approved \|/)
    expect((await site.kinds()).filter(kind => kind === 'approval-requested')).toHaveLength(1)
    await site.proven()
  })
})

describe('a pick whose default branch moves', () => {
  it('before the measurement is rebuilt on the new tip', async () => {
    const begun = join(mkdtempSync(join(tmpdir(), 'winnow-pick-')), 'begun')
    onTestFinished(() => rmSync(dirname(begun), { recursive: true, force: true }))
    const alone = `test "$(cat src/*.txt)" = "$(printf '${letters('a', 3)}${letters('b', 15)}${letters('c', 15)}')"`
    const gate = `#!/bin/sh\n${alone.replaceAll('\n', '\\n')} || exit 0\necho begun > '${begun}'\nexec sleep 100\n`
    let ahead = 0
    const site = await ended([shorter('b', 5), shorter('a', 3)], {
      files: { 'bench/test.sh': gate },
      spec: `${SERIAL}stopping: { max_hours: 1000 }\n`,
      ahead: () => ahead,
    })
    await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-002', reason: 'please' })
    await site.until(({ picks }) => Object.values(picks).some(({ status }) => status === 'ordered'))
    const first = await picked(site)
    await vi.waitFor(() => expect(existsSync(begun)).toBe(true), 30_000)
    ahead = 86_400_000
    site.write('src/c.txt', letters('c', 9))
    const tip = site.commit('a person was at work')
    await site.run()
    const found = await picked(site)
    expect(found).toMatchObject({
      id: first.id,
      branch: first.branch,
      base: tip,
      outcome: 'kept',
      interrupted: 0,
    })
    expect(found.reason).toContain('bytes 42 -> 30 (-28.6 %)')
    expect(site.bare('rev-parse', `${found.branch}^`)).toBe(tip)
    expect(branches(site)).toEqual([found.branch])
    await site.proven()
  })

  releaseTest(
    'after the measurement says so in its pull request, and can be measured there on request',
    async () => {
      const site = await ended([shorter('a', 3)])
      const first = await pick(site)
      site.write('src/b.txt', letters('b', 9))
      const tip = site.commit('a person was at work')
      await site.run()
      expect(bodyOf(await site.campaign(), first)).toContain('main has moved since this was measured')
      const second = await pick(site)
      expect(second).toMatchObject({ id: 'exp-003', base: tip, outcome: 'kept' })
      expect((await site.campaign()).picks[first.id]).toMatchObject({ closed: true, pick_end: 'replaced' })
      expect(branches(site)).not.toContain(first.branch)
      await site.proven()
    },
  )

  releaseTest('with a conflict is built on the last synced tip', async () => {
    const site = await ended([shorter('a', 3), shorter('b', 5)])
    const before = site.bare('rev-parse', 'main')
    site.write('src/a.txt', letters('x', 20))
    site.commit('in the way')
    const found = await pick(site, 'exp-002')
    expect(found).toMatchObject({ base: before, outcome: 'kept' })
    await site.proven()
  })
})

describe('a campaign that does not run', () => {
  releaseTest.each(['person', 'max_iterations'])('runs for a pick alone, and stops again: %s', async code => {
    const site = await ended([shorter('a', 3)])
    await site.person({ kind: 'campaign-stopped', code, reason: 'enough' })
    await site.run()
    site.write('ideas/02.patch', shorter('b', 5))
    site.commit('an idea that comes too late')
    const found = await pick(site)
    expect(found).toMatchObject({ outcome: 'kept', closed: false })
    expect(await site.campaign()).toMatchObject({
      status: 'stopped',
      stop_code: code,
      status_reason: 'enough',
    })
    expect(await site.outcomes()).toEqual({ a3: 'kept' })
    expect(branches(site)).toContain(found.branch)
    await site.proven()
  })

  releaseTest('measures no pick while it is paused', async () => {
    const site = await ended([shorter('a', 3)])
    await site.person({ kind: 'campaign-paused', reason: 'lunch', source: 'person' })
    await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-001', reason: 'please' })
    await site.run()
    expect((await site.campaign()).picks).toEqual({})
    await site.person({ kind: 'campaign-resumed', reason: '' })
    await site.run()
    expect(await picked(site)).toMatchObject({ outcome: 'kept' })
    await site.proven()
  })

  releaseTest('withdraws its picks when a person stops it', async () => {
    const site = await ended([shorter('a', 3)])
    await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-001', reason: 'please' })
    await site.until(({ picks }) => Object.values(picks).some(({ status }) => status === 'ordered'))
    await site.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })
    await site.run()
    const found = await picked(site)
    expect(found).toMatchObject({ outcome: 'withdrawn', closed: true })
    expect(branches(site)).not.toContain(found.branch)
    await site.proven()
  })
})

describe('an interrupted pick', () => {
  releaseTest.each([{ remote: true }, { remote: false }])(
    'has the same result wherever its process is killed; $remote',
    async options => {
      const site = await ended([shorter('a', 3), shorter('b', 5)], options)
      await site.person({ kind: 'steered', action: 'pick', experiment: 'exp-002', reason: 'please' })
      const reached = await cutOffEverywhere(site)
      expect(reached).toEqual(
        expect.arrayContaining([
          'step:open',
          'commit:before-push',
          'commit:after-push',
          'before:dispatch',
          'step:keep',
        ]),
      )
      const found = await picked(site)
      expect(found).toMatchObject({ id: 'exp-003', outcome: 'kept', closed: false })
      expect(Object.keys((await site.campaign()).picks)).toEqual(['exp-003'])
      expect(branches(site)).toEqual([found.branch])
      expect(site.bare('rev-parse', found.branch ?? '')).toBe(found.head)
      expect((await site.kinds()).filter(kind => kind === 'decided')).toHaveLength(3)
      await site.proven()
    },
  )
})
