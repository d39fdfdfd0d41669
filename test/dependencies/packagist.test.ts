import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

describe('composer.json', () => {
  const base = '{ "name": "acme/app", "require": { "php": ">=8.1", "acme/sum": "^1.4" } }'

  test('a requirement is an addition', () => {
    const candidate = base.replace('"^1.4" }', '"^1.5" }, "require-dev": { "Acme/Evil": "*" }')
    expect(additionsOf('composer.json', base, candidate)).toEqual([
      'acme/evil * registry',
      'acme/sum ^1.5 registry',
    ])
  })

  test.each([
    ['require.php', base.replace('>=8.1', '>=8.2')],
    ['require.ext-json', base.replace('"php"', '"ext-json": "*", "php"')],
    ['repositories', base.replace('"name"', '"repositories": [], "name"')],
    ['scripts', base.replace('"name"', '"scripts": { "post-install-cmd": "evil" }, "name"')],
    ['autoload', base.replace('"name"', '"autoload": { "files": ["evil.php"] }, "name"')],
    ['config', base.replace('"name"', '"config": { "allow-plugins": true }, "name"')],
    ['minimum-stability', base.replace('"name"', '"minimum-stability": "dev", "name"')],
  ])('a changed %s is out of scope', (place, candidate) => {
    expect(faultOf('composer.json', base, candidate)).toContain(`changes ${place}: only dependencies`)
  })
})

describe('composer.lock', () => {
  const lock = fixture('packagist/composer.lock')

  test('has every package, and marks plugins as running code', () => {
    expect(additionsOf('composer.lock', null, lock)).toEqual([
      'acme/plugin v2.0.0 zip https://example.org/plugin-2.0.0.zip',
      'acme/sum 1.4.0 zip https://api.github.com/repos/acme/sum/zipball/0123456789abcdef0123456789abcdef01234567 or git https://github.com/acme/sum.git',
    ])
    expect(changeOf('composer.lock', null, lock).additions).toMatchObject([
      { name: 'acme/sum', scripts: false, licence: 'MIT' },
      { name: 'acme/plugin', scripts: true, licence: 'MIT or GPL-2.0-only' },
    ])
  })

  test.each([
    ['reference of the source', '"reference": "0123', '"reference": "eeee'],
    ['address of the source', 'https://github.com/acme/sum.git', 'https://example.org/sum.git'],
    ['file that is loaded', '"src/"', '"../evil/"'],
    ['type', '"type": "library"', '"type": "composer-plugin"'],
  ])('a changed %s makes another package', (_, from, to) => {
    expect(changeOf('composer.lock', lock, lock.replace(from, to)).additions).toMatchObject([
      { name: 'acme/sum' },
    ])
  })

  test('members for people do not count', () => {
    const candidate = lock
      .replace('"Sums"', '"Adds"')
      .replaceAll('2024-01-01', '2024-01-02')
      .replace('5555', '6666')
    expect(changeOf('composer.lock', lock, candidate)).toEqual({ additions: [], removals: 0, faults: [] })
  })

  test('unknown members are out of scope', () => {
    expect(faultOf('composer.lock', lock, lock.replace('"aliases"', '"hooks": {}, "aliases"'))).toContain(
      'changes hooks',
    )
  })
})
