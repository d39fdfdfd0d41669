import { describe, expect, test } from 'vitest'
import { compareDependencies } from '../../src/dependencies/compare.ts'
import { additionsOf, bytes, changeOf, faultOf, fixture } from './fixture.ts'

function manifest(members: object): string {
  return JSON.stringify({ name: 'fixture', scripts: { bench: 'node bench.js' }, ...members })
}

describe('package.json', () => {
  const base = manifest({ dependencies: { ms: '^2.1.3', debug: '^4.3.0' } })

  test('a new dependency of any kind is an addition', () => {
    const candidate = manifest({
      dependencies: { ms: '^2.1.3', debug: '^4.3.0', lru: '1.0.0' },
      devDependencies: { tap: '' },
      optionalDependencies: { fsevents: 'latest' },
      peerDependencies: { react: '>=18' },
    })
    expect(additionsOf('package.json', base, candidate)).toEqual([
      'fsevents latest registry',
      'lru 1.0.0 registry',
      'react >=18 registry',
      'tap * registry',
    ])
    expect(changeOf('package.json', base, candidate).additions[0]).toMatchObject({
      ecosystem: 'npm',
      integrity: null,
      direct: true,
      scripts: null,
      path: 'package.json',
    })
  })

  test('another range is an addition, a missing dependency a removal', () => {
    expect(changeOf('package.json', base, manifest({ dependencies: { ms: '^3.0.0' } }))).toMatchObject({
      additions: [{ name: 'ms', version: '^3.0.0' }],
      removals: 2,
      faults: [],
    })
  })

  test.each([
    ['npm:evil@^1.0.0', 'evil ^1.0.0 registry, installed as ms'],
    ['npm:@s/evil', '@s/evil * registry, installed as ms'],
    ['user/repo', 'ms * user/repo'],
    ['github:user/repo#main', 'ms * github:user/repo#main'],
    ['git+ssh://git@example.org/r.git', 'ms * git+ssh://git@example.org/r.git'],
    ['https://example.org/ms.tgz', 'ms * https://example.org/ms.tgz'],
    ['file:../ms', 'ms * file:../ms'],
    ['..', 'ms * ..'],
    ['ms.tgz', 'ms * ms.tgz'],
    ['workspace:*', 'ms * workspace:*'],
    ['catalog:', 'ms catalog: registry'],
  ])('%s is another source than the registry’s ms', (spec, addition) => {
    const candidate = manifest({ dependencies: { ms: spec, debug: '^4.3.0' } })
    expect(additionsOf('package.json', base, candidate)).toEqual([addition])
  })

  test('overrides are requests with their place', () => {
    const candidate = manifest({
      dependencies: { ms: '^2.1.3', debug: '^4.3.0' },
      overrides: { debug: { '.': '4.4.0', ms: 'npm:evil@1.0.0' }, '@s/n@^2': '2.0.0' },
      resolutions: { '**/@t/m': '1.0.0', 'debug/ms': '2.0.0' },
      pnpm: { overrides: { 'debug>ms': '2.1.0' } },
    })
    expect(additionsOf('package.json', base, candidate)).toEqual([
      '@s/n 2.0.0 (overrides @s/n@^2) registry',
      '@t/m 1.0.0 (overrides **/@t/m) registry',
      'debug 4.4.0 (overrides debug>.) registry',
      'evil 1.0.0 (overrides debug>ms) registry, installed as ms',
      'ms 2.0.0 (overrides debug/ms) registry',
      'ms 2.1.0 (overrides debug>ms) registry',
    ])
  })

  test.each([
    ['scripts', { scripts: { bench: 'node bench.js', postinstall: 'evil' } }],
    ['bin', { bin: 'evil.js' }],
    ['main', { main: 'evil.js' }],
    ['config', { config: {} }],
    ['workspaces', { workspaces: ['evil'] }],
    ['packageManager', { packageManager: 'npm@1.0.0' }],
    ['bundleDependencies', { bundleDependencies: ['ms'] }],
    ['trustedDependencies', { trustedDependencies: ['ms'] }],
    ['pnpm', { pnpm: { onlyBuiltDependencies: ['ms'] } }],
    ['Dependencies', { Dependencies: { evil: '1.0.0' } }],
  ])('a changed %s is out of scope', (place, members) => {
    const candidate = manifest({ dependencies: { ms: '^2.1.3', debug: '^4.3.0' }, ...members })
    expect(faultOf('package.json', base, candidate)).toBe(
      `changes ${place}: only dependencies may change in this file`,
    )
  })

  test('the order of conditions in exports counts, the order of the fields does not', () => {
    const one = '{ "exports": { "import": "./a.js", "require": "./b.js" }, "main": "a.js" }'
    const other = '{ "exports": { "require": "./b.js", "import": "./a.js" }, "main": "a.js" }'
    expect(faultOf('package.json', one, other)).toContain('changes exports')
    const turned = '{ "main": "a.js", "exports": { "import": "./a.js", "require": "./b.js" } }'
    expect(faultOf('package.json', one, turned)).toBeUndefined()
  })

  test.each([
    [
      'two members of one name',
      '{ "dependencies": {}, "dependencies": { "evil": "1.0.0" } }',
      'same member twice',
    ],
    ['one name spelt in two ways', '{ "name": "a", "n\\u0061me": "b" }', 'same member twice'],
    ['a prototype', '{ "dependencies": { "__proto__": "1.0.0" } }', '__proto__'],
    ['no JSON', '{ "name": "a", }', 'does not parse'],
    ['a conflict', '<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n', 'does not parse'],
    ['a list', '[]', 'holds no JSON object'],
    [
      'dependencies that are none',
      '{ "dependencies": ["evil"] }',
      'does not have the form that its tool writes',
    ],
    [
      'a range that is none',
      '{ "dependencies": { "a": { "version": "1" } } }',
      'does not have the form that its tool writes at a',
    ],
  ])('%s cannot be approved', (_, candidate, why) => {
    expect(faultOf('package.json', base, candidate)).toContain(
      'cannot be read, so nothing in it can be approved: it',
    )
    expect(faultOf('package.json', base, candidate)).toContain(why)
  })

  test('text inside a string is not a duplicate member', () => {
    const text = '{ "description": "a \\"name\\": b", "name" : "a", "keywords": ["name", "name"] }'
    expect(faultOf('package.json', text, text.replace('}', ', "dependencies": {} }'))).toBeUndefined()
  })

  test('bytes that are not text cannot be approved', () => {
    const candidate = Uint8Array.from([0x7b, 0xff, 0x7d])
    const { faults } = compareDependencies([{ path: 'package.json', base: bytes('{}'), candidate }])
    expect(faults[0]?.fault).toContain('cannot be read')
  })

  test.each(['еvil', 'a b', 'a\nb', '@s/', '../a'])('%j is not a package name', name => {
    const candidate = manifest({ dependencies: { ms: '^2.1.3', debug: '^4.3.0', [name]: '1.0.0' } })
    expect(faultOf('package.json', base, candidate)).toBe(
      `names a package ${JSON.stringify(name)}, which no npm package can be called`,
    )
  })

  test('a new file may have dependencies only', () => {
    expect(additionsOf('a/package.json', null, '{ "dependencies": { "ms": "1" } }')).toEqual([
      'ms 1 registry',
    ])
    expect(faultOf('a/package.json', null, base)).toContain('changes name, scripts')
    expect(faultOf('a/package.json', base, null)).toContain('changes name, scripts')
  })
})

