import { describe, expect, test } from 'vitest'
import { dedupePackages, listAddedPackages, type PackageEntry } from '../../src/dependencies/package.ts'

const ms: PackageEntry = {
  name: 'ms',
  version: '2.1.3',
  source: 'registry',
  integrity: 'sha512-a',
  direct: false,
  scripts: false,
  licence: null,
}

describe('a package is new', () => {
  test.each([
    { name: 'sm' },
    { version: '2.1.4' },
    { source: 'https://example.org/' },
    { integrity: 'sha512-b' },
    { integrity: null },
    { scripts: true },
  ])('with %o', change => {
    expect(listAddedPackages([ms], [{ ...ms, ...change }])).toHaveLength(1)
  })

  test('if the base has no packages', () => {
    expect(listAddedPackages([], [ms])).toEqual([ms])
  })
})

describe('a package is known', () => {
  test.each([{ direct: true }, { direct: null }, { licence: 'MIT' }, { scripts: null }])(
    'with %o',
    change => {
      expect(listAddedPackages([ms], [{ ...ms, ...change }])).toEqual([])
    },
  )

  test('that runs scripts, if the base ran them or did not say', () => {
    const runs = { ...ms, scripts: true }
    expect(listAddedPackages([runs], [runs])).toEqual([])
    expect(listAddedPackages([{ ...ms, scripts: null }], [runs])).toEqual([])
  })

  test('at any position', () => {
    const others = ['a', 'b', 'c'].map(name => ({ ...ms, name }))
    expect(listAddedPackages([...others, ms], [ms, ...others.toReversed()])).toEqual([])
  })
})

describe('duplicate entries of a package', () => {
  test('are merged and keep what any of them says', () => {
    const entries = [
      { ...ms, direct: null, scripts: null },
      { ...ms, direct: false, scripts: null, licence: 'MIT' },
      { ...ms, direct: true, scripts: true, licence: 'ISC' },
    ]
    expect(dedupePackages(entries)).toEqual([{ ...ms, direct: true, scripts: true, licence: 'MIT' }])
  })

  test('are not direct if all say so, and unknown if none says', () => {
    expect(dedupePackages([ms, { ...ms, direct: null }])).toMatchObject([{ direct: false }])
    expect(dedupePackages([{ ...ms, direct: null }])).toMatchObject([{ direct: null }])
  })

  test('that differ in version, source or integrity stay separate', () => {
    expect(dedupePackages([ms, { ...ms, integrity: 'sha512-b' }])).toHaveLength(2)
  })
})
