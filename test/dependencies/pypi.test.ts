import { describe, expect, test } from 'vitest'
import { additionsOf, changeOf, faultOf, fixture } from './fixture.ts'

describe('requirements.txt', () => {
  const base =
    '# pinned\nfast-sum==1.4.0 \\\n    --hash=sha256:11 \\\n    --hash=sha256:22\n    # via fixture\n-r base.txt\n'

  test.each([
    ['tiny', 'tiny * registry'],
    ['Tiny_One.two>=1, <2  # small', 'tiny-one-two >=1,<2 registry'],
    ['tiny (==1.0)', 'tiny ==1.0 registry'],
    ['tiny[a, b]~=1.0 ; python_version  < "3.11"', 'tiny [a,b] ~=1.0 ; python_version < "3.11" registry'],
    ['tiny @ https://example.org/t.whl', 'tiny * https://example.org/t.whl'],
    [
      'tiny@git+https://example.org/t.git@main ; os_name == "nt"',
      'tiny * ; os_name == "nt" git+https://example.org/t.git@main',
    ],
    ['git+https://example.org/r.git@v1#egg=tiny', 'tiny * git+https://example.org/r.git@v1#egg=tiny'],
    ['git+https://example.org/tiny.git@v1', 'tiny * git+https://example.org/tiny.git@v1'],
    ['https://example.org/tiny-1.0-py3-none-any.whl', 'tiny * https://example.org/tiny-1.0-py3-none-any.whl'],
    ['./vendor/tiny', 'tiny * ./vendor/tiny'],
    ['tiny-1.0.tar.gz', 'tiny * tiny-1.0.tar.gz'],
    ['-e ./tiny', 'tiny * editable ./tiny'],
    [
      '--editable=git+https://example.org/r.git#egg=tiny',
      'tiny * editable git+https://example.org/r.git#egg=tiny',
    ],
  ])('%s is an addition', (line, addition) => {
    expect(additionsOf('requirements.txt', base, `${base}${line}\n`)).toEqual([addition])
  })

  test('a changed or missing hash makes another package', () => {
    const one = changeOf('requirements.txt', base, base.replace('sha256:22', 'sha256:33'))
    expect(one.additions).toMatchObject([{ name: 'fast-sum', integrity: 'sha256:11 sha256:33' }])
    const less = changeOf('requirements.txt', base, base.replace(' \\\n    --hash=sha256:22', ''))
    expect(less.additions).toMatchObject([{ integrity: 'sha256:11' }])
  })

  test('comments, blanks and the order of hashes do not count', () => {
    const candidate = '\n-r base.txt\nfast-sum == 1.4.0 --hash=sha256:22 --hash=sha256:11\n'
    expect(changeOf('requirements.txt', base, candidate)).toEqual({ additions: [], removals: 0, faults: [] })
  })

  test.each([
    '--index-url https://example.org',
    '-i https://example.org',
    '--extra-index-url=https://example.org',
    '-f ./wheels',
    '--trusted-host example.org',
    '-r other.txt',
    '-c other.txt',
    '--pre',
    '--no-binary :all:',
  ])('the option %s is out of scope', option => {
    expect(faultOf('requirements.txt', base, `${option}\n${base}`)).toBe(
      `changes ${option}: only dependencies may change in this file`,
    )
  })

  test.each([
    ['a line continued behind a comment', `${base}# comment \\\nevil\n`, 'continues a comment'],
    ['a line that only Python ends', `${base}# comment\u2028evil\n`, 'end of a line'],
    ['an encoding', `# -*- coding: utf-7 -*-\n${base}`, 'names an encoding'],
    ['an encoding behind a carriage return', `#\r# coding: utf-7\n${base}`, 'names an encoding'],
    ['an option behind a package', `${base}tiny --config-settings=a=b\n`, 'has an option'],
    ['no requirement', `${base}tiny 1.0\n`, 'which is no requirement'],
    ['a conflict', `${base}<<<<<<< HEAD\n`, 'which is no requirement'],
    ['the project itself', `${base}-e .\n`, 'names a package'],
  ])('%s cannot be approved', (_, candidate, why) => {
    expect(faultOf('requirements.txt', base, candidate)).toContain(why)
  })

  test.each([
    'requirements-dev.txt',
    'dev-requirements.txt',
    'constraints.txt',
    'requirements/base.in',
    'a/Requirements.txt',
  ])('is recognized as %s', path =>
    expect(additionsOf(path, null, 'tiny==1\n')).toEqual(['tiny ==1 registry']),
  )
})