describe.each([1, 2, 3])('package-lock.json, version %i, as npm writes it', version => {
  const lock = fixture(`npm/package-lock-v${version}.json`)

  test('has every package with its registry', () => {
    const found = additionsOf('package-lock.json', null, lock)
    expect(found).toEqual(
      [
        '@sindresorhus/is 7.2.0 https://registry.npmjs.org/',
        ...(version === 1 ? [] : ['a * path packages/a']),
        ...(version === 3 ? [] : ['a file:packages/a file:packages/a']),
        'core-js 3.38.1 https://registry.npmjs.org/',
        'debug 4.4.3 https://registry.npmjs.org/',
        'is-buffer 1.1.6 https://registry.npmjs.org/',
        'is-even 1.0.0 https://registry.npmjs.org/, installed as is-even-alias',
        'is-number 3.0.0 https://registry.npmjs.org/',
        'is-odd 0.1.2 https://registry.npmjs.org/',
        'kind-of 3.2.2 https://registry.npmjs.org/',
        'ms 2.1.3 https://registry.npmjs.org/',
      ].toSorted(),
    )
  })

  test.each([
    ['another integrity at the same version', 'sha512-OP35', 'sha512-EVIL'],
    ['another address', 'https://registry.npmjs.org/core-js/', 'https://example.org/core-js/'],
    ['another file of the same registry', 'core-js/-/core-js-3.38.1.tgz', 'evil/-/evil-3.38.1.tgz'],
  ])('%s is an addition', (_, from, to) => {
    const { additions } = changeOf('package-lock.json', lock, lock.replaceAll(from, to))
    expect(additions.map(({ name, version: of }) => `${name} ${of}`)).toEqual(['core-js 3.38.1'])
  })

  test('an unusual registry address is shown in full', () => {
    const candidate = lock.replaceAll('core-js/-/core-js-3.38.1.tgz', 'evil/-/evil-3.38.1.tgz')
    expect(additionsOf('package-lock.json', lock, candidate)).toEqual([
      'core-js 3.38.1 https://registry.npmjs.org/evil/-/evil-3.38.1.tgz',
    ])
  })
})

