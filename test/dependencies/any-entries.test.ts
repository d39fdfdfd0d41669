import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeOf, fixture } from './fixture.ts'
import { PIECES } from './lockfile-pieces.ts'
import { MANIFESTS } from './manifest-pieces.ts'

describe.each(PIECES)('permuted entries of $file', ({ path, file, entries, write }) => {
  const shuffled = fc.shuffledSubarray([...entries])
  const all = fc.shuffledSubarray([...entries], { minLength: entries.length })

  test('are split without loss', () => {
    expect(entries.length).toBeGreaterThan(1)
    expect(changeOf(path, fixture(file), write(entries))).toEqual({ additions: [], removals: 0, faults: [] })
  })

  test('are removed without an addition, in any order', () => {
    fc.assert(
      fc.property(all, shuffled, (before, after) => {
        const removals = entries.length - after.length
        expect(changeOf(path, write(before), write(after))).toEqual({ additions: [], removals, faults: [] })
      }),
      { numRuns: 12 },
    )
  })

  test('are each found when they are added', () => {
    fc.assert(
      fc.property(shuffled, all, (before, after) => {
        const { additions, removals, faults } = changeOf(path, write(before), write(after))
        expect([additions.length, removals, faults]).toEqual([entries.length - before.length, 0, []])
      }),
      { numRuns: 12 },
    )
  })
})

describe.each(MANIFESTS.map((pieces, at) => ({ ...pieces, at })))(
  'any dependencies of $path ($at)',
  pieces => {
    const { path, entries, write } = pieces
    const some = fc.shuffledSubarray([...entries])

    test('are additions and removals, with nothing else reported', () => {
      fc.assert(
        fc.property(some, some, (before, after) => {
          const { additions, removals, faults } = changeOf(path, write(before), write(after))
          const added = after.filter(each => !before.includes(each))
          const removed = before.filter(each => !after.includes(each))
          expect([additions.length, removals, faults]).toEqual([added.length, removed.length, []])
        }),
        { numRuns: 15 },
      )
    })

    test('are a fault together with another change', () => {
      const candidate = write(entries).replace(
        /acme\/app|"app"|id\(|<other>1|go 1\.19|rubygems\.org|- a|--index-url/,
        '$&x',
      )
      if (candidate === write(entries)) throw new Error('nothing else was changed')
      expect(changeOf(path, write([]), candidate).faults).toHaveLength(1)
    })
  },
)
