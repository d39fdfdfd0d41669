import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areFilesDisjoint } from '../../src/decide/selection.ts'
import { isManifest } from '../../src/decide/packages.ts'

describe('two changes', () => {
  test.each([
    ['different files', ['src/a.ts'], ['src/b.ts'], true],
    ['the same file', ['src/a.ts'], ['src/a.ts'], false],
    ['one file in common', ['src/a.ts', 'src/b.ts'], ['src/b.ts', 'src/c.ts'], false],
    ['names that differ in case only', ['src/Readme.md'], ['SRC/README.md'], false],
    ['names that differ in Unicode form only', ['caf\u00e9.ts'], ['cafe\u0301.ts'], false],
    ['a file and a folder of its name', ['src/a'], ['src/a/b.ts'], false],
    ['a folder and a file of its name, in another case', ['Lib/x/y.ts'], ['lib/X'], false],
    ['a name that merely begins like the other', ['src/a'], ['src/ab/c.ts'], true],
    ['two manifests at different places', ['a/package.json'], ['b/Cargo.lock'], false],
    ['a manifest and a source file', ['package.json'], ['src/a.ts'], true],
    ['nothing and something', [], ['src/a.ts'], true],
  ])('%s', (_, one, other, expected) => {
    expect(areFilesDisjoint(one, other)).toBe(expected)
    expect(areFilesDisjoint(other, one)).toBe(expected)
  })
})

describe('manifests and lockfiles', () => {
  test.each([
    'package.json',
    'package-lock.json',
    'npm-shrinkwrap.json',
    'pnpm-lock.yaml',
    'yarn.lock',
    'bun.lock',
    'bun.lockb',
    'requirements.txt',
    'requirements-dev.txt',
    'requirements/prod.txt',
    'dev-requirements.txt',
    'ci/test_requirements.in',
    'pyproject.toml',
    'poetry.lock',
    'uv.lock',
    'Pipfile',
    'Pipfile.lock',
    'Cargo.toml',
    'Cargo.lock',
    'go.mod',
    'go.sum',
    'go.work',
    'go.work.sum',
    'Gemfile',
    'Gemfile.lock',
    'composer.json',
    'composer.lock',
    'pom.xml',
    'build.gradle',
    'build.gradle.kts',
    'gradle.lockfile',
    'App.csproj',
    'packages.lock.json',
    'flake.lock',
    'deep/down/PACKAGE.JSON',
    'lib/thing.gemspec',
  ])('%s is one', path => {
    expect(isManifest(path)).toBe(true)
  })

  test.each([
    'src/package.ts',
    'package.json.md',
    'docs/requirements.md',
    'my-package.json',
    'go.module',
    'requirements/readme.md',
    'src/gradle.ts',
    'environments.yml',
    'docs/myrequirements.txt',
  ])('%s is none', path => {
    expect(isManifest(path)).toBe(false)
  })
})

describe('laws', () => {
  const segment = fc.constantFrom('a', 'A', 'b', 'src', '\u00e9', 'e\u0301', 'package.json', 'go.sum')
  const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'))
  const paths = fc.array(path, { maxLength: 5 })

  test('the order of the changes does not matter', () => {
    fc.assert(fc.property(paths, paths, (a, b) => areFilesDisjoint(a, b) === areFilesDisjoint(b, a)))
  })

  test('no change that touches anything is disjoint from itself', () => {
    fc.assert(fc.property(paths, a => areFilesDisjoint(a, a) === (a.length === 0)))
  })

  test('touching less never creates a conflict', () => {
    fc.assert(
      fc.property(paths, paths, fc.nat(), (a, b, drawn) => {
        const fewer = a.slice(0, a.length === 0 ? 0 : drawn % a.length)
        return !areFilesDisjoint(a, b) || areFilesDisjoint(fewer, b)
      }),
    )
  })

  test('case and Unicode form of a path do not matter', () => {
    fc.assert(
      fc.property(paths, paths, (a, b) => {
        const respelt = a.map(one => one.normalize('NFD').toUpperCase())
        return areFilesDisjoint(a, b) === areFilesDisjoint(respelt, b)
      }),
    )
  })
})
