import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type QueuedIdea,
  rankCandidates,
  type RankedCandidate,
  selectRound,
  selectRunnersUp,
} from '../../src/decide/selection.ts'

function queued(number: number, category: string, priority: QueuedIdea['priority'] = 'medium'): QueuedIdea {
  return { id: `exp-${number}`, number, category, priority }
}

describe('a round', () => {
  test('takes the best of each category first, then the rest', () => {
    const all = [
      queued(1, 'a'),
      queued(2, 'a'),
      queued(3, 'b'),
      queued(4, 'a', 'high'),
      queued(5, 'b', 'low'),
    ]
    expect(selectRound(all, 9)).toEqual(['exp-4', 'exp-3', 'exp-1', 'exp-2', 'exp-5'])
    expect(selectRound(all, 2)).toEqual(['exp-4', 'exp-3'])
  })

  test('orders by priority, then number, not by the order of the queue', () => {
    const all = [
      queued(9, 'a', 'low'),
      queued(8, 'b', 'high'),
      queued(7, 'c', 'medium'),
      queued(6, 'd', 'high'),
    ]
    expect(selectRound(all, 4)).toEqual(['exp-6', 'exp-8', 'exp-7', 'exp-9'])
  })

  test('an empty queue or no room is an empty round', () => {
    expect(selectRound([], 4)).toEqual([])
    expect(selectRound([queued(1, 'a')], 0)).toEqual([])
    expect(selectRound([queued(1, 'a')], -1)).toEqual([])
  })

  test('a larger round contains the smaller one', () => {
    const one = fc.record({
      number: fc.nat(50),
      category: fc.constantFrom('a', 'b', 'c'),
      priority: fc.constantFrom('high', 'medium', 'low' as const),
    })
    const many = fc.uniqueArray(one, { selector: entry => entry.number, maxLength: 12 })
    fc.assert(
      fc.property(many, fc.nat(6), (drawn, size) => {
        const all = drawn.map(({ number, category, priority }) => queued(number, category, priority))
        const small = selectRound(all, size)
        expect(selectRound(all, size + 1).slice(0, small.length)).toEqual(small)
        expect(small.length).toBe(Math.min(size, all.length))
      }),
    )
  })
})

describe('the rank of what passed', () => {
  const of = (number: number, rankScore: number, changedLines = 10): RankedCandidate => ({
    id: `exp-${number}`,
    number,
    rankScore,
    changedLines,
  })
  test.each([
    ['the larger gain', [of(1, 0.1), of(2, 0.3), of(3, 0.2)], [2, 3, 1]],
    ['then the smaller diff', [of(1, 0.1, 30), of(2, 0.1, 10), of(3, 0.1, 20)], [2, 3, 1]],
    ['then the lower number', [of(3, 0.1), of(1, 0.1), of(2, 0.1)], [1, 2, 3]],
    ['a gain that is no number last', [of(1, Number.NaN), of(2, -1), of(3, 0)], [3, 2, 1]],
  ])('%s comes first', (_, eligible, expected) => {
    expect(rankCandidates(eligible).map(entry => entry.number)).toEqual(expected)
  })
})

describe('runners-up', () => {
  const changes = new Map([
    ['w', ['src/a.ts']],
    ['x', ['src/A.ts']],
    ['y', ['src/b.ts']],
    ['z', ['src/b.ts', 'src/c.ts']],
    ['q', ['src/d.ts']],
  ])

  test('touch neither the winner’s files nor those of a runner-up before them', () => {
    expect(selectRunnersUp(['w', 'x', 'y', 'z', 'q'], 'w', changes, 9)).toEqual(['y', 'q'])
  })

  test('come in rank order, at most as many as allowed', () => {
    expect(selectRunnersUp(['q', 'z', 'w', 'y'], 'w', changes, 1)).toEqual(['q'])
    expect(selectRunnersUp(['q', 'y'], 'w', changes, 0)).toEqual([])
  })

  test('whose files are not known are left out', () => {
    expect(selectRunnersUp(['nobody', 'y'], 'w', changes, 9)).toEqual(['y'])
    expect(selectRunnersUp(['y'], 'nobody', changes, 9)).toEqual([])
  })
})
