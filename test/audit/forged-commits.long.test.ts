import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { submitIdea } from '../../src/engine/campaign/submit.ts'
import type { Oid } from '../../src/model/ids.ts'
import {
  append,
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  finished,
  force,
  keepAside,
  type Of,
  originalOf,
  restorePoint,
  rewrite,
  SHORTER_A,
  SHORTER_B,
  tipOf,
  whatAuditSays,
} from './tampering.ts'
import { selectCases } from '../support/cases.ts'

let site: Copy
let restore: () => void
beforeAll(async () => {
  const original = await originalOf([SHORTER_A, SHORTER_B])
  site = await copyOf(original)
  restore = restorePoint(site)
})
afterEach(() => restore())
afterAll(clearCopies)

/** A tree on the incumbent's that nobody measured. */
async function smaller(from: Oid, text = 'x\n'): Promise<Oid> {
  const { repository } = site.place
  const oid = await repository.writeBlob(text)
  const { tree } = await repository.commit(from)
  return repository.replaceEntries(tree, [{ path: 'src/a.txt', entry: { mode: '100644', oid } }])
}

interface Forged {
  tree?: Oid
  parents?: Oid[]
  message?: string
  date?: number
}

/** A commit as the last landing, but for what is said. */
async function likeLast(change: Forged): Promise<Oid> {
  const { repository, refs } = site.place
  const last = await repository.commit(await tipOf(site, refs.optimize))
  const { tree, parents, message } = last
  return repository.writeCommit({ tree, parents, message, date: last.committer.date, ...change })
}

/** The last landing replaced by another commit everywhere: in the ledger, on the branch, in the keeper. */
async function replaceLast(commit: Oid): Promise<void> {
  const { repository, refs } = site.place
  const last = await tipOf(site, refs.optimize)
  const { tree } = await repository.commit(commit)
  await rewrite(site, draft => {
    if (draft.kind === 'merged' && draft.commit === last) return [{ ...draft, commit, tree }]
    if (draft.kind === 'incumbent-moved' && draft.to.commit === last)
      return [{ ...draft, to: { commit, tree } }]
    return [draft]
  })
  const parents = [await tipOf(site, refs.closed), commit]
  const keeper = { tree: repository.emptyTree, parents, message: 'keep', date: 1 }
  force(site, refs.closed, await repository.writeCommit(keeper))
  force(site, refs.optimize, commit)
}

describe('a forged merge on the optimize branch', () => {
  it('is named as the first commit without evidence, with what its trailers claim', async () => {
    const { repository, refs } = site.place
    const tip = await tipOf(site, refs.optimize)
    const forged = await likeLast({ tree: await smaller(tip), parents: [tip] })
    const onTop = await repository.writeCommit({
      tree: await smaller(forged, ''),
      parents: [forged],
      message: 'and more',
      date: 5,
    })
    force(site, refs.optimize, onTop)
    const { result } = await whatAuditSays(site)
    const claim = (await eventOf(site, 'merged', ({ commit }) => commit === tip)).decided
    const what = `commit ${forged} on optimize/size has no evidence: no event records it as incumbent (its trailer claims event ${claim.seq}:${claim.sha256})`
    expect(result).toMatchObject({ ok: false, unproven: { commit: forged, what } })
    expect(result.problems).toEqual([{ commit: forged, what }])
  })

  it('is named when it replaces the last landing', async () => {
    const tip = await tipOf(site, site.place.refs.optimize)
    const forged = await likeLast({ tree: await smaller(tip) })
    force(site, site.place.refs.optimize, forged)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(forged)
  })

  it('is named when it comes from elsewhere', async () => {
    const { repository, refs } = site.place
    const tree = await smaller(await tipOf(site, refs.optimize))
    const orphan = await repository.writeCommit({ tree, parents: [], message: 'from nowhere', date: 5 })
    force(site, refs.optimize, orphan)
    const { words } = await whatAuditSays(site)
    expect(words).toBe(
      `commit ${orphan} on optimize/size has no evidence: it does not descend from any recorded incumbent`,
    )
  })
})

