import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compilePathspec, compileScope, isCoveredByPattern } from '../../src/spec/scope.ts'
import { aSpec } from '../decide/a-spec.ts'

const scope = (mutable: string[], immutable: string[] = []) =>
  compileScope({ ...aSpec(), scope: { mutable, immutable } })

describe('a scope', () => {
  it('refuses everything outside mutable', () => {
    const { isMutable } = scope(['src/'])
    expect(isMutable('src/a.ts')).toBe(true)
    expect(isMutable('bench/a.ts')).toBe(false)
    expect(isMutable('src')).toBe(false)
  })

  it('lets immutable win where both match', () => {
    const { isMutable } = scope(['src/'], ['src/**/*.test.ts'])
    expect(isMutable('src/deep/a.ts')).toBe(true)
    expect(isMutable('src/deep/a.test.ts')).toBe(false)
    expect(isMutable('src/a.test.ts')).toBe(false)
  })

  it.each([
    '.winnow/parse.yaml',
    '.winnow',
    '.github/workflows/ci.yml',
    '.gitattributes',
    'deep/er/.gitattributes',
    '.gitmodules',
    'a/.gitmodules',
  ])('never lets %s change, whatever the spec says', path => {
    expect(scope(['.', '**']).isMutable(path)).toBe(false)
    expect(scope([path]).isMutable(path)).toBe(false)
  })

  it('knows .winnow and .github only at the top', () => {
    expect(scope(['.']).isMutable('examples/.github/x.yml')).toBe(true)
  })

  it.each(['', '/etc/passwd', 'src/../bench/a', 'src//a', './src/a', 'src/'])(
    '%j is no path of a tree',
    path => {
      expect(scope(['.']).isMutable(path)).toBe(false)
    },
  )

  it('is case-sensitive and takes dotfiles', () => {
    expect(scope(['src/*']).isMutable('SRC/a')).toBe(false)
    expect(scope(['src/*']).isMutable('src/.env')).toBe(true)
  })
})

describe('an immutable pattern that covers a mutable one', () => {
  const cases: [string, string, boolean][] = [
    ['src', 'src/a/', true],
    ['src/', 'src/', true],
    ['src/', 'src/**', true],
    ['src/**', 'src/', true],
    ['src/**', 'src/*.ts', true],
    ['src/', 'src', false],
    ['src', 'src', true],
    ['.', 'anything', true],
    ['**', 'a/**/b', true],
    ['src/a', 'src/', false],
    ['src', 'srcs/', false],
    ['*', 'src', false],
    ['**/x.ts', 'a/x.ts', true],
    ['src/*', 'src/**', false],
  ]
  it.each(cases)('%s over %s: %s', (immutable, mutable, expected) => {
    expect(isCoveredByPattern(immutable, mutable)).toBe(expected)
  })

  it('leaves no path of a directory or glob that may change', () => {
    const part = fc.constantFrom('a', 'b', '*', '**', 'a*', '?')
    const pattern = fc
      .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '/'))
      .map(([parts, end]) => parts.join('/') + end)
    const path = fc
      .array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 4 })
      .map(parts => parts.join('/'))
    fc.assert(
      fc.property(pattern, pattern, path, (immutable, mutable, one) => {
        fc.pre(isCoveredByPattern(immutable, mutable) && compilePathspec(mutable)(one))
        // A file by a name that a wildcard in front of it leads to is taken for a file, not for a directory.
        fc.pre(one === mutable || !/[*?]/.test(immutable) || /[*?]\/?$/.test(immutable))
        expect(compilePathspec(immutable)(one)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})
