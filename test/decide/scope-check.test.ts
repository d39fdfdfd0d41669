import { describe, expect, test } from 'vitest'
import { type DiffChange, type ChangeSet, checkChanges } from '../../src/decide/scope-check.ts'

const ABSENT = '000000'
const limits: ChangeSet['limits'] = {
  max_files: 3,
  max_changed_lines: 10,
  allowed_file_types: [],
  max_binary_bytes: 0,
}

function change(path: string, rest: Partial<DiffChange> = {}): DiffChange {
  return { path, status: 'M', oldMode: '100644', newMode: '100644', added: 1, deleted: 1, ...rest }
}

function check(changes: DiffChange[], rest: Partial<ChangeSet> = {}) {
  const isMutable = (path: string) => path.startsWith('src/')
  return checkChanges({ changes, isMutable, limits, binaryBytes: new Map(), sameNames: new Map(), ...rest })
}

const binary = { added: null, deleted: null }

describe('a candidate’s diff', () => {
  test('inside scope and limits may be measured', () => {
    expect(check([change('src/a.ts'), change('src/b.ts')])).toBeNull()
  })

  test('that is empty is refused', () => {
    expect(check([])).toMatchObject({ code: 'empty', path: null })
  })

  test('outside the scope is refused: every file counted, the first named', () => {
    const paths = ['bench/a', 'bench/b', 'bench/c', 'bench/d']
    const found = check([change('src/a.ts'), ...paths.map(path => change(path))])
    expect(found).toEqual({
      code: 'out-of-scope',
      path: 'bench/a',
      message: 'changes 4 files outside scope.mutable: bench/a, bench/b, bench/c and 1 more',
    })
    expect(check([change('.gitattributes')])?.message).toBe(
      'changes 1 file outside scope.mutable: .gitattributes',
    )
  })

  test.each([
    'src/.git/config',
    'src/.GIT/hooks/x',
    'src/git~1/config',
    'src/.git. /config',
    'src/.git::$INDEX_ALLOCATION/x',
    'src/.g\u200cit/config',
    'src/..\\.git\\config',
    'src/gitmod~1',
    'src/.gitmodules ',
    'src/a\u202ejs.exe',
    'src/a\u0007b',
    'src/index.js.',
    'src/index.js:evil',
    'src/index.js.',
    'src/index.js:evil',
    'src/ a/index.js',
  ])('with the file name %j is refused, and may remove it', path => {
    expect(check([change(path, { oldMode: ABSENT })])).toMatchObject({ code: 'file-name', path })
    expect(check([change(path, { newMode: ABSENT })])?.code).not.toBe('file-name')
  })

  test.each([
    'src/.github-like',
    'src/.gitkeep',
    'src/git',
    'src/é.ts',
    'src/日本.ts',
    'src/a b.ts',
    'src/git1~',
  ])('with the file name %j may be measured', path => expect(check([change(path)])).toBeNull())

  test('with a name that another file system takes for that of another file is refused', () => {
    const found = check([change('src/A.ts')], { sameNames: new Map([['src/A.ts', 'src/a.ts']]) })
    expect(found?.message).toBe(
      'some file systems take two names for one file, because they differ only in case or Unicode form: src/A.ts and src/a.ts',
    )
  })

  test('with an invisible character in its name is refused in a sentence that shows the character', () => {
    expect(check([change('src/a\u202ejs.exe', { oldMode: ABSENT })])?.message).toBe(
      'has a file name that git, an editor or another file system may misread: "src/a\\u{202e}js.exe"',
    )
  })

  test.each([
    ['a new symbolic link', { oldMode: ABSENT, newMode: '120000' }, 'symlink'],
    ['a file that becomes a symbolic link', { newMode: '120000' }, 'symlink'],
    ['a symbolic link that goes away', { oldMode: '120000', newMode: ABSENT }, 'symlink'],
    ['a new submodule', { oldMode: ABSENT, newMode: '160000' }, 'submodule'],
    ['a submodule that moves', { oldMode: '160000', newMode: '160000' }, 'submodule'],
    ['a file made executable', { newMode: '100755' }, 'mode'],
    ['a file made plain', { oldMode: '100755' }, 'mode'],
    ['a new file of an odd mode', { oldMode: ABSENT, newMode: '100600' }, 'mode'],
  ])('%s is refused', (_, modes, code) => {
    expect(check([change('src/a', modes)])).toMatchObject({ code, path: 'src/a' })
  })

  test.each([
    ['a new file', { oldMode: ABSENT }],
    ['a new executable', { oldMode: ABSENT, newMode: '100755' }],
    ['an executable that stays one', { oldMode: '100755', newMode: '100755' }],
    ['a file that goes away', { newMode: ABSENT }],
    ['a file that goes away, told by null', { newMode: null }],
    ['a new file, told by null', { oldMode: null, newMode: '100755' }],
  ])('%s is allowed', (_, modes) => {
    expect(check([change('src/a', modes)])).toBeNull()
  })

  test('a manifest or lockfile may change: its packages are compared elsewhere', () => {
    expect(check([change('src/package.json')])).toBeNull()
  })

  test('over limits.max_files is refused', () => {
    const files = (count: number) => Array.from({ length: count }, (_, index) => change(`src/${index}`))
    expect(check(files(3))).toBeNull()
    expect(check(files(4))).toMatchObject({
      code: 'too-many-files',
      message: 'changes 4 files, limits.max_files allows 3',
    })
  })

  test('over limits.max_changed_lines is refused, added and deleted lines together', () => {
    expect(check([change('src/a', { added: 6, deleted: 4 })])).toBeNull()
    expect(check([change('src/a', { added: 6, deleted: 5 })])).toMatchObject({ code: 'too-many-lines' })
  })

  test.each([
    ['no larger than allowed', 8, new Map([['src/a.png', 8]]), true],
    ['larger than allowed', 8, new Map([['src/a.png', 9]]), false],
    ['of unknown size', 8, new Map(), false],
    ['without a limit', null, new Map(), true],
  ] as const)('a binary file %s', (_, max_binary_bytes, binaryBytes, fine) => {
    const found = check([change('src/a.png', binary)], {
      limits: { ...limits, max_binary_bytes },
      binaryBytes,
    })
    expect(found?.code ?? null).toBe(fine ? null : 'binary')
  })

  test('a binary file may be removed', () => {
    expect(check([change('src/a.png', { ...binary, newMode: ABSENT })])).toBeNull()
  })

  test.each([
    ['src/a.ts', true],
    ['src/a.D.TS', true],
    ['src/a.tsx', false],
    ['src/ts', true],
    ['src/Makefile', true],
    ['src/a.css', true],
    ['src/acss', false],
  ])('with allowed_file_types [ts, .css, Makefile], %s is allowed: %s', (path, allowed) => {
    const allowed_file_types = ['ts', '.css', 'Makefile']
    const found = check([change(path)], { limits: { ...limits, allowed_file_types } })
    expect(found?.code ?? null).toBe(allowed ? null : 'file-type')
  })

  test('a ce spec without limits limits nothing', () => {
    const none = { max_files: null, max_changed_lines: null, allowed_file_types: [], max_binary_bytes: null }
    const many = Array.from({ length: 100 }, (_, index) => change(`src/${index}`, { added: 1000 }))
    expect(check([...many, change('src/x.png', binary)], { limits: none })).toBeNull()
  })
})
