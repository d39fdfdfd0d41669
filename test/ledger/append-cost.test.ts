import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { appendCommuting } from '../../src/ledger/append.ts'
import { readEventsBySeq, readTip } from '../../src/ledger/read-events.ts'
import type { Repository } from '../../src/git/repository.ts'
import { BY, note, started, type TempLedger, tempLedger } from './temp-ledger.ts'

const FEW = 10
const MANY = 2_000
const MOST_RATIO = 2
/** More rounds where the machine is busy: a cost that grows stays in the quickest append. */
const FEWEST_ROUNDS = 8
const MOST_ROUNDS = 100
let small: TempLedger
let large: TempLedger
beforeAll(async () => {
  ;[small, large] = await Promise.all([tempLedger(), tempLedger()])
  await small.write([started(), ...notes(FEW - 1)])
  await large.write([started(), ...notes(MANY - 1)])
})
afterAll(async () => {
  await Promise.all([small.remove(), large.remove()])
})

function notes(count: number) {
  return Array.from({ length: count }, (_, index) => note(`note ${index}`))
}

/** Both ledgers take turns, so that a busy machine slows both; the quickest append of each counts. */
async function quickest(): Promise<{ few: number; many: number }> {
  const times = { few: Infinity, many: Infinity }
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (round >= FEWEST_ROUNDS && times.many < MOST_RATIO * times.few) break
    for (const [name, ledger] of [
      ['few', small],
      ['many', large],
    ] as const) {
      const begin = performance.now()
      await appendCommuting(ledger.deps(), [note(`round ${round}`)], BY)
      times[name] = Math.min(times[name], performance.now() - begin)
    }
  }
  return times
}

describe('the cost of an append', () => {
  test('does not grow with the events before it', async () => {
    const { few, many } = await quickest()
    expect(many / few).toBeLessThan(MOST_RATIO)
  })

  test('finds the tip with the same number of objects for any number of events', async () => {
    expect(await objectsRead(large)).toBe(await objectsRead(small))
  })
})

describe('the cost of reading single events', () => {
  test('is the same for any number of events between and after them', async () => {
    const read = async (ledger: TempLedger) => {
      const { commit } = await ledger.tip()
      return counted(ledger, async repo => {
        const found: number[] = []
        for await (const { seq } of readEventsBySeq(repo, commit ?? '', [7, 0])) found.push(seq)
        expect(found).toEqual([0, 7])
      })
    }
    expect(await read(large)).toBe(await read(small))
  })
})

async function objectsRead(ledger: TempLedger): Promise<number> {
  const { commit } = await ledger.tip()
  return counted(ledger, async repo => void (await readTip(repo, commit)))
}

async function counted({ repo }: TempLedger, read: (repo: Repository) => Promise<void>): Promise<number> {
  let reads = 0
  function one<T>(reading: Promise<T>): Promise<T> {
    reads += 1
    return reading
  }
  await read({
    ...repo,
    commit: oid => one(repo.commit(oid)),
    tree: oid => one(repo.tree(oid)),
    blob: oid => one(repo.blob(oid)),
    findEntry: (tree, path) => one(repo.findEntry(tree, path)),
  })
  return reads
}
