import { describe, expect, test } from 'vitest'
import { additionsOf, faultOf, fixture } from './fixture.ts'

describe('an entry in an unusual form', () => {
  test.each([
    [
      'npm/package-lock-v3.json',
      'package-lock.json',
      '"node_modules/ms"',
      '"../../b/node_modules/ms"',
      'installs outside',
    ],
    [
      'npm/package-lock-v3.json',
      'package-lock.json',
      '"node_modules/ms"',
      '"node_modules/../ms"',
      'installs outside',
    ],
    [
      'pnpm/pnpm-lock-v9.yaml',
      'pnpm-lock.yaml',
      '    devDependencies:',
      '    configDependencies:',
      'configDependencies',
    ],
    ['yarn/berry.lock', 'yarn.lock', '__metadata:', '# yarn lockfile v1\n__metadata:', 'two versions'],
  ])('%s (%#) cannot be approved', (file, path, from, to, why) => {
    const lock = fixture(file)
    expect(faultOf(path, lock, lock.replace(from, to))).toContain(why)
  })

  test('a bundled package with an address of its own is another package', () => {
    const entry = (more: string) => `{ "lockfileVersion": 3, "packages": {
      "node_modules/a": { "version": "1.0.0", "inBundle": true${more} } } }`
    expect(additionsOf('package-lock.json', null, entry(''))).toEqual(['a 1.0.0 bundled'])
    expect(
      additionsOf('package-lock.json', entry(''), entry(', "resolved": "https://example.org/a"')),
    ).toEqual(['a 1.0.0 bundled or https://example.org/a'])
  })

  test('a resolution of an unknown kind is another source', () => {
    const lock = fixture('pnpm/pnpm-lock-v9.yaml')
    const candidate = lock.replace(/(ms@2\.1\.3:\n\s+resolution: \{)/, '$1type: evil, ')
    expect(additionsOf('pnpm-lock.yaml', lock, candidate)).toEqual(['ms 2.1.3 {"type":"evil"}'])
  })

  test('a computed version cannot be approved', () => {
    const item = (version: string) =>
      `<Project><ItemGroup><PackageReference Include="A" Version="${version}" /></ItemGroup></Project>`
    const evil = "$([System.IO.File]::ReadAllText('x'))"
    expect(faultOf('a.csproj', item('1'), item(evil))).toContain('computes')
    expect(additionsOf('a.csproj', item('1'), item('$(AVersion)'))).toEqual(['A $(AVersion) registry'])
  })

  test('a carriage return ends a line, as in gradle', () => {
    const lock = '# a comment\n'
    expect(additionsOf('gradle.lockfile', lock, '# a comment\rorg.acme:evil:1=a\n')).toEqual([
      'org.acme:evil 1 registry',
    ])
  })

  test('a build script with comments inside lines has no dependency lines', () => {
    const script = 'dependencies {\n  x() /*\n  implementation("a:b:1")\n  */\n}\n'
    expect(faultOf('build.gradle', script, script.replace('a:b:1', 'a:b:2'))).toContain('changes the program')
  })
})

/** Written by who wants the reader to hang: each line is long, and nearly what is looked for. */
test('a file of a million blanks is read quickly', () => {
  const blanks = ' '.repeat(1_000_000)
  const lines = '\n'.repeat(1_000_000)
  expect(faultOf('requirements.txt', null, `a${blanks}x\n`)).toContain('no requirement')
  expect(faultOf('requirements.txt', null, `a ${'# '.repeat(500_000)}x\n`)).toBeUndefined()
  expect(faultOf('Gemfile', null, `x do${blanks}x\n${lines}gem "a",${blanks}x`)).toContain('the program')
  expect(
    faultOf('build.gradle', null, `dependencies {\nx(${blanks}x\n${'x '.repeat(500_000)}\n}\n`),
  ).toContain('the program')
  expect(faultOf('yarn.lock', null, `a@1:\n  version${blanks}x\n`)).toContain('does not write')
  expect(faultOf('go.mod', null, `require a${blanks}v1 x\n`)).toContain('requires')
  expect(faultOf('pom.xml', null, `<project>${blanks}<a`)).toContain('is no XML')
})
