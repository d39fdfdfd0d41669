import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareDependencies } from '../../src/dependencies/compare.ts'
import { bytes, changeOf, fixture } from './fixture.ts'

const FILES: readonly (readonly [path: string, file: string | null])[] = [
  ['package.json', 'npm/package.json'],
  ['package-lock.json', 'npm/package-lock-v2.json'],
  ['pnpm-workspace.yaml', 'pnpm/pnpm-workspace.yaml'],
  ['pnpm-lock.yaml', 'pnpm/pnpm-lock-v9.yaml'],
  ['yarn.lock', 'yarn/classic.lock'],
  ['yarn.lock', 'yarn/berry.lock'],
  ['bun.lock', 'bun/bun.lock'],
  ['requirements.txt', null],
  ['pyproject.toml', 'pypi/pyproject.toml'],
  ['poetry.lock', 'pypi/poetry.lock'],
  ['uv.lock', 'pypi/uv.lock'],
  ['Pipfile', null],
  ['Pipfile.lock', 'pypi/Pipfile.lock'],
  ['Cargo.toml', 'cargo/Cargo.toml'],
  ['Cargo.lock', 'cargo/Cargo.lock'],
  ['go.mod', 'go/go.mod'],
  ['go.sum', 'go/go.sum'],
  ['Gemfile', 'rubygems/Gemfile'],
  ['Gemfile.lock', 'rubygems/Gemfile.lock'],
  ['composer.json', null],
  ['composer.lock', 'packagist/composer.lock'],
  ['pom.xml', null],
  ['build.gradle', null],
  ['libs.versions.toml', null],
  ['gradle.lockfile', null],
  ['App.csproj', null],
  ['packages.lock.json', 'nuget/packages.lock.json'],
]

/** What a merge that went wrong leaves in a file. */
const MARKERS = ['<<<<<<< HEAD', '>>>>>>> other']

describe.each(FILES)('any text in %s (%s)', (path, file) => {
  const base = file === null ? '' : fixture(file)
  const lines = base.split('\n')

  test('never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' }), (blob, text) => {
        for (const candidate of [blob, bytes(text)])
          expect(compareDependencies([{ path, base: bytes(base), candidate }])).toHaveProperty('faults')
      }),
      { numRuns: 10 },
    )
  })

  test('a conflict marker in any line is reported', () => {
    fc.assert(
      fc.property(fc.nat(lines.length), fc.constantFrom(...MARKERS), (at, marker) => {
        const { faults } = changeOf(path, base, lines.toSpliced(at, 0, marker).join('\n'))
        expect(faults).toHaveLength(1)
      }),
      { numRuns: 10 },
    )
  })

  test('the same text has no additions', () => {
    expect(changeOf(path, base, `${base}`)).toEqual({ additions: [], removals: 0, faults: [] })
    const { additions } = changeOf(path, base, path.endsWith('.json') ? `${base} ` : `${base}\n`)
    expect(additions).toEqual([])
  })
})
