import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConflictError, ForgeError, LedgerError, UserError } from '../../src/errors.ts'
import type { Repository } from '../../src/git/repository.ts'
import { appendCommuting } from '../../src/ledger/append.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { BY, eventsOf, fakePacing, note, refs, started, type TempLedger, tempLedger } from './temp-ledger.ts'

let ledger: TempLedger
beforeEach(async () => {
  ledger = await tempLedger()
  await ledger.write([started()])
})
afterEach(() => ledger.remove())

async function allEvents(): Promise<LedgerEvent[]> {
  const { commit } = await ledger.tip()
  return commit === null ? [] : eventsOf(ledger.repo, commit)
}

async function texts(): Promise<string[]> {
  return (await allEvents()).flatMap(event => (event.kind === 'note' ? [event.text] : []))
}

/** The repository, with something that happens before its n-th push. */
function beforePush(repo: Repository, happen: (push: number) => Promise<void>): Repository {
  let pushes = 0
  return {
    ...repo,
    async push(updates) {
      await happen(++pushes)
      return repo.push(updates)
    },
  }
}

describe('an append', () => {
  test('adds its events at the end, in one commit, and returns them as recorded', async () => {
    const before = await ledger.tip()
    const events = await appendCommuting(ledger.deps(), [note('one'), note('two')], BY)
    expect(events.map(event => event.seq)).toEqual([1, 2])
    expect((await allEvents()).slice(1)).toEqual(events)
    expect((await ledger.repo.commit((await ledger.tip()).commit ?? '')).parents).toEqual([before.commit])
  })

  test('of no event writes nothing', async () => {
    const before = await ledger.tip()
    expect(await appendCommuting(ledger.deps(), [], BY)).toEqual([])
    expect(await ledger.tip()).toEqual(before)
  })

  test('holds an event that is given twice once', async () => {
    const events = await appendCommuting(ledger.deps(), [note('same'), note('same')], BY)
    expect(events.map(event => event.seq)).toEqual([1, 1])
    expect(await texts()).toEqual(['same'])
  })

  test('refuses events whose meaning depends on earlier ones', async () => {
    await expect(appendCommuting(ledger.deps(), [note('x'), started()], BY)).rejects.toThrow(
      /campaign-started/,
    )
    expect(ledger.saved).toEqual([])
  })

  test('never starts a ledger: it names the missing branch', async () => {
    ledger.git('update-ref', '-d', refs.state)
    const attempt = appendCommuting(ledger.deps(), [note('x')], BY)
    await expect(attempt).rejects.toThrow(UserError)
    await expect(attempt).rejects.toThrow(/no ledger at optimize-state\/demo; kept$/)
    expect(ledger.saved).toEqual([note('x')])
  })
})

describe('a lost race', () => {
  test('is repeated on the new tip, later each time', async () => {
    const pacing = fakePacing()
    const repo = beforePush(ledger.repo, async push => {
      if (push <= 3) await ledger.write([note(`rival ${push}`)])
    })
    const [event] = await appendCommuting(ledger.deps({ repo, ...pacing }), [note('mine')], BY)
    expect(event?.seq).toBe(4)
    expect(await texts()).toEqual(['rival 1', 'rival 2', 'rival 3', 'mine'])
    expect(pacing.waits).toHaveLength(3)
    expect(pacing.waits.toSorted((a, b) => a - b)).toEqual(pacing.waits)
  })

  test('is won when the event of this process arrived', async () => {
    const repo: Repository = {
      ...ledger.repo,
      async push(updates) {
        await ledger.repo.push(updates)
        throw new ForgeError('the connection broke after the push', { output: 'reset' })
      },
    }
    const events = await appendCommuting(ledger.deps({ repo }), [note('once')], BY)
    expect(events.map(event => event.seq)).toEqual([1])
    expect(await texts()).toEqual(['once'])
  })

  test('repeats only events that did not arrive', async () => {
    const repo = beforePush(ledger.repo, async push => {
      if (push === 1) await ledger.write([note('rival'), note('shared')])
    })
    const events = await appendCommuting(ledger.deps({ repo }), [note('shared'), note('mine')], BY)
    expect(events.map(event => event.seq)).toEqual([2, 3])
    expect(await texts()).toEqual(['rival', 'shared', 'mine'])
  })

  test('for two minutes saves the payload and names the file', async () => {
    const pacing = fakePacing()
    const begin = pacing.monotonic()
    const repo: Repository = {
      ...ledger.repo,
      push: async () => ({ ok: false, reason: 'lease', refs: [refs.state] }),
    }
    const attempt = appendCommuting(ledger.deps({ repo, ...pacing }), [note('unlucky')], BY)
    await expect(attempt).rejects.toThrow(ConflictError)
    await expect(attempt).rejects.toThrow(/optimize-state\/demo moved first; kept$/)
    expect(pacing.monotonic() - begin).toBeLessThanOrEqual(120_000)
    expect(pacing.monotonic() - begin).toBeGreaterThan(110_000)
    expect(ledger.saved).toEqual([note('unlucky')])
    expect(await texts()).toEqual([])
  })

  test('against a replaced ledger is not repeated', async () => {
    const repo = beforePush(ledger.repo, async () => {
      const { repo: own } = ledger
      const { commit, tree } = await ledger.tip()
      const other = await own.writeCommit({ tree: tree ?? '', parents: [], message: 'other', date: 1 })
      await own.push([{ ref: refs.state, from: commit, to: other }])
    })
    const attempt = appendCommuting(ledger.deps({ repo }), [note('x')], BY)
    await expect(attempt).rejects.toThrow(LedgerError)
    await expect(attempt).rejects.toThrow(/was replaced/)
  })
})

describe('a remote that refuses', () => {
  test('is asked again with back-off, and quoted when it refuses every time', async () => {
    ledger.hook('echo "GH006: Protected branch update failed" >&2; exit 1')
    const pacing = fakePacing()
    const attempt = appendCommuting(ledger.deps(pacing), [note('x')], BY)
    await expect(attempt).rejects.toThrow(ForgeError)
    await expect(attempt).rejects.toThrow(/GH006: Protected branch update failed[\s\S]*; kept$/)
    expect(pacing.waits).toHaveLength(4)
    expect(ledger.saved).toHaveLength(1)
  })

  test('for a moment (503, a broken connection) is asked again', async () => {
    const failures = [
      new ForgeError('no route', { output: 'No route to host' }),
      new ForgeError('busy', { status: 503 }),
    ]
    const repo = beforePush(ledger.repo, async () => {
      const failure = failures.pop()
      if (failure) throw failure
    })
    await appendCommuting(ledger.deps({ repo }), [note('patient')], BY)
    expect(await texts()).toEqual(['patient'])
  })

  test('for a missing credential is not asked again', async () => {
    const pacing = fakePacing()
    const repo = beforePush(ledger.repo, async () => {
      throw new ForgeError('who are you?', { status: 401 })
    })
    await expect(appendCommuting(ledger.deps({ repo, ...pacing }), [note('x')], BY)).rejects.toThrow(
      /who are you/,
    )
    expect(pacing.waits).toEqual([])
  })
})
