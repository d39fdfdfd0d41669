import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { auditLedger, replayLedger } from '../../src/engine/verify/audit.ts'
import {
  append,
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  force,
  LONGER_B,
  originalOf,
  restorePoint,
  SHORTER_A,
  tipOf,
  visit,
  whatAuditSays,
} from './tampering.ts'

let site: Copy
let restore: () => void
beforeAll(async () => {
  const original = await originalOf([SHORTER_A, LONGER_B])
  site = await copyOf(original)
  restore = restorePoint(site)
})
afterEach(() => restore())
afterAll(clearCopies)

describe('the optimize branch', () => {
  it('moved back to an earlier incumbent is said', async () => {
    const { start } = await eventOf(site, 'campaign-started')
    const last = await tipOf(site, site.place.refs.optimize)
    force(site, site.place.refs.optimize, start.commit)
    const { result, words } = await whatAuditSays(site)
    expect(result.ok).toBe(false)
    expect(words).toBe(
      `optimize/size is at ${start.commit}, an earlier incumbent: the last recorded one is ${last}`,
    )
  })

  it('deleted is said', async () => {
    const last = await tipOf(site, site.place.refs.optimize)
    site.git('update-ref', '-d', site.place.refs.optimize)
    const { words } = await whatAuditSays(site)
    expect(words).toBe(`optimize/size is gone: the last recorded incumbent is ${last}`)
  })

  it('at a tip that the ledger knows to be foreign is open, not wrong', async () => {
    const { repository, refs } = site.place
    const from = await tipOf(site, refs.optimize)
    const { tree } = await repository.commit(from)
    const commit = await repository.writeCommit({ tree, parents: [from], message: 'by hand', date: 5 })
    force(site, refs.optimize, commit)
    const parents = [await tipOf(site, refs.closed), commit]
    const keeper = { tree: repository.emptyTree, parents, message: 'keep', date: 5 }
    force(site, refs.closed, await repository.writeCommit(keeper))
    await append(site, [
      {
        kind: 'foreign-tip',
        cause: commit,
        from: { commit: from, tree },
        to: { commit, tree },
        state: 'found',
        order: null,
        reason: 'somebody pressed Merge',
      },
    ])
    const result = await auditLedger(site.place)
    expect(result).toMatchObject({ ok: true, unproven: null })
    expect(result.open).toEqual([
      {
        commit,
        what: `optimize/size is at ${commit}, which winnow did not push: it is known and not measured yet`,
      },
    ])
  })

  it('adopted without a measurement has no evidence', async () => {
    const { repository, refs } = site.place
    const commit = await tipOf(site, refs.optimize)
    const { tree } = await repository.commit(commit)
    const from = { commit, tree }
    const to = {
      commit: await repository.writeCommit({ tree, parents: [commit], message: 'by hand', date: 5 }),
      tree,
    }
    await append(site, [
      { kind: 'foreign-tip', cause: 'x', from, to, state: 'adopted', order: null, reason: 'looks good' },
      { kind: 'incumbent-moved', cause: 'x', from, to, why: 'foreign' },
    ])
    force(site, refs.optimize, to.commit)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toMatch(/event \d+ adopts it without an order that measured it$/)
  })

  it('moved with an event that no other event explains has no evidence', async () => {
    const { repository, refs } = site.place
    const commit = await tipOf(site, refs.optimize)
    const { tree } = await repository.commit(commit)
    const to = {
      commit: await repository.writeCommit({ tree, parents: [commit], message: 'x', date: 5 }),
      tree,
    }
    await append(site, [{ kind: 'incumbent-moved', cause: 'x', from: { commit, tree }, to, why: 'synced' }])
    force(site, refs.optimize, to.commit)
    const { result } = await whatAuditSays(site)
    expect(result.unproven?.what).toMatch(
      /event \d+ says synced, but no event before it says what was synced$/,
    )
  })
})

describe('the campaign branch', () => {
  it('at a commit that is no incumbent is named as open', async () => {
    const { repository, refs } = site.place
    const from = await tipOf(site, refs.optimize)
    const { tree } = await repository.commit(from)
    const commit = await repository.writeCommit({ tree, parents: [from], message: 'more', date: 5 })
    force(site, refs.campaign, commit)
    const result = await auditLedger(site.place)
    expect(result.open.map(({ what }) => what)).toEqual([
      `optimize-campaign/size is at ${commit}, which is no recorded incumbent`,
    ])
  })
})

describe('the keeper branch', () => {
  it('deleted is said for everything that it kept', async () => {
    const landing = await eventOf(site, 'merged')
    const closed = await eventOf(site, 'closed')
    site.git('update-ref', '-d', site.place.refs.closed)
    const { result, words } = await whatAuditSays(site)
    expect(result).toMatchObject({ ok: false, unproven: null })
    expect(words).toContain(
      `the landing of ${landing.experiment}, ${landing.commit}, is not kept: optimize-closed/size is gone`,
    )
    expect(words).toContain(
      `the measured head of ${closed.experiment}, ${closed.head}, is not kept: optimize-closed/size is gone`,
    )
  })

  it('rewound is said for what it no longer holds', async () => {
    const { repository, refs } = site.place
    const closed = await eventOf(site, 'closed')
    const lost = await repository.writeCommit({
      tree: repository.emptyTree,
      parents: [await tipOf(site, refs.optimize)],
      message: 'keep the last alone',
      date: 5,
    })
    force(site, refs.closed, lost)
    const { result } = await whatAuditSays(site)
    expect(result.problems).toEqual([
      {
        commit: closed.head,
        seq: closed.seq,
        what: `the measured head of ${closed.experiment}, ${closed.head}, is not reachable from optimize-closed/size`,
      },
    ])
  })
})

describe('without a ledger', () => {
  it('there is nothing to audit or replay, and the way out is said', async () => {
    site.git('update-ref', '-d', site.place.refs.state)
    const elsewhere = await visit(site.root, site.repo, 'none')
    for (const prove of [auditLedger, replayLedger]) {
      const failure = await failureOf(prove(elsewhere))
      expect([failure.message, failure.fix]).toEqual(['no campaign size was started', 'winnow run'])
    }
  })

  it('that this machine had, its last event is named and the command that puts it back', async () => {
    const { seq, at } = await eventOf(site, 'campaign-stopped')
    site.git('update-ref', '-d', site.place.refs.state)
    for (const prove of [auditLedger, replayLedger]) {
      const failure = await failureOf(prove(site.place))
      expect(failure.message).toBe(
        `the ledger branch optimize-state/size is gone from this repository; winnow's cache has it up to event ${seq} of ${at}`,
      )
      expect(failure.fix).toContain('winnow recover --campaign size puts it back.')
    }
  })
})

async function failureOf(proof: Promise<unknown>): Promise<UserError> {
  const failure: unknown = await proof.then(
    () => null,
    (error: unknown) => error,
  )
  if (failure instanceof UserError) return failure
  throw new Error('it was not refused', { cause: failure })
}
