import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeOf, fixture } from './fixture.ts'
import { PIECES } from './lockfile-pieces.ts'

describe.each(PIECES)('any entries of $file', ({ path, file, entries, write }) => {
  const shuffled = fc.shuffledSubarray([...entries])
  const all = fc.shuffledSubarray([...entries], { minLength: entries.length })

  test('there are some, and all of them are the file', () => {
    expect(entries.length).toBeGreaterThan(1)
    expect(changeOf(path, fixture(file), write(entries))).toEqual({ additions: [], removals: 0, faults: [] })
  })

  test('are removed without an addition, in any order', () => {
    fc.assert(
      fc.property(all, shuffled, (before, after) => {
        const removals = entries.length - after.length
        expect(changeOf(path, write(before), write(after))).toEqual({ additions: [], removals, faults: [] })
      }),
      { numRuns: 20 },
    )
  })

  test('are each found when they are added', () => {
    fc.assert(
      fc.property(shuffled, all, (before, after) => {
        const { additions, removals, faults } = changeOf(path, write(before), write(after))
        expect([additions.length, removals, faults]).toEqual([entries.length - before.length, 0, []])
      }),
      { numRuns: 20 },
    )
  })
})
