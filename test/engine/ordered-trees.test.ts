import { describe, expect, it } from 'vitest'
import { fetchOrderedTrees } from '../../src/engine/jobs/job-clone.ts'
import { buildProbeCandidates } from '../../src/engine/observe/probe-candidates.ts'
import { aSpec } from '../decide/a-spec.ts'
import { open, userRepository } from '../git/scratch.ts'
import { anOrder } from '../model/an-order.ts'

/** A clone in which the head of somebody's pull request is held by nothing but the name it was fetched by. */
async function scene() {
  const user = userRepository()
  const start = user.git('rev-parse', 'HEAD')
  const head = user.commit('idea', { 'src/b.txt': 'new\n' })
  user.git('update-ref', 'refs/remotes/pull/7/head', head)
  user.git('reset', '-q', '--hard', start)
  const base = user.commit('incumbent', { 'README.md': 'better\n' })
  const tree = user.git('merge-tree', '--write-tree', base, head)
  user.git('prune', '--expire=now')
  const repository = await open({ remote: user.dir, local: true })
  const point = (commit: string) => ({ commit, tree: user.git('rev-parse', `${commit}^{tree}`) })
  const candidates = [{ label: 'exp-001', head, tree }]
  const order = anOrder({ pin: point(start), base: point(base), candidates })
  return { user, repository, order, head }
}

describe('the trees of an order', () => {
  it('are fetched with their commits, and a missing candidate tree is merged again', async () => {
    const { repository, order } = await scene()
    const [candidate] = order.candidates
    expect(await repository.has(candidate?.tree ?? '')).toBe(false)
    await fetchOrderedTrees(repository, order, aSpec())
    expect(await repository.has(candidate?.tree ?? '')).toBe(true)
    expect(await repository.has(order.pin.tree)).toBe(true)
  })

  it('must be exactly the ordered ones', async () => {
    const { repository, order, head } = await scene()
    const other = { ...order, candidates: [{ label: 'exp-001' as const, head, tree: 'e'.repeat(40) }] }
    await expect(fetchOrderedTrees(repository, other, aSpec())).rejects.toThrow(
      `exp-001: merging ${head} with the base does not give tree ${'e'.repeat(40)}`,
    )
  })

  it('cannot come from a head that the remote does not have', async () => {
    const { repository, order } = await scene()
    const head = 'f'.repeat(40)
    const other = { ...order, candidates: [{ label: 'exp-001' as const, head, tree: 'e'.repeat(40) }] }
    await expect(fetchOrderedTrees(repository, other, aSpec())).rejects.toThrow(head)
  })

  it('of probes are made from the base again, and have to be the ordered ones', async () => {
    const { repository, order } = await scene()
    await fetchOrderedTrees(repository, order, aSpec())
    const { base } = order
    const candidates = await buildProbeCandidates(repository, { spec: aSpec(), base, metrics: {} })
    const probes = { ...order, purpose: 'probe' as const, candidates, probing: { version: 1, metrics: {} } }
    expect(candidates.map(({ label }) => label)).toEqual(['probe-vanish'])
    await fetchOrderedTrees(repository, probes, aSpec())
    const other = candidates.map(each => ({ ...each, tree: base.tree }))
    await expect(fetchOrderedTrees(repository, { ...probes, candidates: other }, aSpec())).rejects.toThrow(
      'probe-vanish: winnow does not make the tree of this order from its base',
    )
  })
})
