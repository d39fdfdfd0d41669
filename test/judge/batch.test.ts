import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Batch, buildBatches, buildLabelBatches, drawSample, orderSides } from '../../src/judge/batch.ts'
import { drawTurns } from '../../src/model/order.ts'
import { batches, items, judging, pairsOf } from './some-items.ts'

const entries = (all: readonly Batch[]) => all.flatMap(batch => batch.entries)
const hex = fc.string({
  unit: fc.constantFrom(...Array.from('0123456789abcdef')),
  minLength: 64,
  maxLength: 64,
})

describe('batches', () => {
  it('show every item of both sides once to every judge, in batches of the given size', () => {
    const all = batches(7, { judges: 2, batchSize: 3 })
    expect(all.map(batch => batch.entries.length)).toEqual([3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 1, 1])
    for (const judge of [0, 1]) {
      const shown = entries(all.filter(batch => batch.judge === judge))
      const sides = new Set(shown.map(({ item, side }) => `${item} ${side}`))
      expect([shown.length, sides.size]).toEqual([14, 14])
    }
  })

  it('never show the two sides of an item together', () => {
    fc.assert(
      fc.property(
        hex,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        (coins, count, batchSize) => {
          for (const { entries: shown } of batches(count, { coins, batchSize }))
            expect(new Set(shown.map(({ item }) => item)).size).toBe(shown.length)
        },
      ),
    )
  })

  it('draw the first side of each item independently and evenly', () => {
    const firsts = { first: 0, second: 0, both: 0 }
    const total = 600
    for (let draw = 0; draw < total; draw++) {
      const terms = judging({ coins: draw.toString(16).padStart(64, '0') })
      const [first, second] = [0, 1].map(block => orderSides(terms, 0, block)[0])
      if (first === 'base') firsts.first += 1
      if (second === 'base') firsts.second += 1
      if (first === second) firsts.both += 1
      const pairs = pairsOf(2)
      const half = entries(buildBatches(pairs, terms)).slice(0, 2)
      expect(half.find(({ item }) => item === pairs[0]?.id)?.side).toBe(first)
    }
    for (const count of Object.values(firsts)) expect(Math.abs(count - total / 2)).toBeLessThan(60)
  })

  it('order the sides like runs of a program, by the coins of the order', () => {
    for (let block = 0; block < 40; block++) {
      const [first] = drawTurns(judging(), block, ['base', 'exp-001'])
      expect(orderSides(judging(), 0, block)[0] === 'base').toBe(first === 'base')
    }
  })

  it('mix both sides', () => {
    const mixed = batches(20).filter(
      ({ entries: shown }) => new Set(shown.map(({ side }) => side)).size === 2,
    )
    expect(mixed.length).toBeGreaterThan(4)
  })

  it('do not reveal the side: swapped sides look like swapped contents', () => {
    const shown = (all: readonly Batch[]) =>
      all.map(({ entries: each }) => each.map(({ content }) => content).toSorted())
    const pairs = pairsOf(6)
    const swapped = pairs.map(({ id, base, candidate }) => ({ id, base: candidate, candidate: base }))
    for (const { key, content, item, side } of entries(buildBatches(pairs, judging()))) {
      expect(key).toMatch(/^[0-9a-f]{8}$/)
      expect(content).not.toContain(key)
      expect(key).not.toContain(item)
      expect(key).not.toContain(side)
    }
    const halves = (all: readonly Batch[]) => [shown(all.slice(0, 2)).flat(), shown(all.slice(2)).flat()]
    const [first, second] = halves(buildBatches(pairs, judging()))
    expect(halves(buildBatches(swapped, judging())).map(half => half.toSorted())).toEqual(
      [second, first].map(half => half?.toSorted()),
    )
  })

  it('differ between judges and coins, and repeat for the same ones', () => {
    const order = (all: readonly Batch[]) =>
      entries(all)
        .map(({ item, side }) => `${item} ${side}`)
        .join()
    const [one, two] = [0, 1].map(judge =>
      order(batches(9, { judges: 2 }).filter(each => each.judge === judge)),
    )
    expect(one).not.toBe(two)
    expect(order(batches(9))).not.toBe(order(batches(9, { coins: 'd'.repeat(64) })))
    expect(batches(9)).toEqual(batches(9))
  })

  it('show an item that both sides printed alike once', () => {
    const base = items(4)
    const candidate = items(4, id => (id === 'q2' ? 'changed' : `text of ${id}`))
    const { pairs } = drawSample(base, candidate, { sampleSize: 4, stratification: null, seed: 1 })
    const shown = entries(buildBatches(pairs, judging({ batchSize: 2 })))
    expect(shown.map(({ item }) => item).toSorted()).toEqual(['q0', 'q1', 'q2', 'q2', 'q3'])
  })

  it('have marks and keys that occur in none of their items', () => {
    const [plain] = batches(1)
    const [key = '', mark = ''] = [plain?.entries[0]?.key, plain?.mark]
    const knowing = pairsOf(1).map(pair => ({
      ...pair,
      base: { ...pair.base, content: `END ${mark} ${key}` },
      candidate: { ...pair.candidate, content: `END ${mark} ${key}` },
    }))
    const [drawn] = buildBatches(knowing, judging())
    expect(drawn?.mark).toMatch(/^[0-9a-f]{32}$/)
    expect(drawn?.mark).not.toBe(mark)
    expect(drawn?.entries[0]?.key).not.toBe(key)
  })
})

describe('labelled items', () => {
  it('are judged like other items', () => {
    const labels = ['a', 'b', 'c'].map(id => ({ id, content: `text ${id}` }))
    const all = buildLabelBatches(labels, judging({ batchSize: 2, judges: 2 }))
    expect(all.map(batch => batch.entries.length)).toEqual([2, 2, 1, 1])
    expect(entries(all).every(({ side, key }) => side === 'label' && key.length === 8)).toBe(true)
  })
})
