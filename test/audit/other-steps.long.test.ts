import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { auditLedger } from '../../src/engine/verify/audit.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { EventDraft } from '../../src/model/event.ts'
import type { Point } from '../../src/model/ids.ts'
import {
  clearCopies,
  type Copy,
  copyOf,
  eventOf,
  everyStep,
  keepAside,
  type Of,
  renameMain,
  restorePoint,
  rewrite,
} from './tampering.ts'
import { releaseTest } from '../support/cases.ts'

let site: Copy
let restore: () => void
beforeAll(async () => {
  site = await copyOf(keepAside(await everyStep()))
  restore = restorePoint(site)
})
afterEach(() => restore())
afterAll(clearCopies)

type Moved = Of<'synced' | 'reverted' | 'foreign-tip'>

/** The ledger with one event changed, and what the audit then says of the commit that it is about. */
async function saidOf(event: Moved, change: (draft: EventDraft) => EventDraft): Promise<string | undefined> {
  await rewrite(site, (draft, seq) => [seq === event.seq ? change(draft) : draft])
  const { unproven } = await auditLedger(site.place)
  expect(unproven?.commit).toBe(event.to.commit)
  return unproven?.what
}

/** The same step to a commit of ours: in the event that is the ground for it and in the one that moves. */
async function replaced(event: Moved, to: Point): Promise<string | undefined> {
  await rewrite(site, draft =>
    'to' in draft && typeof draft.to === 'object' && draft.to.commit === event.to.commit
      ? [{ ...draft, to } as EventDraft]
      : [draft],
  )
  const { unproven } = await auditLedger(site.place)
  expect(unproven?.commit).toBe(to.commit)
  return unproven?.what
}

async function commitLike(
  event: { to: Point },
  change: { evil?: string; parents?: string[] },
): Promise<Point> {
  const { repository } = site.place
  const { parents, message } = await repository.commit(event.to.commit)
  const oid = await repository.writeBlob(change.evil ?? 'evil\n')
  const entry = { mode: '100644', oid } as const
  const tree = change.parents
    ? event.to.tree
    : await repository.replaceEntries(event.to.tree, [{ path: 'bench/evil.sh', entry }])
  const next = { tree, parents: change.parents ?? parents, message, date: 9 }
  return { commit: await repository.writeCommit(next), tree }
}

describe('a sync', () => {
  it('that names an order nobody issued has no evidence', async () => {
    const synced = await eventOf(site, 'synced')
    const said = await saidOf(synced, draft => ({ ...draft, order: 'e'.repeat(64) }) as EventDraft)
    expect(said).toMatch(/has no evidence: order e{12} was not measured before event \d+$/)
  })

  it('that records another harness than its tree has has no evidence', async () => {
    const synced = await eventOf(site, 'synced')
    const said = await saidOf(synced, draft => ({ ...draft, harness: 'e'.repeat(64) }) as EventDraft)
    expect(said).toContain('was measured with another spec or harness than the one in force since')
  })

  it.each([
    [{ default_tree: 'e'.repeat(40) }, /its default branch has tree [0-9a-f]{40}, not e{40}$/],
    [{ holds: ['exp-001'] }, /of what was kept [0-9a-f]{40} has nothing, not exp-001$/],
  ])('that records another default branch than was merged in has no evidence: %j', async (forged, gap) => {
    const synced = await eventOf(site, 'synced')
    expect(await saidOf(synced, draft => ({ ...draft, ...forged }) as EventDraft)).toMatch(gap)
  })

  it('that brings more than the default branch has no evidence', async () => {
    const synced = await eventOf(site, 'synced')
    const to = await commitLike(synced, {})
    expect(await replaced(synced, to)).toContain(
      `merging ${synced.default_tip} makes tree ${synced.to.tree}, not ${to.tree}`,
    )
  })

  it('that merges another commit has no evidence', async () => {
    const synced = await eventOf(site, 'synced')
    const { start } = await eventOf(site, 'campaign-started')
    const to = await commitLike(synced, { parents: [synced.from.commit, start.commit] })
    expect(await replaced(synced, to)).toContain(
      `not the incumbent ${synced.from.commit} and ${synced.default_tip}`,
    )
  })

  it('is on the default branch after that was renamed', async () => {
    await renameMain(site)
    expect((await auditLedger(site.place)).open).toEqual([])
  })

  it('with a commit that the default branch does not hold is open', async () => {
    const { start } = await eventOf(site, 'campaign-started')
    const synced = await eventOf(site, 'synced')
    site.git('update-ref', 'refs/heads/main', start.commit)
    const { ok, open } = await auditLedger(site.place)
    expect({ ok, open }).toEqual({
      ok: true,
      open: [
        { commit: synced.default_tip, what: `the synced commit ${synced.default_tip} is not on main now` },
      ],
    })
  })
})

describe('a direct revert', () => {
  it('to a tree that its order did not measure has no evidence', async () => {
    const reverted = await eventOf(site, 'reverted')
    const { order } = await eventOf(site, 'calibrated')
    const said = await saidOf(reverted, draft => ({ ...draft, measured_in: order }) as EventDraft)
    expect(said).toContain(`order ${order.slice(0, 12)} did not measure tree ${reverted.to.tree}`)
  })

  it('to a commit with something else in it has no evidence', async () => {
    const reverted = await eventOf(site, 'reverted')
    const to = await commitLike(reverted, {})
    expect(await replaced(reverted, to)).toContain(`did not measure tree ${to.tree}`)
  })

  releaseTest('to a tree that was measured with a harness no longer in force has no evidence', async () => {
    const reverted = await eventOf(site, 'reverted')
    const { spec_yaml } = await eventOf(site, 'campaign-started')
    const yaml = spec_yaml.replace('name: tests', 'name: all-tests')
    const ruler = { spec_yaml: yaml, spec_sha256: hashSha256(yaml), harness: 'e'.repeat(64) }
    const amended = { kind: 'campaign-amended', cause: 'x', ...ruler, source: 'person', reason: 'x' } as const
    await rewrite(site, (draft, seq) => (seq === reverted.seq ? [amended, draft] : [draft]))
    const { unproven } = await auditLedger(site.place)
    expect(unproven?.commit).toBe(reverted.to.commit)
    expect(unproven?.what).toMatch(/was measured with a harness no longer in force$/)
  })

  releaseTest('that is no child of the incumbent has no evidence', async () => {
    const reverted = await eventOf(site, 'reverted')
    const { start } = await eventOf(site, 'campaign-started')
    const to = await commitLike(reverted, { parents: [start.commit] })
    expect(await replaced(reverted, to)).toContain(`its parents are ${start.commit}, not the incumbent`)
  })
})

describe('a foreign tip', () => {
  const adopted = () => eventOf(site, 'foreign-tip', ({ state }) => state === 'adopted')

  it('adopted for the order of something else has no evidence', async () => {
    const { order } = await eventOf(site, 'decided', ({ outcome }) => outcome === 'kept')
    const event = await adopted()
    const said = await saidOf(event, draft => ({ ...draft, order }) as EventDraft)
    expect(said).toContain(`order ${order?.slice(0, 12)} measured another tree than ${event.to.tree}`)
  })

  it('adopted from somewhere else has no evidence', async () => {
    const { start } = await eventOf(site, 'campaign-started')
    const event = await adopted()
    const said = await saidOf(event, draft => ({ ...draft, from: start }) as EventDraft)
    expect(said).toContain(`adopts ${event.to.commit} from ${start.commit}, not this step`)
  })
})
