import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeUnknownKey, findKeyHomes, listKnownKeys } from '../../src/spec/errors.ts'
import { computeEditDistance, findContainingWord, findNearestWord } from '../../src/spec/nearest-word.ts'

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
    expect(computeEditDistance(left, right)).toBe(distance)
  })

  it('is symmetric, zero only for the same word, and never longer than the longer one', () => {
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = computeEditDistance(left, right)
        expect(distance).toBe(computeEditDistance(right, left))
        expect(distance === 0).toBe(left === right)
        expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length))
      }),
    )
  })
})

describe('what somebody meant', () => {
  it('is the nearest candidate, and by its first letter when two are equally near', () => {
    expect(findNearestWord('imutable', ['mutable', 'immutable'])).toBe('immutable')
    expect(findNearestWord('mutible', ['mutable', 'immutable'])).toBe('mutable')
  })

  it('disregards case and separators', () => {
    expect(findNearestWord('maxFiles', ['max_files', 'max_jobs'])).toBe('max_files')
    expect(findNearestWord('pytest_benchmark', ['pytest-benchmark'])).toBe('pytest-benchmark')
  })

  it('is nothing when nothing is near', () => {
    expect(findNearestWord('colour', ['direction', 'gates'])).toBeUndefined()
    expect(findNearestWord('x'.repeat(10_000), ['x'])).toBeUndefined()
  })

  it('never is the word itself', () => {
    fc.assert(
      fc.property(word, fc.array(word), (one, all) => {
        expect(findNearestWord(one, [...all, one])).not.toBe(one)
      }),
    )
  })

  it('may be a longer name that has the word as a part', () => {
    expect(findContainingWord('timeout', ['command', 'timeout_seconds'])).toBe('timeout_seconds')
    expect(findContainingWord('time', ['timeout_seconds'])).toBeUndefined()
  })
})

describe('the keys of a spec', () => {
  const known = listKnownKeys('winnow')

  it('are read off the schema, through lists, defaults and alternatives', () => {
    expect(known.get('')).toContain('gates')
    expect(known.get('gates')).toEqual(new Set(['name', 'command', 'phase', 'timeout_seconds']))
    expect(known.get('measurement.stability.ladder.futility')).toContain('worse_factor')
    expect(known.get('measurement.isolation.container')).toEqual(new Set(['image']))
    expect(known.get('propose')).toContain('preset')
  })

  it('are the same for both kinds of spec', () => {
    const keys = (kind: 'winnow' | 'ce') =>
      [...listKnownKeys(kind)].map(([home, names]) => [home, [...names].toSorted()])
    expect(keys('ce')).toEqual(keys('winnow'))
  })

  it('name their homes, the shallowest first', () => {
    expect(findKeyHomes('gates', known)).toEqual([''])
    expect(findKeyHomes('min_effect', known)).toEqual(['evidence'])
    expect(findKeyHomes('timeout_seconds', known)[0]).toBe('measurement')
    expect(findKeyHomes('nonsense', known)).toEqual([])
  })

  it('are never suggested where they stand already', () => {
    const { fix } = describeUnknownKey(['propose', 0], 'command', known)
    expect(fix).not.toContain('did you mean "command"')
  })

  it('are found from every misspelling by one letter', () => {
    for (const [home, keys] of known) {
      for (const key of keys) {
        if (key.length < 4) continue
        const typo = `${key.slice(0, 2)}${key.slice(3)}`
        if (keys.has(typo)) continue
        const { didYouMean } = describeUnknownKey(home === '' ? [] : home.split('.'), typo, known)
        expect(keys).toContain(didYouMean)
      }
    }
  })
})