describe('a merge forged with its events, through the library', () => {
  async function forge(order: (events: { kept: Of<'decided'> }) => string | null): Promise<Oid> {
    const { repository, refs } = site.place
    const from = await tipOf(site, refs.optimize)
    const kept = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    const merged = await eventOf(site, 'merged')
    const tree = await smaller(from)
    const { seq: _seq, id: _id, at: _at, by: _by, prev: _prev, ...verdict } = kept
    const [decided] = await append(site, [{ ...verdict, cause: 'again', order: order({ kept }) }])
    if (!decided) throw new Error('nothing was sealed')
    const commit = await likeLast({ tree, parents: [from, merged.head] })
    const base = { commit: from, tree: (await repository.commit(from)).tree }
    const to = { commit, tree }
    const { seq: _s, id: _i, at: _a, by: _b, prev: _p, ...landing } = merged
    const named = { seq: decided.event.seq, sha256: decided.sha256 }
    await append(site, [
      { ...landing, cause: 'again', commit, tree, base, decided: named },
      { kind: 'incumbent-moved', cause: 'again', from: base, to, why: 'merged' },
    ])
    force(site, refs.optimize, commit)
    return commit
  }

  it('lacks an order', async () => {
    const commit = await forge(() => null)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(commit)
    expect(result.unproven?.what).toMatch(
      /^commit [0-9a-f]{40} has no evidence: its verdict \(event \d+\) names no order, so it was not measured$/,
    )
  })

  it('lacks the order that it names', async () => {
    const commit = await forge(() => 'f'.repeat(64))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(commit)
    expect(result.unproven?.what).toContain('names order ffffffffffff, which was never issued')
  })

  it('lacks a measurement of its tree when it borrows the order of another', async () => {
    const commit = await forge(({ kept }) => kept.order)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(commit)
    expect(result.unproven?.what).toMatch(/it was measured against tree [0-9a-f]{40}, its parent's is/)
  })
})

describe('a recorded landing that is not the commit that was proven', () => {
  it('differs by one byte in its tree', async () => {
    const last = await tipOf(site, site.place.refs.optimize)
    const commit = await likeLast({ tree: await smaller(last, 'aab\n') })
    await replaceLast(commit)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.commit).toBe(commit)
    expect(result.unproven?.what).toMatch(/its tree is [0-9a-f]{40}, the measured one [0-9a-f]{40}/)
  })

  it.each(selectCases(['Winnow-Experiment', 'Winnow-Spec', 'Winnow-Ledger']))(
    'has a wrong trailer %s',
    async name => {
      const last = await site.place.repository.commit(await tipOf(site, site.place.refs.optimize))
      const message = last.message.replace(new RegExp(`^${name}: .*$`, 'm'), `${name}: something`)
      const commit = await likeLast({ message })
      await replaceLast(commit)
      const { result } = await whatAuditSays(site)
      expect(result.unproven?.commit).toBe(commit)
      expect(result.unproven?.what).toContain(`its trailer ${name} says something, the ledger `)
    },
  )

  it('claims another kind of evidence than its order asked for', async () => {
    const last = await site.place.repository.commit(await tipOf(site, site.place.refs.optimize))
    const message = `${last.message.trimEnd()}\nWinnow-Evidence: single-machine\n`
    await replaceLast(await likeLast({ message }))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain(
      'its trailer Winnow-Evidence says single-machine, the ledger nothing',
    )
  })

  it('has another subject than its events give it', async () => {
    const last = await site.place.repository.commit(await tipOf(site, site.place.refs.optimize))
    const commit = await likeLast({ message: last.message.replace('idea', 'plan') })
    await replaceLast(commit)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toMatch(/made again from event \d+ it would be [0-9a-f]{40}$/)
  })

  it('has another date', async () => {
    await replaceLast(await likeLast({ date: 1 }))
    expect((await whatAuditSays(site)).result.unproven?.what).toContain('made again from event')
  })

  it('has another first parent', async () => {
    const { repository, refs } = site.place
    const [first, second] = (await repository.commit(await tipOf(site, refs.optimize))).parents
    if (first === undefined || second === undefined) throw new Error('not a landing')
    await replaceLast(await likeLast({ parents: [second, first] }))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain(`its first parent is ${second}, not the incumbent ${first}`)
  })

  it('has a second parent that nobody measured', async () => {
    const { repository, refs } = site.place
    const [first, second] = (await repository.commit(await tipOf(site, refs.optimize))).parents
    if (first === undefined || second === undefined) throw new Error('not a landing')
    const other = await repository.writeCommit({
      tree: await smaller(second),
      parents: [second],
      message: 'one more thing',
      date: 3,
    })
    await replaceLast(await likeLast({ parents: [first, other] }))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain(`its parents after the first are ${other}, not ${second} alone`)
  })

  it('has a results commit that changes more than the results', async () => {
    const { repository, refs } = site.place
    const last = await tipOf(site, refs.optimize)
    const [first, second] = (await repository.commit(last)).parents
    if (first === undefined || second === undefined) throw new Error('not a landing')
    const [head] = (await repository.commit(second)).parents
    if (head === undefined) throw new Error('no head')
    const tree = await smaller(second)
    const results = await repository.writeCommit({ tree, parents: [head], message: 'results', date: 3 })
    await rewrite(site, draft =>
      draft.kind === 'merged' && draft.commit === last ? [{ ...draft, results }] : [draft],
    )
    await replaceLast(await likeLast({ parents: [first, results] }))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain(`its results commit ${results} also changes src/a.txt`)
  })
})

describe("a landing of a person's own head", () => {
  beforeAll(async () => {
    const made = await finished([], { open: true })
    made.git('checkout', '-q', '-b', 'mine', 'optimize/size')
    made.write('src/a.txt', 'a\n')
    const commit = made.commit('a can be shorter')
    made.git('checkout', '-q', 'main')
    await submitIdea(made.place, {
      commit,
      from: made.repo,
      isOurs: false,
      name: 'mine',
      message: 'a can be shorter',
    })
    await made.run()
    site = await copyOf(keepAside(made))
    restore = restorePoint(site)
  })

  it('that brings the results commit, which stands in the keeper alone, is made by somebody else', async () => {
    const { base, head, results } = await eventOf(site, 'merged')
    if (results === null) throw new Error('it has no results')
    expect((await whatAuditSays(site)).result).toMatchObject({ ok: true })
    await replaceLast(await likeLast({ parents: [base.commit, results] }))
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toContain(`its parents after the first are ${results}, not ${head} alone`)
  })
})
