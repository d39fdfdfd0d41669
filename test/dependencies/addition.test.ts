import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AddedPackage, computeAdditionsDigest } from '../../src/dependencies/package.ts'

const addition: AddedPackage = {
  ecosystem: 'npm',
  name: 'ms',
  version: '2.1.3',
  source: 'https://registry.npmjs.org/',
  integrity: 'sha512-a',
  direct: true,
  scripts: false,
  licence: 'MIT',
  path: 'package-lock.json',
}

describe('the digest of a set of additions', () => {
  test('is independent of their order and of duplicates', () => {
    const some = ['a', 'b', 'c'].map(name => ({ ...addition, name }))
    fc.assert(
      fc.property(fc.shuffledSubarray([...some, ...some], { minLength: 6 }), shuffled => {
        expect(computeAdditionsDigest(shuffled)).toBe(computeAdditionsDigest(some))
      }),
    )
  })

  test.each([
    { ecosystem: 'pypi' as const },
    { name: 'ns' },
    { version: '2.1.4' },
    { source: 'https://example.org/' },
    { integrity: 'sha512-b' },
    { integrity: null },
    { scripts: true },
    { scripts: null },
    { path: 'a/package-lock.json' },
  ])('changes with %o', change => {
    expect(computeAdditionsDigest([{ ...addition, ...change }])).not.toBe(computeAdditionsDigest([addition]))
  })

  test('changes with one more or one less', () => {
    const digests = [[], [addition], [addition, { ...addition, name: 'ns' }]].map(computeAdditionsDigest)
    expect(new Set(digests).size).toBe(3)
  })

  test('does not depend on the licence or on being direct', () => {
    expect(computeAdditionsDigest([{ ...addition, licence: null, direct: null }])).toBe(
      computeAdditionsDigest([addition]),
    )
  })
})
