import { describe, expect, test } from 'vitest'
import { isSameFamily } from '../../../src/decide/evidence/rules.ts'
import {
  computeCampaignLevel,
  computeFamilyLevel,
  computeObjectiveLevel,
} from '../../../src/decide/evidence/rank-test.ts'
import { UserError } from '../../../src/errors.ts'

describe('the level of a campaign (e-LOND)', () => {
  test('is q/N for the first keep and grows with every discovery', () => {
    expect(computeCampaignLevel({ q: 0.1, n: 100, discoveries: 0 })).toBeCloseTo(0.001, 12)
    expect(computeCampaignLevel({ q: 0.1, n: 100, discoveries: 9 })).toBeCloseTo(0.01, 12)
  })

  test('spends q over the whole campaign before any discovery, and never more than q at once', () => {
    expect(20 * computeCampaignLevel({ q: 0.1, n: 20, discoveries: 0 })).toBeCloseTo(0.1, 12)
    expect(computeCampaignLevel({ q: 0.1, n: 2, discoveries: 5 })).toBe(0.1)
  })

  test.each([
    { q: 0, n: 10, discoveries: 0 },
    { q: 1, n: 10, discoveries: 0 },
    { q: Number.NaN, n: 10, discoveries: 0 },
    { q: 0.1, n: 0, discoveries: 0 },
    { q: 0.1, n: 1.5, discoveries: 0 },
    { q: 0.1, n: 10, discoveries: -1 },
  ])('refuses %o', wrong => {
    expect(() => computeCampaignLevel(wrong)).toThrow(UserError)
  })
})

describe('the level within a family', () => {
  test('falls with the square of the variant', () => {
    expect(computeFamilyLevel(0.01, 1)).toBeCloseTo(0.0060793, 7)
    expect(computeFamilyLevel(0.01, 1) / computeFamilyLevel(0.01, 3)).toBeCloseTo(9, 12)
  })

  test('adds up to the level of the idea, however many variants come', () => {
    let spent = 0
    for (let k = 1; k <= 10_000; k++) spent += computeFamilyLevel(0.01, k)
    expect(spent).toBeLessThan(0.01)
    expect(spent).toBeGreaterThan(0.00999)
    expect(() => computeFamilyLevel(0.01, 0)).toThrow(UserError)
  })
})

test('required objectives share the level', () => {
  expect(computeObjectiveLevel(0.01, 4)).toBe(0.0025)
  expect(() => computeObjectiveLevel(0.01, 0)).toThrow(UserError)
  expect(() => computeObjectiveLevel(1, 1)).toThrow(UserError)
})

describe('two ideas of one family', () => {
  const lines = (...numbers: number[]) => numbers.map(number => `src/a.ts +line ${number}`)
  const idea = { files: ['src/a.ts'], lines: lines(1, 2, 3, 4, 5) }

  test('are when they declare it', () => {
    const other = { files: ['src/b.ts'], lines: [], family: 'cache' }
    expect(isSameFamily({ ...idea, family: 'cache' }, other)).toBe(true)
    expect(isSameFamily({ ...idea, family: 'pool' }, other)).toBe(false)
    expect(isSameFamily({ ...idea, family: null }, { ...other, family: null })).toBe(false)
  })

  test('are when they change the same files and share 60 % of the lines', () => {
    expect(isSameFamily(idea, { files: ['src/a.ts'], lines: lines(1, 2, 3, 8, 9) })).toBe(true)
    expect(isSameFamily(idea, { files: ['src/a.ts'], lines: lines(1, 2, 7, 8, 9) })).toBe(false)
    expect(isSameFamily(idea, { files: ['src/a.ts', 'src/b.ts'], lines: idea.lines })).toBe(false)
  })

  test('are when one is the other with padding, in both orders', () => {
    const padded = { files: ['src/a.ts'], lines: [...idea.lines, ...lines(10, 11, 12, 13, 14, 15, 16)] }
    expect(isSameFamily(idea, padded)).toBe(true)
    expect(isSameFamily(padded, idea)).toBe(true)
  })

  test('are not when neither changes a line', () => {
    expect(isSameFamily({ files: [], lines: [] }, { files: [], lines: [] })).toBe(false)
  })
})
