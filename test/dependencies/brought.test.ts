import { describe, expect, test } from 'vitest'
import type { AddedPackage } from '../../src/dependencies/package.ts'
import { compareDependencies } from '../../src/dependencies/compare.ts'
import { bytes, changeOf, fixture } from './fixture.ts'

function counts(additions: readonly AddedPackage[]): Record<string, number | null> {
  const told = additions.flatMap(({ name, brings }) =>
    brings === undefined ? [] : [[name, brings] as const],
  )
  return Object.fromEntries(told)
}

const npm = { '@sindresorhus/is': 0, 'core-js': 0, debug: 1, 'is-even': 4, ms: 0 }
const react = { react: 2, 'react-dom': 4 }

describe('the number of packages that come with an addition', () => {
  test.each([
    ['package-lock.json', 'npm/package-lock-v3.json', npm],
    ['package-lock.json', 'npm/package-lock-v2.json', { ...npm, a: null }],
    ['pnpm-lock.yaml', 'pnpm/pnpm-lock-v6.yaml', { ...npm, ...react }],
    ['pnpm-lock.yaml', 'pnpm/pnpm-lock-v9.yaml', { ...npm, ...react, 'is-odd': 1 }],
    ['Cargo.lock', 'cargo/Cargo.lock', { byteorder: 0, crc32fast: 1, 'csv-core': 1, local: 0 }],
    ['yarn.lock', 'yarn/berry.lock', npm],
    ['yarn.lock', 'yarn/classic.lock', { ...npm, 'is-buffer': 0, 'is-number': 2, 'is-odd': 3, 'kind-of': 1 }],
    ['poetry.lock', 'pypi/poetry.lock', { 'fast-sum': 1, built: 0, forked: 0, tiny: 0 }],
    ['uv.lock', 'pypi/uv.lock', { 'fast-sum': 1, built: 0, forked: 0 }],
    ['composer.lock', 'packagist/composer.lock', { 'acme/sum': 0, 'acme/plugin': 0 }],
    ['Gemfile.lock', 'rubygems/Gemfile.lock', { debug: 3, minitest: 0, local: 0, bundler: 0 }],
  ])('%s: %s gives the number', (path, file, expected) => {
    expect(counts(changeOf(path, null, fixture(file)).additions)).toEqual(expected)
  })

  test.each([
    ['package-lock.json', 'npm/package-lock-v1.json'],
    ['Pipfile.lock', 'pypi/Pipfile.lock'],
    ['go.sum', 'go/go.sum'],
  ])('%s: %s does not say, so the number is unknown', (path, file) => {
    const told = Object.values(counts(changeOf(path, null, fixture(file)).additions))
    expect(told.length).toBeGreaterThan(0)
    expect(told.filter(each => each !== null)).toEqual([])
  })

  test('counts only new packages', () => {
    const lock = JSON.parse(fixture('npm/package-lock-v3.json')) as { packages: Record<string, object> }
    const { 'node_modules/is-even-alias': _, 'node_modules/is-odd': __, ...before } = lock.packages
    const base = JSON.stringify({ ...lock, packages: before })
    const { additions } = changeOf('package-lock.json', base, JSON.stringify(lock))
    expect(counts(additions)).toEqual({ 'is-even': 1 })
  })

  test('is shown at the manifest too', () => {
    const lock = {
      path: 'package-lock.json',
      base: null,
      candidate: bytes(fixture('npm/package-lock-v3.json')),
    }
    const manifest = {
      path: 'package.json',
      base: bytes('{}'),
      candidate: bytes(fixture('npm/package.json')),
    }
    const { additions } = compareDependencies([lock, manifest])
    const asked = additions.filter(({ path }) => path === 'package.json')
    expect(counts(asked)).toMatchObject({ 'is-even': 4, ms: 0 })
    const alone = compareDependencies([manifest]).additions
    expect(counts(alone)).toMatchObject({ 'is-even': null, ms: null })
  })

  test('is unknown if a lockfile takes too many steps', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 1_100 }, (_, at) => [
        `node_modules/p${at}`,
        { version: '1.0.0', dependencies: { [`p${at + 1}`]: '1' } },
      ]),
    )
    const wanted = Object.fromEntries(Object.keys(chain).map(key => [key.slice('node_modules/'.length), '1']))
    const lock = { lockfileVersion: 3, packages: { '': { dependencies: wanted }, ...chain } }
    const told = counts(changeOf('package-lock.json', null, JSON.stringify(lock)).additions)
    expect(told['p0']).toBe(1_099)
    expect(told['p1099']).toBeNull()
  })
})
