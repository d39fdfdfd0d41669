import { describe, expect, test } from 'vitest'
import { changeOf } from './fixture.ts'

/** How many others come with each package that a new lockfile has. */
function counts(path: string, text: string): Record<string, number | null> {
  const { additions, faults } = changeOf(path, null, text)
  expect(faults).toEqual([])
  return Object.fromEntries(additions.map(each => [`${each.name} ${each.version}`, each.brings ?? null]))
}

function classic(...entries: string[]): string {
  return ['# yarn lockfile v1', '', ...entries].join('\n')
}

describe('yarn classic', () => {
  test('counts optional dependencies, with quoted and plain ranges', () => {
    const lock = classic(
      'a@1, a@^1.0.0:\n  version "1.0.0"\n  dependencies:\n    b "npm:@s/c@>= 1"\n  optionalDependencies:\n    d ~2',
      '"b@npm:@s/c@>= 1":\n  version "1.2.0"\n  dependencies:\n    a "^1.0.0"',
      'd@~2:\n  version "2.0.0"',
    )
    expect(counts('yarn.lock', lock)).toEqual({ 'a 1.0.0': 2, '@s/c 1.2.0': 2, 'd 2.0.0': 0 })
  })

  test('is unknown if resolutions replace a package', () => {
    const lock = classic(
      'a@^1:\n  version "1.0.0"\n  dependencies:\n    b "^1"',
      'b@^2:\n  version "2.0.0"',
      'c@^1:\n  version "1.0.0"\n  dependencies:\n    a "^1"',
    )
    expect(counts('yarn.lock', lock)).toEqual({ 'a 1.0.0': null, 'b 2.0.0': 0, 'c 1.0.0': null })
  })
})

function berry(...entries: string[]): string {
  return ['__metadata:', '  version: 8', '', ...entries].join('\n')
}

/** An entry of a later yarn.lock, of a package that needs others. */
function entry(descriptors: string, [name, reference, version]: string[], needs: string[] = []): string {
  const lines = needs.length === 0 ? [] : ['  dependencies:', ...needs.map(each => `    ${each}`)]
  return [
    `"${descriptors}":`,
    `  version: ${version}`,
    `  resolution: "${name}@${reference}"`,
    ...lines,
    '',
  ].join('\n')
}

describe('yarn berry', () => {
  test('finds ranges with and without a protocol', () => {
    const lock = berry(
      entry('a@npm:^1', ['a', 'npm:1.0.0', '1.0.0'], ['b: ^2']),
      entry('b@npm:^2, b@npm:~2.1', ['b', 'npm:2.1.0', '2.1.0'], ['c: "npm:*"']),
      entry('c@npm:*', ['c', 'npm:3.0.0', '3.0.0']),
    )
    // Nothing of the project asks for them, which this lockfile says: direct or not is not looked at here.
    const { additions } = changeOf('yarn.lock', null, `${lock}\n${project('a: ^1', 'b: ~2.1', 'c: "*"')}`)
    const told = Object.fromEntries(additions.map(({ name, brings }) => [name, brings]))
    expect(told).toEqual({ a: 2, b: 1, c: 0 })
  })

  test('counts the original of a patched package', () => {
    const patch = 'b@patch:b@npm%3A^2#optional!builtin<compat/b>'
    const lock = berry(
      project('a: ^1', `b: "${patch.slice(2)}"`),
      entry('a@npm:^1', ['a', 'npm:1.0.0', '1.0.0'], ['b: "npm:^2"']),
      entry('b@npm:^2', ['b', 'npm:2.0.0', '2.0.0']),
      entry(patch, ['b', 'patch:b@npm%3A2.0.0#optional!builtin<compat/b>::version=2.0.0', '2.0.0']),
    )
    const { additions, faults } = changeOf('yarn.lock', null, lock)
    expect(faults).toEqual([])
    const told = additions.flatMap(({ name, source, brings }) =>
      brings === undefined ? [] : [[name, source.slice(0, 5), brings]],
    )
    expect(told).toEqual([
      ['a', 'regis', 2],
      ['b', 'patch', 1],
    ])
  })

  test('is unknown if resolutions replace a package', () => {
    const lock = berry(project('a: ^1'), entry('a@npm:^1', ['a', 'npm:1.0.0', '1.0.0'], ['b: "npm:^2"']))
    expect(counts('yarn.lock', lock)).toEqual({ 'a 1.0.0': null })
  })
})

function project(...needs: string[]): string {
  return entry('own@workspace:.', ['own', 'workspace:.', '0.0.0-use.local'], needs)
}

function poetry(...packages: string[]): string {
  return [...packages.map(each => `[[package]]\n${each}`), '[metadata]\nlock-version = "2.1"'].join('\n\n')
}

describe('poetry', () => {
  test('counts by normalized names, in all forms of a dependency', () => {
    const lock = poetry(
      'name = "A"\nversion = "1"\n[package.dependencies]\nB_b = ">=1"\nc = {version = "*", markers = "x"}\nwin32 = {version = "*", markers = "sys_platform == \\"win32\\""}\nd = [{version = "1"}, {version = "2"}]',
      'name = "b-b"\nversion = "1"\n[package.dependencies]\na = "*"',
      'name = "c"\nversion = "1"',
      'name = "d"\nversion = "2"',
    )
    expect(counts('poetry.lock', lock)).toEqual({ 'a 1': 3, 'b-b 1': 3, 'c 1': 0, 'd 2': 0 })
  })

  test('is unknown if a marker chooses between two versions', () => {
    const lock = poetry(
      'name = "a"\nversion = "1"\n[package.dependencies]\nb = "*"',
      'name = "b"\nversion = "1"',
      'name = "b"\nversion = "2"',
    )
    expect(counts('poetry.lock', lock)).toEqual({ 'a 1': null, 'b 1': 0, 'b 2': 0 })
  })
})

