import { describe, expect, it } from 'vitest'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const SERIAL = 'execution: { mode: serial }\n'
const EXP = 'optimize-exp/size'
/** A candidate with this word in it takes so long that whatever happens meanwhile happens in time. */
const NAP = 'slow'

async function shared(ideas: string[] = [], options: { remote?: boolean } = {}): Promise<TestRepository> {
  const site = await createSizeRepository(ideas, { remote: true, spec: SERIAL, ...options })
  await site.start()
  return site
}

/** A person's branch, whose one commit makes a.txt this. */
async function bring(site: TestRepository, name: string, files: Record<string, string>, from = 'main') {
  const commit = site.commitOn(from, files, name)
  const idea = { commit, from: site.origin, isOurs: false, name, message: name }
  return { commit, branch: await submitIdea(site.place, idea) }
}

const statusIs = (hypothesis: string, status: string) => (campaign: Campaign) =>
  Object.values(campaign.experiments).some(each => each.hypothesis === hypothesis && each.status === status)

describe('a branch with new commits', () => {
  releaseTest('is measured at its new head alone when it is queued', async () => {
    const site = await shared()
    await bring(site, 'first', { 'src/b.txt': letters('b', 9) })
    const { commit, branch } = await bring(site, 'second', { 'src/a.txt': letters('a', 20) })
    await site.until(statusIs('second', 'queued'))
    const newer = site.commitOn(commit, { 'src/a.txt': letters('a', 6) })
    site.push(newer, branch)

    await site.run()
    expect(await site.outcomes()).toEqual({ first: 'kept', second: 'kept' })
    expect((await site.experiment('second')).metrics['bytes']).toBe(33)
    const orders = (await site.events()).flatMap(event => (event.kind === 'order-issued' ? [event] : []))
    const heads = orders.flatMap(order => order.candidates.map(({ head }) => head))
    expect(heads).toContain(newer)
    expect(heads).not.toContain(commit)
    await site.proven()
  })

  it('is measured again when it is being measured, and the old numbers do not count', async () => {
    const site = await shared()
    const { commit, branch } = await bring(site, 'mine', { 'src/a.txt': `${NAP}\n` })
    await site.until(statusIs('mine', 'ordered'))
    const newer = site.commitOn(commit, { 'src/a.txt': letters('a', 6) })
    site.push(newer, branch)

    await site.run()
    expect(await site.outcomes()).toEqual({ mine: 'kept' })
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe('aaaaaa')
    expect(await site.kinds()).toContain('head-moved')
    await site.proven()
  })

  releaseTest('is measured at its current head after a forced push', async () => {
    const site = await shared()
    const { branch } = await bring(site, 'mine', { 'src/a.txt': `${NAP}\n` })
    await site.until(statusIs('mine', 'ordered'))
    site.push(site.commitOn('main', { 'src/b.txt': letters('b', 2) }), branch)

    await site.run()
    expect(site.bare('show', 'optimize/size:src/a.txt')).toBe(letters('a', 15).trim())
    expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bb')
    await site.proven()
  })

  releaseTest('is a new idea after the end of its experiment', async () => {
    const site = await shared()
    const { commit } = await bring(site, 'mine', { 'src/a.txt': letters('a', 20) })
    await site.run()
    expect(await site.outcomes()).toEqual({ mine: 'dropped' })
    const better = site.commitOn(commit, { 'src/a.txt': letters('a', 2) }, 'better')
    const idea = { commit: better, from: site.origin, isOurs: false, name: 'mine', message: 'better' }
    await submitIdea(site.place, idea)
    await site.run()
    expect(await site.outcomes()).toEqual({ mine: 'dropped', better: 'kept' })
    await site.proven()
  })
})

describe("a person's commit on a branch that winnow made", () => {
  it.each(selectCases([{ remote: true }, { remote: false }]))(
    'makes the branch theirs, remote: $remote',
    async options => {
      const site = await shared([shorter('a', 20, 'longer')], options)
      await site.until(statusIs('longer', 'ordered'))
      const before = site.bare('rev-parse', `${EXP}/exp-001`)
      const theirs = site.commitOn(before, { 'src/a.txt': letters('a', 21) })
      site.push(theirs, `${EXP}/exp-001`)

      await site.run()
      expect(await site.outcomes()).toEqual({ longer: 'dropped' })
      expect((await site.experiment('longer')).metrics['bytes']).toBe(54)
      expect(site.bare('rev-parse', `${EXP}/exp-001`)).toBe(theirs)
      await site.proven()
    },
  )
})

describe('an experiment', () => {
  releaseTest('is withdrawn when its branch is deleted', async () => {
    const site = await shared()
    const branch = `${EXP}/mine`
    site.push(site.commitOn('main', { 'src/a.txt': `${NAP}\n` }, 'mine'), branch)
    await site.until(statusIs('mine', 'ordered'))
    site.bare('update-ref', '-d', `refs/heads/${branch}`)
    await site.run()
    expect(await site.reasonOf('mine')).toBe(`its branch ${branch} was deleted`)
    await site.proven()
  })

  it('is withdrawn by a person, with their reason', async () => {
    const site = await shared([shorter('a', 3), shorter('b', 3)])
    await site.until(statusIs('a3', 'ordered'))
    const steer = { kind: 'steered', action: 'withdraw' } as const
    await site.person({ ...steer, experiment: 'exp-002', reason: 'not now' })
    await site.run()
    expect(await site.outcomes()).toEqual({ a3: 'kept', b3: 'withdrawn' })
    expect(await site.reasonOf('b3')).toBe('not now')
    expect(site.bare('for-each-ref', '--format=%(refname)', `refs/heads/${EXP}`)).toBe('')
    await site.person({ ...steer, experiment: 'exp-001', reason: 'too late' })
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect((await site.experiment('a3')).outcome).toBe('kept')
    await site.proven()
  })
})
