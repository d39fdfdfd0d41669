import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { homesOf, knownKeys } from '../../src/spec/known-keys.ts'
import { containing, editDistance, nearest } from '../../src/spec/suggest.ts'
import { unknownKey } from '../../src/spec/unknown-key.ts'

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), maxLength: 8 })

describe('the distance between two words', () => {
  it.each([
    ['direction', 'direction', 0],
    ['directon', 'direction', 1],
    ['driection', 'direction', 1],
    ['dirction', 'direction', 1],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
  ])('%s to %s is %i', (left, right, distance) => {
    expect(editDistance(left, right)).toBe(distance)
  })

  it('is symmetric, zero only for the same word, and never longer than the longer one', () => {
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = editDistance(left, right)
        expect(distance).toBe(editDistance(right, left))
        expect(distance === 0).toBe(left === right)
        expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length))
      }),
    )
  })
})

describe('what somebody meant', () => {
  it('is the nearest candidate, and by its first letter when two are equally near', () => {
    expect(nearest('imutable', ['mutable', 'immutable'])).toBe('immutable')
    expect(nearest('mutible', ['mutable', 'immutable'])).toBe('mutable')
  })

  it('disregards case and separators', () => {
    expect(nearest('maxFiles', ['max_files', 'max_jobs'])).toBe('max_files')
    expect(nearest('pytest_benchmark', ['pytest-benchmark'])).toBe('pytest-benchmark')
  })

  it('is nothing when nothing is near', () => {
    expect(nearest('colour', ['direction', 'gates'])).toBeUndefined()
    expect(nearest('x'.repeat(10_000), ['x'])).toBeUndefined()
  })

  it('never is the word itself', () => {
    fc.assert(
      fc.property(word, fc.array(word), (one, all) => {
        expect(nearest(one, [...all, one])).not.toBe(one)
      }),
    )
  })

  it('may be a longer name that has the word as a part', () => {
    expect(containing('timeout', ['command', 'timeout_seconds'])).toBe('timeout_seconds')
    expect(containing('time', ['timeout_seconds'])).toBeUndefined()
  })
})

describe('the keys of a spec', () => {
  const known = knownKeys('winnow')

  it('are read off the schema, through lists, defaults and alternatives', () => {
    expect(known.get('')).toContain('gates')
    expect(known.get('gates')).toEqual(new Set(['name', 'command', 'phase', 'timeout_seconds']))
    expect(known.get('measurement.stability.ladder.futility')).toContain('worse_factor')
    expect(known.get('measurement.isolation.container')).toEqual(new Set(['image']))
    expect(known.get('propose')).toContain('preset')
  })

  it('are the same for both kinds of spec', () => {
    const keys = (kind: 'winnow' | 'ce') =>
      [...knownKeys(kind)].map(([home, names]) => [home, [...names].toSorted()])
    expect(keys('ce')).toEqual(keys('winnow'))
  })

  it('name their homes, the shallowest first', () => {
    expect(homesOf('gates', known)).toEqual([''])
    expect(homesOf('min_effect', known)).toEqual(['evidence'])
    expect(homesOf('timeout_seconds', known)[0]).toBe('measurement')
    expect(homesOf('nonsense', known)).toEqual([])
  })

  it('are never suggested where they stand already', () => {
    const { fix } = unknownKey(['propose', 0], 'command', known)
    expect(fix).not.toContain('did you mean "command"')
  })

  it('are found from every misspelling by one letter', () => {
    for (const [home, keys] of known) {
      for (const key of keys) {
        if (key.length < 4) continue
        const typo = `${key.slice(0, 2)}${key.slice(3)}`
        if (keys.has(typo)) continue
        const { didYouMean } = unknownKey(home === '' ? [] : home.split('.'), typo, known)
        expect(keys).toContain(didYouMean)
      }
    }
  })
})
