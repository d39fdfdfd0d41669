import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

const REGISTRY = 'https://registry.yarnpkg.com/'
const hoisted = ['core-js 3.38.1', 'debug 4.4.3', 'is-buffer 1.1.6', 'is-number 3.0.0', 'is-odd 0.1.2']
const shared = ['@sindresorhus/is 7.2.0', ...hoisted, 'kind-of 3.2.2', 'ms 2.1.3']

function from(source: string): string[] {
  return shared.map(each => `${each} ${source}`)
}

const LOCKFILES = [
  {
    path: 'pnpm-lock.yaml',
    file: 'pnpm/pnpm-lock-v6.yaml',
    expected: [
      ...from('registry'),
      'is-even 1.0.0 registry',
      'js-tokens 4.0.0 registry',
      'loose-envify 1.4.0 registry',
      'react 18.3.1 registry',
      'react-dom 18.3.1 registry',
      'scheduler 0.23.2 registry',
    ],
  },
  {
    path: 'pnpm-lock.yaml',
    file: 'pnpm/pnpm-lock-v9.yaml',
    expected: [
      ...from('registry'),
      'is-even 1.0.0 registry',
      'is-number 6.0.0 registry',
      'is-odd 3.0.1 registry',
      'js-tokens 4.0.0 registry',
      'loose-envify 1.4.0 registry',
      'react 18.3.1 registry',
      'react-dom 18.3.1 registry',
      'scheduler 0.23.2 registry',
    ],
  },
  {
    path: 'yarn.lock',
    file: 'yarn/classic.lock',
    expected: [...from(REGISTRY), `is-even 1.0.0 ${REGISTRY}, installed as is-even-alias`],
  },
  {
    path: 'yarn.lock',
    file: 'yarn/berry.lock',
    expected: [
      ...from('registry'),
      'a 0.0.0-use.local workspace:packages/a',
      'is-even 1.0.0 registry, installed as is-even-alias',
    ],
  },
  {
    path: 'bun.lock',
    file: 'bun/bun.lock',
    expected: [
      ...from('registry'),
      'a * workspace:packages/a',
      'is-even 1.0.0 registry, installed as is-even-alias',
    ],
  },
]

describe.each(LOCKFILES)('$file, as its tool writes it', ({ path, file, expected }) => {
  const lock = fixture(file)

  test('has every package', () => {
    expect(additionsOf(path, null, lock)).toEqual(expected.toSorted())
  })

  test('with another integrity at the same version has another package', () => {
    const candidate = lock.replace('sha512-OP35', 'sha512-EVIL').replace('10c0/7df0', '10c0/eeee')
    expect(changeOf(path, lock, candidate).additions.map(({ name }) => name)).toEqual(['core-js'])
  })

  test('deleted cannot be approved', () => {
    expect(faultOf(path, lock, null)).toContain('is deleted')
  })
})

test('marks direct packages if the lockfile says so', () => {
  for (const file of [
    'pnpm/pnpm-lock-v6.yaml',
    'pnpm/pnpm-lock-v9.yaml',
    'yarn/berry.lock',
    'bun/bun.lock',
  ]) {
    const path = file.endsWith('yaml') ? 'pnpm-lock.yaml' : file.startsWith('bun') ? 'bun.lock' : 'yarn.lock'
    const { additions } = changeOf(path, null, fixture(file))
    const direct = new Map(additions.map(({ name, version, direct: said }) => [`${name}@${version}`, said]))
    expect(direct.get('ms@2.1.3'), file).toBe(true)
    expect(direct.get('is-even@1.0.0'), file).toBe(true)
    expect(direct.get('debug@4.4.3'), file).toBe(true)
    expect(direct.get('is-odd@0.1.2'), file).toBe(false)
  }
})

test('marks packages with install scripts if the lockfile says so', () => {
  const said = ([path, file]: [string, string]) =>
    changeOf(path, null, fixture(file)).additions.find(({ name }) => name === 'core-js')?.scripts
  expect(said(['pnpm-lock.yaml', 'pnpm/pnpm-lock-v6.yaml'])).toBe(true)
  expect(said(['pnpm-lock.yaml', 'pnpm/pnpm-lock-v9.yaml'])).toBeNull()
  expect(said(['yarn.lock', 'yarn/classic.lock'])).toBeNull()
  expect(said(['yarn.lock', 'yarn/berry.lock'])).toBeNull()
  expect(said(['bun.lock', 'bun/bun.lock'])).toBe(true)
})

