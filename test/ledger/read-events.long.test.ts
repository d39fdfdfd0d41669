import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { LedgerError } from '../../src/errors.ts'
import { openChain } from '../../src/ledger/event-file.ts'
import { writeLedgerCommit } from '../../src/ledger/ledger-commit.ts'
import { readTip } from '../../src/ledger/read-events.ts'
import { readLedgerHistory, verifyLedger } from '../../src/ledger/verify.ts'
import { createGitRunner } from '../../src/git/runner.ts'
import { buildLocalIsolation } from '../../src/git/isolation.ts'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { AT, BY, environment, eventsOf, note, started, type TempLedger, tempLedger } from './temp-ledger.ts'

let ledger: TempLedger
beforeEach(async () => {
  ledger = await tempLedger()
  await ledger.write([started(), note('one'), note('two')])
  await ledger.write([note('three')])
})
afterEach(() => ledger.remove())

const file = (seq: number) => `events/0000/00000${seq}.json`
const read = (commit: string, from = 0): Promise<LedgerEvent[]> => eventsOf(ledger.repo, commit, from)

async function bytesAt(path: string): Promise<string> {
  const entry = await ledger.repo.findEntry((await ledger.tip()).tree ?? '', path)
  return (await ledger.repo.blob(entry?.oid ?? '')).toString('utf8')
}

async function problems(): Promise<string[]> {
  const runner = createGitRunner(buildLocalIsolation(ledger.repo.dir, environment()), {
    GIT_DIR: ledger.repo.dir,
  })
  const { commit } = await ledger.tip()
  return (await verifyLedger(ledger.repo, await readLedgerHistory(runner, commit ?? ''), commit ?? '')).map(
    problem => problem.message,
  )
}

describe('reading a ledger', () => {
  test('gives every event in order, from any seq on', async () => {
    const { commit, seq, head } = await ledger.tip()
    const events = await read(commit ?? '')
    expect(events.map(event => event.seq)).toEqual([0, 1, 2, 3])
    expect(seq).toBe(4)
    expect(head).toBe(hashSha256(await bytesAt(file(3))))
    expect(await read(commit ?? '', 2)).toEqual(events.slice(2))
    expect(await read(commit ?? '', 4)).toEqual([])
  })

  test('finds no ledger without a branch, and starts its chain at 0', async () => {
    expect(await readTip(ledger.repo, null)).toEqual({ commit: null, tree: null, seq: 0, head: null })
  })

  test('finds an intact ledger without problems', async () => {
    expect(await problems()).toEqual([])
  })
})

describe('a changed ledger', () => {
  async function expectBroken(commit: string, seq: number | undefined, words: RegExp): Promise<void> {
    const attempt = read(commit)
    await expect(attempt).rejects.toThrow(words)
    await expect(attempt).rejects.toBeInstanceOf(LedgerError)
    await expect(attempt).rejects.toMatchObject({ seq })
  }

  test('names an event by its id', async () => {
    const edited = (await bytesAt(file(1))).replace('"text":"one"', '"text":"won"')
    await expectBroken(
      await ledger.vandalise({ [file(1)]: edited }),
      1,
      /event 1 \(events\/0000\/000001.json\).* id /,
    )
    expect(await problems()).toEqual([
      expect.stringMatching(/event 1 .* id /),
      expect.stringMatching(/event 2 .* prev /),
      expect.stringMatching(/^commit \w+ changed events\/0000\/000001.json$/),
    ])
  })

  test('names a time, which no id covers, by the next prev', async () => {
    const edited = (await bytesAt(file(1))).replace(AT, AT.replace('2026', '2025'))
    await expectBroken(await ledger.vandalise({ [file(1)]: edited }), 2, /event 2 .* its prev is/)
  })

  test('shows the time of the last event in its history', async () => {
    const edited = (await bytesAt(file(3))).replace(AT, AT.replace('2026', '2025'))
    await ledger.vandalise({ [file(3)]: edited })
    expect(await problems()).toEqual([expect.stringMatching(/changed events\/0000\/000003.json/)])
  })

  test('names a missing event', async () => {
    await expectBroken(
      await ledger.vandalise({ [file(1)]: null }),
      1,
      /event 1 is missing: there is no events/,
    )
    expect(await problems()).toContainEqual(
      expect.stringMatching(/^commit \w+ removed events\/0000\/000001.json$/),
    )
    expect(await problems()).toContainEqual(expect.stringMatching(/^event 1 is missing/))
  })

  test('shows the missing last event in its history', async () => {
    await ledger.vandalise({ [file(3)]: null })
    expect(await problems()).toEqual([expect.stringMatching(/removed events\/0000\/000003.json/)])
  })

  test('names missing events when none is left', async () => {
    const gone = Object.fromEntries([0, 1, 2, 3].map(seq => [file(seq), null]))
    const commit = await ledger.vandalise({ ...gone, 'README.md': 'empty' })
    await expectBroken(commit, 0, /holds no events/)
    await expect(readTip(ledger.repo, commit)).rejects.toThrow(/holds no events/)
  })

  test('names events in another order', async () => {
    const swapped = { [file(1)]: await bytesAt(file(2)), [file(2)]: await bytesAt(file(1)) }
    await expectBroken(await ledger.vandalise(swapped), 1, /event 1 .* it says seq 2/)
  })

  test('names a renamed event', async () => {
    const bytes = await bytesAt(file(1))
    await expectBroken(
      await ledger.vandalise({ [file(1)]: null, 'events/0000/7.json': bytes }),
      undefined,
      /7\.json/,
    )
    expect(await problems()).toContainEqual(expect.stringMatching(/7\.json is not an event file/))
  })

  test('names an event that was moved far away', async () => {
    const bytes = await bytesAt(file(3))
    const moved = await ledger.vandalise({ [file(3)]: null, 'events/9999/9999999.json': bytes })
    await expectBroken(moved, 3, /event 3 is missing/)
    expect(await problems()).toContainEqual(expect.stringMatching(/^events 3 to 9999998 are missing/))
  })

  test('names a merge', async () => {
    const { repo } = ledger
    const { commit, tree } = await ledger.tip()
    const side = await repo.writeCommit({ tree: tree ?? '', parents: [], message: 'side', date: 1 })
    const merge = await repo.writeCommit({
      tree: tree ?? '',
      parents: [commit ?? '', side],
      message: 'm',
      date: 2,
    })
    await repo.push([{ ref: 'refs/heads/optimize-state/demo', from: commit, to: merge }])
    expect(await problems()).toEqual([`commit ${merge} is a merge`, 'the ledger has 2 beginnings'])
  })

  test('of a newer winnow asks for an upgrade', async () => {
    const unknown = (await bytesAt(file(3))).replace('"kind":"note"', '"kind":"teleported"')
    await expectBroken(await ledger.vandalise({ [file(3)]: unknown }), 3, /a newer winnow wrote it/)
  })
})