describe('uv', () => {
  const pypi = 'source = { registry = "https://pypi.org/simple" }'
  function uv(...packages: string[]): string {
    const own = `name = "own"\nversion = "0"\nsource = { virtual = "." }\ndependencies = [{ name = "a" }, { name = "b" }, { name = "c" }]`
    return ['version = 1', ...[own, ...packages].map(each => `[[package]]\n${each}`)].join('\n\n')
  }

  test('counts extras, and the right one of two versions', () => {
    const lock = uv(
      `name = "a"\nversion = "1"\n${pypi}\ndependencies = [{ name = "b", version = "2", ${pypi} }]\n[package.optional-dependencies]\nmore = [{ name = "c" }]`,
      `name = "b"\nversion = "1"\n${pypi}`,
      `name = "b"\nversion = "2"\n${pypi}\ndependencies = [{ name = "c" }]`,
      `name = "c"\nversion = "1"\n${pypi}`,
    )
    expect(counts('uv.lock', lock)).toEqual({ 'a 1': 2, 'b 1': 0, 'b 2': 1, 'c 1': 0 })
  })

  test('is unknown if a version is ambiguous or missing', () => {
    const lock = uv(
      `name = "a"\nversion = "1"\n${pypi}\ndependencies = [{ name = "b" }]`,
      `name = "b"\nversion = "1"\n${pypi}`,
      `name = "b"\nversion = "2"\n${pypi}`,
      `name = "c"\nversion = "1"\n${pypi}\ndependencies = [{ name = "b", version = "3" }]`,
    )
    expect(counts('uv.lock', lock)).toEqual({ 'a 1': null, 'b 1': 0, 'b 2': 0, 'c 1': null })
  })
})

function composer(...packages: object[]): string {
  return JSON.stringify({ packages: packages.map(each => ({ version: '1', ...each })) })
}

describe('composer', () => {
  test('counts no platform packages, and follows replacements', () => {
    const lock = composer(
      {
        name: 'A/a',
        require: { php: '>=8', 'ext-json': '*', 'composer-plugin-api': '2', 'B/b': '*', 'v/log': '1' },
      },
      { name: 'b/b', require: [] },
      { name: 'c/c', provide: { 'V/log': '1' }, replace: { 'old/c': 'self.version' } },
      { name: 'd/d', require: { 'old/c': '*' } },
    )
    expect(counts('composer.lock', lock)).toEqual({ 'a/a 1': 2, 'b/b 1': 0, 'c/c 1': 0, 'd/d 1': 1 })
  })

  test('is unknown if two packages provide a name, or if the form is unknown', () => {
    const lock = composer(
      { name: 'a/a', require: { 'v/log': '1' } },
      { name: 'b/b', provide: { 'v/log': '1' } },
      { name: 'c/c', provide: { 'v/log': '1' } },
      { name: 'd/d', require: ['b/b'] },
    )
    expect(counts('composer.lock', lock)).toEqual({ 'a/a 1': null, 'b/b 1': 0, 'c/c 1': 0, 'd/d 1': null })
  })
})

describe('bundler', () => {
  const gems = (...lines: string[]) =>
    ['GEM', '  remote: https://rubygems.org/', '  specs:', ...lines, '', 'DEPENDENCIES', '  a'].join('\n')

  test('counts a gem for each platform, and bundler if it is needed', () => {
    const lock = gems(
      '    a (1)',
      '      bundler (>= 2)',
      '      n (~> 1)',
      '    n (1.0-x86_64-linux)',
      '    n (1.0-arm64-darwin)',
    )
    const { additions } = changeOf('Gemfile.lock', null, `${lock}\n\nBUNDLED WITH\n   2.3.15\n`)
    expect(additions.find(({ name }) => name === 'a')?.brings).toBe(3)
  })

  test('a dependency without a gem is refused', () => {
    const { faults } = changeOf('Gemfile.lock', null, gems('      n (~> 1)', '    a (1)'))
    expect(faults[0]?.fault).toContain('has a line that bundler does not write')
  })
})

test.each([
  [
    'Gemfile.lock',
    (at: number) => `    a (1-p${at})\n      a\n`,
    'DEPENDENCIES\n  a\nGEM\n  remote: x\n  specs:\n',
  ],
  ['Cargo.lock', (at: number) => `[[package]]\nname = "a"\nversion = "${at}"\ndependencies = ["a"]\n`, ''],
])('%s: counting stops after a limit if every package needs every other', (path, write, head) => {
  const many = 3_000
  const lock = `${head}${Array.from({ length: many }, (_, at) => write(at)).join('')}`
  const { additions } = changeOf(path, null, lock)
  expect(additions).toHaveLength(many)
  expect(additions.map(({ brings }) => brings)).toEqual(additions.map((_, at) => (at < 83 ? many - 1 : null)))
})
