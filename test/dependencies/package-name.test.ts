import { describe, expect, test } from 'vitest'
import { type Ecosystem, isPackageName } from '../../src/dependencies/package.ts'

const NAMES: Record<Ecosystem, readonly string[]> = {
  npm: ['ms', '@types/node', 'lodash.merge', 'JSONStream', '_', '@s/~a'],
  pypi: ['requests', 'zope-interface', 'a', '3to2'],
  cargo: ['serde', 'serde_json', 'tokio-util', '_a'],
  go: ['golang.org/x/net', 'github.com/User/repo/v2', 'gopkg.in/yaml.v3', 'example.org/~a/b_c'],
  rubygems: ['rails', 'net-http2', 'RedCloth', 'concurrent-ruby', 'a.b'],
  packagist: ['symfony/console', 'acme/some_thing.x'],
  maven: ['org.apache.commons:commons-lang3', 'junit:junit'],
  nuget: ['Newtonsoft.Json', 'xunit', 'A_b-c'],
}

const NO_NAMES = [
  '',
  'a b',
  'a\n',
  '../a',
  'a/../b',
  'аpple',
  'a\u200Bb',
  'a;b',
  '$(a)',
  '-a',
  '.',
  '..',
  'a'.repeat(256),
]

describe.each(Object.entries(NAMES))('of %s', (key, names) => {
  const ecosystem = Object.keys(NAMES).find((each): each is Ecosystem => each === key) ?? 'npm'

  test.each(names)('%s is valid', name => expect(isPackageName(ecosystem, name)).toBe(true))

  test.each(NO_NAMES)('%j is invalid', name => expect(isPackageName(ecosystem, name)).toBe(false))
})
