import { describe, expect, it } from 'vitest'
import { seeded } from '../../../bench/decide/random.ts'
import { times } from '../../../bench/decide/rule.ts'
import { mean, standardDeviation } from '../../../bench/decide/statistics.ts'

const MANY = 20_000

describe('chance in the simulation', () => {
  it('is the same for the same words and another for others', () => {
    const [one, again, other] = [
      ['a', 1],
      ['a', 1],
      ['a', 2],
    ].map(words => {
      const random = seeded(...words)
      return times(5, random.fraction)
    })
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
  })

  it.each([
    ['fraction', 0.5, Math.sqrt(1 / 12)],
    ['normal', 0, 1],
    ['exponential', 0.3, 0.3],
    ['student', 0, 1],
  ] as const)('%s has the mean and spread of its law', (law, centre, spread) => {
    const random = seeded('moments', law)
    const draw = {
      fraction: random.fraction,
      normal: random.normal,
      exponential: () => random.exponential(0.3),
      student: () => random.student(5),
    }[law]
    const values = times(MANY, draw)
    expect(Math.abs(mean(values) - centre)).toBeLessThan((4 * spread) / Math.sqrt(MANY))
    const squares = values.map(value => (value - centre) ** 2)
    const error = standardDeviation(squares) / Math.sqrt(MANY)
    expect(Math.abs(mean(squares) - spread ** 2)).toBeLessThan(4 * error)
  })

  it('has fair coins and fair permutations', () => {
    const random = seeded('permutations')
    const heads = times(MANY, random.coin).filter(Boolean).length
    expect(Math.abs(heads / MANY - 1 / 2)).toBeLessThan(2 / Math.sqrt(MANY))
    const seen = new Map<string, number>()
    for (const order of times(MANY, () => random.shuffled(['a', 'b', 'c']).join(''))) {
      seen.set(order, (seen.get(order) ?? 0) + 1)
    }
    expect([...seen.keys()].toSorted()).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba'])
    const error = 4 * Math.sqrt((1 / 6) * (5 / 6) * MANY)
    for (const count of seen.values()) expect(Math.abs(count - MANY / 6)).toBeLessThan(error)
  })
})
