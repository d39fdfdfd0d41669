import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatUsd, openBudget } from '../../src/judge/budget.ts'

const price = { input: 1, output: 5 }

describe('a budget', () => {
  it('counts tokens at their price', () => {
    const budget = openBudget({ model: 'm', capUsd: 5, price })
    budget.paid({ input: 1_000_000, output: 100_000 })
    expect(budget.usage()).toEqual({ requests: 1, unanswered: 0, tokens: 1_100_000, usd: 1.5 })
    expect(budget.exhausted()).toBeNull()
  })

  it('includes what was spent before', () => {
    const budget = openBudget({ model: 'm', capUsd: 5, price, spentUsd: 4.9 })
    expect(budget.exhausted()).toBeNull()
    budget.paid({ input: 100_000, output: 0 })
    expect(budget.exhausted()).toBe('$5.00 of $5.00 are spent on m')
    expect(budget.usage().usd).toBeCloseTo(0.1)
  })

  it('is refused if there is a cap and the price is unknown', () => {
    expect(() => openBudget({ model: 'm', capUsd: 5, price: null })).toThrow(
      'the price of m is unknown, so winnow cannot keep the cap of $5.00',
    )
    const free = openBudget({ model: 'm', capUsd: null, price: null })
    free.paid({ input: 1_000_000, output: 1_000_000 })
    expect(free.exhausted()).toBeNull()
    expect(free.usage().usd).toBeNull()
  })

  it.each([Number.NaN, -1, Infinity])('is refused with %d dollars', wrong => {
    const refused = /is no amount of money/
    expect(() => openBudget({ model: 'm', capUsd: wrong, price })).toThrow(refused)
    expect(() => openBudget({ model: 'm', capUsd: 1, price, spentUsd: wrong })).toThrow(refused)
    expect(() => openBudget({ model: 'm', capUsd: 1, price: { input: wrong, output: 1 } })).toThrow(refused)
    expect(() => openBudget({ model: 'm', capUsd: 1, price: { input: 1, output: wrong } })).toThrow(refused)
  })

  it('is never exceeded by more than the last request', () => {
    const tokens = fc.record({ input: fc.nat(1_000_000), output: fc.nat(1_000_000) })
    const capUsd = fc.double({ min: 0, max: 20, noNaN: true })
    fc.assert(
      fc.property(capUsd, fc.array(tokens), (cap, requests) => {
        const budget = openBudget({ model: 'm', capUsd: cap, price })
        let last = 0
        for (const each of requests) {
          if (budget.exhausted() !== null) break
          const before = budget.usage().usd ?? 0
          budget.paid(each)
          last = (budget.usage().usd ?? 0) - before
        }
        expect(budget.usage().usd).toBeLessThanOrEqual(cap + last + 1e-9)
      }),
    )
  })

  it('shows small amounts with more digits', () => {
    expect([formatUsd(0.00234), formatUsd(12.345)]).toEqual(['$0.0023', '$12.35'])
  })
})