describe('writing a ledger', () => {
  test('refuses events that continue another tip', async () => {
    const tip = await ledger.tip()
    const early = openChain({ seq: 2, head: tip.head }, { at: AT, by: BY }).addEvent(note('x'))
    const stray = openChain({ seq: 4, head: hashSha256('other') }, { at: AT, by: BY }).addEvent(note('x'))
    for (const sealed of [early, stray]) {
      await expect(writeLedgerCommit(ledger.repo, tip, [sealed], { message: 'm' })).rejects.toThrow(
        LedgerError,
      )
    }
  })

  test('refuses a view in the place of an event, the spec or the checkpoint', async () => {
    const tip = await ledger.tip()
    for (const path of [file(1), 'spec.yaml', 'checkpoint.json', 'events']) {
      const write = { message: 'm', views: { [path]: 'x' } }
      await expect(writeLedgerCommit(ledger.repo, tip, [], write)).rejects.toThrow(
        /cannot be written as a view/,
      )
    }
  })

  test('puts spec, checkpoint and views beside the events in one commit', async () => {
    const views = { 'README.md': '# demo\n', 'chart.svg': '<svg/>' }
    await ledger.write([note('four')], { spec: 'name: demo\n', checkpoint: '{}\n', views })
    expect(await bytesAt('spec.yaml')).toBe('name: demo\n')
    expect(await bytesAt('checkpoint.json')).toBe('{}\n')
    expect(await bytesAt('chart.svg')).toBe('<svg/>')
    expect((await ledger.tip()).seq).toBe(5)
  })

  test('makes no commit without a change', async () => {
    await ledger.write([], { views: { 'README.md': 'same' } })
    const tip = await ledger.tip()
    expect(
      await writeLedgerCommit(ledger.repo, tip, [], { message: 'm', views: { 'README.md': 'same' } }),
    ).toBe(tip.commit)
    expect(tip.seq).toBe(4)
  })

  test('makes no ledger without an event', async () => {
    const nothing = await readTip(ledger.repo, null)
    await expect(writeLedgerCommit(ledger.repo, nothing, [], { message: 'm' })).rejects.toThrow(
      /without an event/,
    )
  })

  test('crosses into the next directory after 1,000 events', async () => {
    await ledger.write(Array.from({ length: 1000 }, (_, index) => note(`n${index}`)))
    const { commit, seq } = await ledger.tip()
    expect(seq).toBe(1004)
    expect(ledger.git('ls-tree', '--name-only', `${commit}:events`)).toBe('0000\n0001')
    expect(await read(commit ?? '', 998)).toHaveLength(6)
    expect(await problems()).toEqual([])
  })
})