describe('package-lock.json', () => {
  const lock = fixture('npm/package-lock-v3.json')

  test('says what is direct, what runs install scripts, and the licence', () => {
    const { additions } = changeOf('package-lock.json', null, lock)
    const found = Object.fromEntries(additions.map(each => [each.name, each]))
    expect(found['core-js']).toMatchObject({ direct: true, scripts: true, licence: 'MIT' })
    expect(found['debug']).toMatchObject({ direct: true, scripts: false })
    expect(found['is-odd']).toMatchObject({ direct: false, scripts: false })
  })

  test('a package that begins to run scripts is an addition, one that stops is not', () => {
    const script = '"hasInstallScript": true,\n'
    const without = lock.replace(script, '')
    expect(additionsOf('package-lock.json', without, lock)).toHaveLength(1)
    expect(additionsOf('package-lock.json', lock, without)).toEqual([])
  })

  test('the same packages in a newer version of the format are no additions', () => {
    const old = fixture('npm/package-lock-v1.json')
    expect(additionsOf('package-lock.json', old, lock)).toEqual(['a * path packages/a'])
  })

  test('a dependency that only an older npm reads is found', () => {
    const both = fixture('npm/package-lock-v2.json')
    const evil =
      '"dependencies": {\n    "evil": { "version": "1.0.0", "resolved": "https://example.org/e.tgz" },'
    const at = both.lastIndexOf('\n  "dependencies": {')
    const candidate = `${both.slice(0, at)}\n  ${evil}${both.slice(at + '\n  "dependencies": {'.length)}`
    expect(additionsOf('package-lock.json', both, candidate)).toEqual([
      'evil 1.0.0 https://example.org/e.tgz',
    ])
  })

  test('with a version 1 lockfile package.json says what is direct', () => {
    const files = [
      { path: 'package-lock.json', base: null, candidate: bytes(fixture('npm/package-lock-v1.json')) },
      {
        path: 'package.json',
        base: bytes(fixture('npm/package.json')),
        candidate: bytes(fixture('npm/package.json')),
      },
    ]
    const direct = compareDependencies(files).additions.filter(each => each.direct)
    expect(direct.map(({ name }) => name)).toEqual(['@sindresorhus/is', 'core-js', 'is-even', 'ms'])
  })

  test.each([
    ['one that is deleted', null, 'is deleted'],
    [
      'one of an unknown version',
      lock.replace('"lockfileVersion": 3', '"lockfileVersion": 4'),
      'lockfileVersion',
    ],
    [
      'a package of the project that is fetched',
      lock.replace('"packages/a": {', '"packages/a": { "resolved": "https://example.org/a.tgz",'),
      'not in node_modules/',
    ],
    [
      'a member nobody knows',
      lock.replace('"requires": true', '"requires": true, "hooks": {}'),
      'changes hooks',
    ],
  ])('%s cannot be approved', (_, candidate, why) => {
    expect(faultOf('package-lock.json', lock, candidate)).toContain(why)
  })
})