describe('pyproject.toml', () => {
  const base = fixture('pypi/pyproject.toml')

  test.each([
    ['dependencies = ["fast-sum>=1.4"]', 'dependencies = ["fast-sum>=1.5"]', 'fast-sum >=1.5 registry'],
    ['plot = [', 'plot = ["evil", ', 'evil * registry'],
    ['dev = [', 'dev = ["evil", ', 'evil * registry'],
    ['requires = [', 'requires = ["evil", ', 'evil * (build) registry'],
    ['dev-dependencies = [', 'dev-dependencies = ["evil"', 'evil * (dev-dependencies) registry'],
    [
      '[tool.uv]\n',
      '[tool.uv]\noverride-dependencies = ["tiny==9"]\n',
      'tiny ==9 (override-dependencies) registry',
    ],
    [
      '[tool.uv]',
      '[tool.uv.sources]\ntiny = { git = "https://example.org/t" }\n[tool.uv]',
      'tiny * {"git":"https://example.org/t"}',
    ],
  ])('%j made %j is an addition', (from, to, addition) => {
    expect(additionsOf('pyproject.toml', base, base.replace(from, to))).toEqual([addition])
  })

  test.each([
    ['"^1.0"', 'evil ^1.0 registry'],
    ['{ version = "^1.0", extras = ["a"] }', 'evil ^1.0 {"extras":["a"]} registry'],
    ['{ git = "https://example.org/e.git", rev = "abc" }', 'evil * git https://example.org/e.git#abc'],
    ['{ path = "../evil", develop = true }', 'evil * {"develop":true} path ../evil'],
    ['{ version = "1", source = "mine" }', 'evil 1 mine'],
    ['[{ version = "1", python = "<3" }]', 'evil 1 {"python":"<3"} registry'],
  ])('poetry’s evil = %s is an addition', (wanted, addition) => {
    for (const table of ['dependencies', 'dev-dependencies', 'group.dev.dependencies'])
      expect(
        additionsOf('pyproject.toml', base, `${base}\n[tool.poetry.${table}]\nevil = ${wanted}\n`),
      ).toEqual([addition])
  })

  test.each([
    ['build-system.build-backend', base.replace('hatchling.build"', 'evil"')],
    ['build-system.backend-path', base.replace('[project]', 'backend-path = ["."]\n[project]')],
    ['project.scripts', `${base}\n[project.scripts]\na = "b:c"\n`],
    ['tool.black', base.replace('100', '99')],
    ['tool.pytest', `${base}\n[tool.pytest.ini_options]\n`],
    ['tool.uv', `${base}\n[[tool.uv.index]]\nurl = "https://example.org"\n`],
    ['tool.poetry', `${base}\n[[tool.poetry.source]]\nname = "a"\nurl = "https://example.org"\n`],
    ['tool.poetry.dependencies.python', `${base}\n[tool.poetry.dependencies]\npython = "^3"\n`],
  ])('a changed %s is out of scope', (place, candidate) => {
    expect(faultOf('pyproject.toml', base, candidate)).toContain(`changes ${place}: only dependencies`)
  })
})

describe('poetry.lock', () => {
  const lock = fixture('pypi/poetry.lock')

  test('has every package', () => {
    expect(additionsOf('poetry.lock', null, lock)).toEqual([
      'built 2.0 registry',
      'fast-sum 1.4.0 registry',
      'forked 0.3.0 git https://example.org/forked.git#main#0123456789abcdef0123456789abcdef01234567',
      'tiny 0.1.2 registry',
    ])
    const { additions } = changeOf('poetry.lock', null, lock)
    expect(additions.map(({ scripts }) => scripts)).toEqual([null, true, null, null])
  })

  test.each([
    ['sha256:1111', 'sha256:0000'],
    ['{file = "fast_sum-1.4.0.tar.gz"', '{file = "fast_sum-1.4.0.zip"'],
  ])('%s made %s is another package', (from, to) => {
    expect(additionsOf('poetry.lock', lock, lock.replace(from, to))).toEqual(['fast-sum 1.4.0 registry'])
  })

  test('hashes of format version 1 are read', () => {
    const old = lock.slice(lock.lastIndexOf('[[package]]')).replace(/files = \[[^\]]*\]/, '')
    const files = `[metadata.files]\ntiny = [{file = "tiny-0.1.2-py3-none-any.whl", hash = "sha256:${'4'.repeat(64)}"}]\n`
    expect(additionsOf('poetry.lock', old.replace('"2.1"', '"1.1"') + files, lock)).toHaveLength(3)
  })

  test('of an unknown version cannot be approved', () => {
    expect(faultOf('poetry.lock', lock, lock.replace('"2.1"', '"3.0"'))).toContain('metadata.lock-version')
  })
})

