import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compilePathspec, hasMagic, normalisePattern } from '../../src/spec/scope.ts'

let repository: string

const git = (args: string[], input?: string): string =>
  execFileSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    ...(input === undefined ? {} : { input }),
  })

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'winnow pathspec '))
  git(['init', '-q'])
})
afterAll(() => rmSync(repository, { recursive: true, force: true }))

/** For winnow, `a*b/` means everything below such a directory; git alone matches only a directory of that name. */
function toGitPathspecs(pattern: string): string[] {
  const written = normalisePattern(pattern)
  const below = written.endsWith('/') && /[*?[\\]/.test(written) ? [`:(top,glob)${written}**`] : []
  return [`:(top,glob)${written}`, ...below]
}

/** What git itself says: an index with exactly these paths, listed through the pathspec. */
function listedByGit(pattern: string, paths: readonly string[]): string[] {
  const blob = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
  rmSync(join(repository, '.git', 'index'), { force: true })
  git(['update-index', '-z', '--index-info'], paths.map(path => `100644 ${blob}\t${path}\0`).join(''))
  const listed = git(['ls-files', '-z', '--', ...toGitPathspecs(pattern)])
  return listed
    .split('\0')
    .filter(path => path !== '')
    .toSorted()
}

function matched(pattern: string, paths: readonly string[]): string[] {
  return paths.filter(compilePathspec(pattern)).toSorted()
}

/** An index cannot hold a file and a directory of the same name. */
function asTree(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)].toSorted()
  return unique.filter(path => !unique.some(other => other.startsWith(`${path}/`)))
}

const segment = fc.oneof(
  fc.constantFrom(
    'src',
    'a',
    'b',
    'ab',
    'a.ts',
    'b.ts',
    '.hidden',
    'A',
    'é',
    '[x]',
    'a*',
    'a b',
    'a]',
    'a-b',
    '!a',
    'c\\d',
  ),
  fc.string({
    unit: fc.constantFrom('a', 'b', '.', '-', ']', '[', '*', '!', '\\'),
    minLength: 1,
    maxLength: 4,
  }),
)
const path = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map(parts => parts.join('/'))
  .filter(one => !one.split('/').some(part => ['.', '..', '.git'].includes(part)))
const glob = fc.constantFrom(
  '*',
  '**',
  '?',
  '*.ts',
  'a*',
  '**b',
  'a**',
  '[ab]',
  '[!a]',
  '[^b]*',
  '[a-c].ts',
  '[[:alpha:]]',
  '\\*',
  '\\a',
  '[',
  '[]]',
  '[]-a]',
  '[a-',
  '[[:nope:]]',
  '[[:alpha]',
  '***',
  '*?',
  '?*',
  '[\\]]',
  '[a\\-z]',
  '**a**',
  'b\\',
  '[b-a]',
  '[--a]',
  '[[:]a]',
)
const pattern = fc
  .tuple(fc.array(fc.oneof(segment, glob), { minLength: 1, maxLength: 4 }), fc.constantFrom('', '', '/'))
  .map(([parts, end]) => parts.join('/') + end)
  .filter(one => !hasMagic(one) && !one.split('/').includes('..') && normalisePattern(one) !== '')

describe('a scope pattern', () => {
  it('matches what git ls-files lists for the same :(top,glob) pathspec', () => {
    fc.assert(
      fc.property(pattern, fc.array(path, { minLength: 1, maxLength: 30 }), (one, written) => {
        const paths = asTree(written)
        expect(matched(one, paths)).toEqual(listedByGit(one, paths))
      }),
      { numRuns: 80 },
    )
  })

  it('agrees with git when pattern and path are close to each other', () => {
    const near = path.chain(one =>
      fc.tuple(
        fc.constant(one),
        fc.array(fc.constantFrom('*', '**', '?', '[a-z]', '/**/', '**/', '\\'), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.array(fc.nat({ max: 12 }), { minLength: 3, maxLength: 3 }),
      ),
    )
    fc.assert(
      fc.property(near, ([one, wild, at]) => {
        const written = wild.reduce((text, piece, index) => {
          const place = Math.min(at[index] ?? 0, text.length)
          return text.slice(0, place) + piece + text.slice(place + 1)
        }, one)
        fc.pre(!written.startsWith('/') && !hasMagic(written) && normalisePattern(written) !== '')
        fc.pre(!written.split('/').includes('..'))
        const paths = asTree([
          one,
          `${one}/x`,
          `${one}/x/y.ts`,
          `z/${one}`,
          one.replaceAll('a', 'ab'),
          one.slice(0, -1) || 'q',
        ])
        const legal = paths.filter(each => !/(?:^|\/)(?:\.{1,2})?(?:\/|$)/.test(each))
        expect(matched(written, legal)).toEqual(listedByGit(written, legal))
      }),
      { numRuns: 80 },
    )
  })

  const cases: [string, string, boolean][] = [
    ['src/', 'src/a.ts', true],
    ['src/', 'src/deep/.hidden', true],
    ['src/', 'src', false],
    ['src', 'src/a.ts', true],
    ['src', 'srcs/a.ts', false],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/.ts', true],
    ['src/*.ts', 'src/deep/a.ts', false],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/x/y/a.ts', true],
    ['**/test/', 'a/b/test/c', true],
    ['packages/*/src/', 'packages/a/src/b/c.ts', true],
    ['packages/*/src/', 'packages/a/lib/c.ts', false],
    ['app/[slug]/', 'app/[slug]/page.tsx', true],
    ['app/[slug]/page.tsx', 'app/[slug]/page.tsx', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['a[!b]c', 'a/c', false],
    ['a[!b]c', 'axc', true],
    ['Src/', 'src/a', false],
    ['./src/', 'src/a', true],
    ['src//a', 'src/a', true],
    ['.', 'anything/at/all', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['é?', 'éa', true],
    ['?', 'é', false],
  ]
  it.each(cases)('%s on %s: %s', (one, on, expected) => {
    expect(compilePathspec(one)(on)).toBe(expected)
    const here = asTree([on])
    expect(listedByGit(one, here).length === 1).toBe(expected)
  })

  it('takes time linear in the path, whatever the pattern', () => {
    const hostile = compilePathspec(`${'*a'.repeat(30)}*b`)
    expect(hostile('a'.repeat(4000))).toBe(false)
  })
})
