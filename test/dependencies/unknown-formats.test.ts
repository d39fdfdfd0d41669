import { describe, expect, test } from 'vitest'
import { isManifest } from '../../src/decide/packages.ts'
import { compareDependencies } from '../../src/dependencies/compare.ts'
import { READABLE_NAMES } from '../../src/dependencies/formats.ts'
import { bytes, changeOf, faultOf } from './fixture.ts'

const UNREAD = [
  'bun.lockb',
  'deno.lock',
  'deno.json',
  'pdm.lock',
  'pixi.lock',
  'setup.py',
  'setup.cfg',
  'environment.yml',
  'go.work',
  'app.gemspec',
  'settings.gradle',
  'build.sbt',
  'packages.config',
  'mix.lock',
  'pubspec.lock',
  'Package.resolved',
  'Podfile.lock',
  'flake.lock',
  'vcpkg.json',
  'gems.locked',
  'pylock.toml',
  '.npmrc',
  '.yarnrc.yml',
  '.cargo/config.toml',
  'a/.bundle/config',
  '.mvn/extensions.xml',
  'nuget.config',
  'package.yaml',
  'app/app.gradle',
  'gradle/deps.gradle.kts',
  'gradle/wrapper/gradle-wrapper.properties',
  '.mvn/wrapper/maven-wrapper.properties',
  'gemfiles/rails.gemfile',
  '.config/dotnet-tools.json',
  'global.json',
  'rust-toolchain.toml',
  'pylock.dev.toml',
  'environment-dev.yml',
  'tox.ini',
  'Manifest.toml',
]

describe('a file whose format is not known', () => {
  test.each(UNREAD)('%s is still a manifest', path => {
    expect(isManifest(path)).toBe(true)
  })

  test.each(UNREAD)('%s cannot be approved', path => {
    expect(faultOf(path, 'a', 'b')).toContain('cannot be read, so nothing in it can be approved')
    expect(faultOf(path, null, 'b')).toContain('cannot be read')
    expect(faultOf(path, 'a', null)).toContain('cannot be read')
  })

  test('says what it is, if that is known', () => {
    expect(faultOf('setup.py', 'a', 'b')).toBe(
      'cannot be read, so nothing in it can be approved: setup.py is a program',
    )
    expect(faultOf('a/bun.lockb', 'a', 'b')).toContain('bun.lockb is binary; keep bun.lock instead')
    expect(faultOf('.npmrc', 'a', 'b')).toContain('.npmrc says where packages come from')
    expect(faultOf('flake.lock', 'a', 'b')).toContain('its format is not known')
  })

  test('is accepted if it does not change', () => {
    expect(changeOf('setup.py', 'a', 'a')).toEqual({ additions: [], removals: 0, faults: [] })
    expect(changeOf('package.json', 'a', 'a')).toEqual({ additions: [], removals: 0, faults: [] })
  })
})

test('a file that is too large cannot be approved', () => {
  const candidate = Buffer.alloc(17 * 1024 * 1024, ' ')
  const { faults } = compareDependencies([{ path: 'package.json', base: bytes('{}'), candidate }])
  expect(faults[0]?.fault).toContain('it is too large')
})

test('a file that is nested too deeply cannot be approved', () => {
  const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
  expect(faultOf('package.json', '{}', deep)).toContain('cannot be read')
})

test('a base that cannot be read is a fault', () => {
  const change = changeOf('package.json', 'a', '{ "dependencies": { "evil": "1" } }')
  expect(change).toMatchObject({ additions: [], faults: [{ path: 'package.json' }] })
})

test('every file is compared on its own, with its additions and faults', () => {
  const files = [
    { path: 'package.json', base: '{}', candidate: '{ "dependencies": { "evil": "1" } }' },
    { path: 'a/package.json', base: '{ "dependencies": { "evil": "1" } }', candidate: '{ "scripts": {} }' },
    { path: 'setup.py', base: 'a', candidate: 'b' },
  ]
  const change = compareDependencies(
    files.map(({ path, base, candidate }) => ({ path, base: bytes(base), candidate: bytes(candidate) })),
  )
  expect(change).toMatchObject({
    additions: [{ name: 'evil', path: 'package.json' }],
    removals: 1,
    faults: [{ path: 'a/package.json' }, { path: 'setup.py' }],
  })
})

test('every file whose packages winnow reads is one whose changes it looks at', () => {
  expect(READABLE_NAMES.length).toBeGreaterThan(30)
  expect(READABLE_NAMES.filter(name => !isManifest(name) && !isManifest(`packages/a/${name}`))).toEqual([])
})