describe('uv.lock', () => {
  const lock = fixture('pypi/uv.lock')

  test('has every package except the project', () => {
    expect(additionsOf('uv.lock', null, lock)).toEqual([
      'built 2.0 https://pypi.org/simple',
      'fast-sum 1.4.0 https://pypi.org/simple',
      'forked 0.3.0 git https://example.org/forked.git?rev=main#0123456789abcdef0123456789abcdef01234567',
      'tiny 0.1.2 https://pypi.org/simple',
    ])
    const { additions } = changeOf('uv.lock', null, lock)
    expect(additions.map(({ direct }) => direct)).toEqual([true, true, true, false])
    expect(additions.map(({ scripts }) => scripts)).toEqual([true, null, null, null])
  })

  test.each([
    [
      'registry = "https://pypi.org/simple"',
      'registry = "https://example.org"',
      'built 2.0 https://example.org',
    ],
    ['sha256:3333', 'sha256:0000', 'built 2.0 https://pypi.org/simple'],
    ['packages/cc/tiny', 'packages/dd/tiny', undefined],
  ])('%s made %s', (from, to, addition) => {
    expect(additionsOf('uv.lock', lock, lock.replace(from, to))).toEqual(
      addition === undefined ? [] : [addition],
    )
  })

  test('of another version cannot be approved', () => {
    expect(faultOf('uv.lock', lock, lock.replace('version = 1', 'version = 2'))).toContain('at version')
  })
})

describe('Pipfile', () => {
  const base = '[[source]]\nurl = "https://pypi.org/simple"\n\n[packages]\nfast-sum = "*"\n'

  test('has packages in the form of poetry', () => {
    const candidate = `${base}\n[dev-packages]\nevil = {git = "https://example.org/e.git", ref = "abc"}\npython = "*"\n`
    expect(additionsOf('Pipfile', base, candidate)).toEqual([
      'evil * git https://example.org/e.git#abc',
      'python * registry',
    ])
  })

  test.each([
    '[scripts]\na = "b"\n',
    '[requires]\npython_version = "3"\n',
    '[[source]]\nurl = "x"\n',
    '[docs]\na = "*"\n',
  ])('%j is out of scope', more =>
    expect(faultOf('Pipfile', base, base + more)).toContain('only dependencies may change'),
  )
})

describe('Pipfile.lock', () => {
  const lock = fixture('pypi/Pipfile.lock')

  test('has every package of every category', () => {
    expect(additionsOf('Pipfile.lock', null, lock.replace('"sources"', '"tools"'))).toEqual([
      'fast-sum 1.4.0 pypi',
      'forked * {"git":"https://example.org/forked.git","ref":"0123456789abcdef0123456789abcdef01234567"}',
      'tiny 0.1.2 registry',
    ])
  })

  test.each([
    ['sha256:2222', 'sha256:0000', 'fast-sum 1.4.0 pypi'],
    ['"index": "pypi"', '"index": "mine"', 'fast-sum 1.4.0 mine'],
    [
      '"index": "pypi"',
      '"index": "pypi", "file": "https://example.org/x"',
      'fast-sum 1.4.0 {"index":"pypi","file":"https://example.org/x"}',
    ],
  ])('%s made %s is another package', (from, to, addition) => {
    expect(additionsOf('Pipfile.lock', lock, lock.replace(from, to))).toEqual([addition])
  })

  test('another index is out of scope', () => {
    const candidate = lock.replace('https://pypi.org/simple', 'https://example.org')
    expect(faultOf('Pipfile.lock', lock, candidate)).toContain('changes _meta.sources')
  })

  test('an index named __proto__ is refused', () => {
    const candidate = lock.replace('"sources"', '"__proto__": [], "sources"')
    expect(faultOf('Pipfile.lock', lock, candidate)).toContain('__proto__')
  })
})

test('a file without a hash is identified by its address', () => {
  const lock = (address: string) =>
    `version = 1\n[[package]]\nname = "a"\nversion = "1"\nsource = { registry = "r" }\nsdist = { url = "${address}" }\n`
  expect(additionsOf('uv.lock', lock('https://example.org/a'), lock('https://example.org/b'))).toEqual([
    'a 1 r',
  ])
})