describe('pnpm-lock.yaml', () => {
  const lock = fixture('pnpm/pnpm-lock-v9.yaml')

  test.each([
    ['tarball: https://example.org/ms.tgz', 'https://example.org/ms.tgz'],
    ['tarball: https://example.org/ms/-/ms-2.1.3.tgz', 'https://example.org/'],
    ['commit: abc, repo: https://example.org/r.git, type: git', 'git https://example.org/r.git#abc'],
    ['directory: ../ms, type: directory', 'path ../ms'],
    ['type: binary, url: https://example.org/x', '{"type":"binary","url":"https://example.org/x"}'],
  ])('{%s} is another source', (resolution, source) => {
    const candidate = lock.replace(/(ms@2\.1\.3:\n\s+resolution: \{)/, `$1${resolution}, `)
    expect(additionsOf('pnpm-lock.yaml', lock, candidate)).toEqual([`ms 2.1.3 ${source}`])
  })

  test('a package linked from elsewhere is an addition', () => {
    const candidate = lock.replace('        version: 2.1.3', '        version: link:../ms')
    expect(additionsOf('pnpm-lock.yaml', lock, candidate)).toEqual(['ms * path ../ms'])
  })

  test.each([
    ['an anchor', 'core-js@3.38.1: {}', 'core-js@3.38.1: &a {}', 'anchors or aliases'],
    ['an alias', 'core-js@3.38.1: {}', 'core-js@3.38.1: *a', 'anchors or aliases'],
    ['a merge key', 'core-js@3.38.1: {}', 'core-js@3.38.1: {<<: {}}', 'merge key'],
    ['a tag', 'core-js@3.38.1: {}', 'core-js@3.38.1: !!map {}', 'tags'],
    ['a key twice', 'core-js@3.38.1: {}', 'core-js@3.38.1: {}\n\n  core-js@3.38.1: {}', 'the same key twice'],
    ['a directive', "lockfileVersion: '9.0'", "%YAML 1.1\n---\nlockfileVersion: '9.0'", 'directives'],
    [
      'another document',
      "lockfileVersion: '9.0'",
      "a: b\n---\nlockfileVersion: '9.0'",
      'more than one document',
    ],
    ['another version', "lockfileVersion: '9.0'", "lockfileVersion: '10.0'", 'lockfileVersion'],
    ['a snapshot of nothing', 'core-js@3.38.1: {}', 'evil@1.0.0: {}', 'no such package'],
    [
      'a patch',
      'catalogs:',
      'patchedDependencies:\n  ms: {hash: a, path: b}\n\ncatalogs:',
      'changes patchedDependencies',
    ],
    ['hooks', 'catalogs:', 'pnpmfileChecksum: abc\n\ncatalogs:', 'changes pnpmfileChecksum'],
    ['a conflict', 'catalogs:', '<<<<<<< HEAD\ncatalogs:', 'cannot be read'],
  ])('%s cannot be approved', (_, before, after, why) => {
    expect(faultOf('pnpm-lock.yaml', lock, lock.replace(before, after))).toContain(why)
  })
})

describe('pnpm-workspace.yaml', () => {
  const base = fixture('pnpm/pnpm-workspace.yaml')

  test('catalogs and overrides choose packages', () => {
    const candidate = `${base}    evil: ^1.0.0\noverrides:\n  ms: 2.1.2\n`.replace('3.0.1', '3.0.2')
    expect(additionsOf('pnpm-workspace.yaml', base, candidate)).toEqual([
      'evil ^1.0.0 registry',
      'is-odd 3.0.2 registry',
      'ms 2.1.2 (overrides ms) registry',
    ])
  })

  test.each(['onlyBuiltDependencies:\n  - evil\n', 'configDependencies:\n  evil: 1.0.0\n'])(
    '%j is out of scope',
    more => {
      expect(faultOf('pnpm-workspace.yaml', base, base + more)).toContain(`changes ${more.split(':')[0]}`)
    },
  )
})

describe('yarn.lock', () => {
  const classic = fixture('yarn/classic.lock')
  const berry = fixture('yarn/berry.lock')

  test('another file for the same request is an addition', () => {
    const candidate = classic
      .replace('\nms@^2.1.3:', '\n')
      .replace('kind-of@^3.0.2:', 'kind-of@^3.0.2, ms@^2.1.3:')
    expect(faultOf('yarn.lock', classic, candidate)).toContain('cannot be read')
    const block = classic.slice(classic.indexOf('\nms@^2.1.3:'))
    const moved = classic.replace(block, '').replace('kind-of@^3.0.2:', 'kind-of@^3.0.2, ms@^2.1.3:')
    expect(additionsOf('yarn.lock', classic, moved)).toEqual([
      `ms 3.2.2 ${REGISTRY}kind-of/-/kind-of-3.2.2.tgz`,
    ])
  })

  test('another commit of the same address is an addition', () => {
    const git = classic.replace(/resolved ".*core-js.*"/, 'resolved "git+https://example.org/r.git#abc"')
    const { additions } = changeOf('yarn.lock', git, git.replace('#abc', '#abd'))
    expect(additions).toMatchObject([
      { source: 'git+https://example.org/r.git', integrity: expect.stringContaining('#abd') },
    ])
  })

  test.each([
    ['a line nobody wrote', '\nms@^2.1.3:', '\n ms@^2.1.3:', 'a line that yarn does not write'],
    ['a version twice', '  version "2.1.3"', '  version "2.1.3"\n  version "2.1.4"', 'two version'],
    ['a request answered twice', 'is-odd@^0.1.2:', 'ms@^2.1.3:', 'twice'],
    ['no version', '  version "2.1.3"\n', '', 'no version'],
    ['a conflict', '\nms@^2.1.3:', '\n<<<<<<< HEAD\nms@^2.1.3:', 'a line that yarn does not write'],
  ])('with %s cannot be approved', (_, before, after, why) => {
    expect(faultOf('yarn.lock', classic, classic.replace(before, after))).toContain(why)
  })

  test.each([
    ['npm:2.1.3::__archiveUrl=https%3A%2F%2Fexample.org%2Fms.tgz', undefined],
    ['patch:ms@npm%3A2.1.3#evil.patch', undefined],
    ['https://example.org/r.git#commit=abc', undefined],
  ])('the resolution %s is another source', resolution => {
    const candidate = berry.replace('resolution: "ms@npm:2.1.3"', `resolution: "ms@${resolution}"`)
    expect(additionsOf('yarn.lock', berry, candidate)).toEqual([`ms 2.1.3 ${resolution}`])
  })
})

describe('bun.lock', () => {
  const lock = fixture('bun/bun.lock')

  test.each([
    ['"ms@2.1.3", "https://example.org/"', 'ms 2.1.3 https://example.org/'],
    ['"ms@github:user/ms#abc", ""', 'ms * github:user/ms#abc'],
    ['"evil@2.1.3", ""', 'evil 2.1.3 registry, installed as ms'],
  ])('[%s] is another package', (entry, addition) => {
    expect(additionsOf('bun.lock', lock, lock.replace('"ms@2.1.3", ""', entry))).toEqual([addition])
  })

  test('a package trusted with scripts is out of scope', () => {
    const candidate = lock.replace('"packages": {', '"trustedDependencies": ["ms"],\n  "packages": {')
    expect(faultOf('bun.lock', lock, candidate)).toContain('changes trustedDependencies')
  })

  test.each([
    ['a comment', '"packages": {', '// "packages": {'],
    ['a member twice', '"lockfileVersion": 2,', '"lockfileVersion": 2, "lockfileVersion": 2,'],
    ['a word without quotes', '"core-js":', 'core-js:'],
    ['another version', '"lockfileVersion": 2', '"lockfileVersion": 9'],
  ])('with %s cannot be approved', (_, from, to) => {
    expect(faultOf('bun.lock', lock, lock.replace(from, to))).toContain('cannot be read')
  })

  test('a comma in a name is kept', () => {
    expect(faultOf('bun.lock', lock, lock.replace('"ms": [', '"ms,]": ['))).toBeUndefined()
    expect(additionsOf('bun.lock', lock, lock.replace('"ms": [', '"ms,]": ['))).toEqual([
      'ms 2.1.3 registry, installed as ms,]',
    ])
  })
})
