import { describe, expect, it } from 'vitest'
import { hashSha256 } from '../../src/model/canonical-json.ts'
import { drawSeed, drawTurns, isFollowingCoins } from '../../src/model/order.ts'
import type { Execution } from '../../src/model/report.ts'
import { campaign } from '../plan/a-campaign.ts'

const ORDERS = Array.from({ length: 4_000 }, (_, index) => ({ coins: hashSha256(`order ${index}`) }))
/** Five standard deviations: with fixed orders this is a fact, not a chance. */
const SPREAD = 5 * Math.sqrt(0.25 / ORDERS.length)

function share(of: (order: { coins: string }) => boolean): number {
  return ORDERS.filter(of).length / ORDERS.length
}

describe('coins (invariant 10)', () => {
  it.each(['build', 'warm-up', 0, 1, 2, 7, 15, 16, 63] as const)(
    'let either side go first in block %s as often',
    block => {
      const first = share(order => drawTurns(order, block, ['base', 'exp-001'])[0] === 'base')
      expect(Math.abs(first - 0.5)).toBeLessThan(SPREAD)
    },
  )

  it('draw every order of three sides equally often', () => {
    const seen = new Map<string, number>()
    for (const order of ORDERS) {
      const key = drawTurns(order, 0, ['a', 'b', 'c']).join('')
      seen.set(key, (seen.get(key) ?? 0) + 1)
    }
    expect(seen.size).toBe(6)
    for (const count of seen.values()) expect(Math.abs(count / ORDERS.length - 1 / 6)).toBeLessThan(SPREAD)
  })

  it('of two blocks are independent', () => {
    const first = (order: { coins: string }, block: number) => drawTurns(order, block, ['x', 'y'])[0]
    for (const [a, b] of [
      [0, 1],
      [0, 15],
      [1, 16],
      [3, 40],
    ] as const)
      expect(Math.abs(share(order => first(order, a) === first(order, b)) - 0.5)).toBeLessThan(SPREAD)
  })

  it('draw a seed for each block that both sides share', () => {
    const [order] = ORDERS
    const seeds = Array.from({ length: 50 }, (_, block) => drawSeed(order ?? { coins: '' }, block))
    expect(new Set(seeds).size).toBe(50)
    expect(seeds.every(seed => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true)
  })
})

describe('a report that follows its coins', () => {
  const built = campaign().withExperiment().ordered()
  const order = built.order('exp-001')
  const report = built.answer(order, { candidate: { bytes: 8 } })
  const edited = (edit: (runs: Execution[]) => Execution[]) => ({
    ...report,
    executions: edit(report.executions),
  })

  it('has every side in its turn with its seed', () => {
    expect(report.executions.map(({ role }) => role)).toEqual(['sample', 'sample', 'repeat', 'repeat'])
    expect(isFollowingCoins(order, report)).toBe(true)
  })

  it('is not one with swapped sides', () => {
    expect(
      isFollowingCoins(
        order,
        edited(runs => runs.toReversed()),
      ),
    ).toBe(false)
  })

  it('is not one with another seed', () => {
    expect(
      isFollowingCoins(
        order,
        edited(runs => runs.map(run => ({ ...run, seed: run.seed + 1 }))),
      ),
    ).toBe(false)
  })

  it('is not one with an additional run', () => {
    const again = edited(runs => [...runs, ...runs.filter(({ role }) => role === 'sample')])
    expect(isFollowingCoins(order, again)).toBe(false)
  })

  it('is not one with another order of builds', () => {
    expect(isFollowingCoins(order, { ...report, setups: report.setups.toReversed() })).toBe(false)
  })

  it('may have one side that ended before the other', () => {
    expect(
      isFollowingCoins(
        order,
        edited(runs => runs.filter(({ role }) => role === 'sample')),
      ),
    ).toBe(true)
    expect(
      isFollowingCoins(
        order,
        edited(runs => runs.filter(({ side }) => side === 'base')),
      ),
    ).toBe(true)
  })

  describe('the blocks of a report', () => {
    const [template] = report.executions
    if (template === undefined) throw new Error('the builder runs something')
    const block = (number: number | 'warm-up'): Execution[] =>
      drawTurns(order, number, ['base' as const, 'exp-001']).map(side => ({
        ...template,
        side,
        role: number === 'warm-up' ? 'warmup' : 'sample',
        seed: drawSeed(order, number === 'warm-up' ? 0 : number),
      }))
    const blocks = [block('warm-up'), ...[0, 1, 2, 3].map(block)]
    const follows = (executions: Execution[]) => isFollowingCoins(order, { ...report, executions })

    it('are accepted when they are consecutive', () => {
      expect(follows(blocks.flat())).toBe(true)
    })

    it('are rejected when all runs of one side come first', () => {
      const bySide = ['base', 'exp-001'].flatMap(side => blocks.flat().filter(run => run.side === side))
      const alike = [0, 1, 2, 3].every(number => block(number)[0]?.side === 'base')
      expect(alike).toBe(false)
      expect(follows(bySide)).toBe(false)
      const [warmUp = [], first = [], second = [], ...others] = blocks
      const torn = [first[0], second[0], first[1], second[1]].flatMap(run => run ?? [])
      expect(follows([...warmUp, ...torn, ...others.flat()])).toBe(false)
    })

    it('are rejected when the warm-ups ran in another order', () => {
      const [warmUp = [], ...others] = blocks
      expect(follows([...warmUp.toReversed(), ...others.flat()])).toBe(false)
    })
  })
})
