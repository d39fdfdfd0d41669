import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { gitIn, patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

const IDEAS = [
  shorter('a', 3),
  shorter('b', 5),
  shorter('a', 12, 'not the best'),
  patchOf({ 'src/c.txt': [letters('c', 15), letters('c', 17)] }, { hypothesis: 'longer' }),
  patchOf({ 'src/c.txt': [letters('c', 15), 'broken\n'] }, { hypothesis: 'broken' }),
]

async function finished(): Promise<TestRepository> {
  const site = await createSizeRepository(IDEAS, { remote: true })
  await site.start()
  const commit = site.commitOn('main', { 'src/e.txt': 'e\n' }, 'mine')
  await submitIdea(site.place, { commit, from: site.origin, isOurs: false, name: 'mine', message: 'mine' })
  await site.run()
  return site
}

describe('an ended experiment', () => {
  it('stays reachable from one branch of a fresh clone, with its results', async () => {
    const site = await finished()
    const clone = join(site.root, 'clone')
    site.git('clone', '-q', '--bare', '--single-branch', '-b', 'optimize-closed/size', site.origin, clone)
    const there = gitIn(clone)
    const closed = (await site.events()).flatMap(event =>
      event.kind === 'closed' || event.kind === 'merged' ? [event] : [],
    )
    expect(closed).toHaveLength(6)
    for (const { experiment, head, results } of closed) {
      expect(there('merge-base', '--is-ancestor', head ?? '', 'HEAD')).toBe('')
      if (results === null) continue
      there('merge-base', '--is-ancestor', results, 'HEAD')
      const yaml = there('show', `${results}:.winnow/results/size/${experiment}/results.yaml`)
      expect(yaml).toContain(`outcome: ${(await site.campaign()).experiments[experiment]?.outcome}`)
    }
    expect(closed.filter(({ results }) => results === null)).toEqual([])
    await site.proven()
  })

  it('keeps the branch of a person unchanged, with results beside it and in the ledger', async () => {
    const site = await finished()
    const closed = (await site.events()).find(
      event => event.kind === 'closed' && event.experiment === 'exp-001',
    )
    if (closed?.kind !== 'closed' || closed.results === null) throw new Error('exp-001 has no results')
    expect(site.bare('rev-parse', 'optimize-exp/size/mine')).toBe(closed.head)
    expect(site.bare('rev-parse', `${closed.results}^`)).toBe(closed.head)
    expect(site.bare('show', 'optimize-state/size:results/exp-001.yaml')).toBe(
      site.bare('show', `${closed.results}:.winnow/results/size/exp-001/results.yaml`),
    )
  })

  releaseTest('has no branch left, except a branch of a person', async () => {
    const site = await finished()
    expect(site.bare('for-each-ref', '--format=%(refname:short)', 'refs/heads/optimize-exp')).toBe(
      'optimize-exp/size/mine',
    )
    await site.proven()
  })

  it('has its results beside the landing, and not in the incumbent', async () => {
    const site = await finished()
    expect(site.bare('ls-tree', '-r', '--name-only', 'optimize/size')).not.toContain('results.yaml')
    const { landings } = await site.campaign()
    for (const { commit, experiment } of landings) {
      const yaml = site.bare('show', `${commit}^2:.winnow/results/size/${experiment}/results.yaml`)
      expect(yaml).toMatch(/outcome: (kept|runner_up_kept)/)
    }
    expect(landings).toHaveLength(2)
  })
})
