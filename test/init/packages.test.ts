import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { choosePackage } from '../../src/init/detect.ts'
import { choosePrefix } from '../../src/init/draft.ts'
import { commandsIn, type Files, repositoryOf } from './a-project.ts'

const NPM: Files = {
  'package.json': { name: 'root', workspaces: ['packages/*'] },
  'package-lock.json': '',
  'packages/core/package.json': { name: '@acme/core', scripts: { bench: 'node b.js' } },
  'packages/cli/package.json': { name: '@acme/cli' },
  'examples/demo/package.json': { name: 'demo' },
}

function chosen(files: Files, wanted?: string, from = ''): string {
  return choosePackage(repositoryOf(files), { wanted, from }).directory
}

function refusal(files: Files, wanted?: string): string {
  try {
    return `chose ${chosen(files, wanted)}`
  } catch (error) {
    if (error instanceof UserError) return `${error.message} | ${error.fix}`
    throw error
  }
}

describe('a repository with several packages', () => {
  it('must name a package, and the error says how', () => {
    expect(refusal(NPM)).toBe(
      'this repository has 2 packages: packages/cli (@acme/cli), packages/core (@acme/core) | ' +
        'name one: winnow init --package packages/cli, or --package . for the whole',
    )
  })

  it.each([
    ['packages/core', 'packages/core'],
    ['./packages/core/', 'packages/core'],
    ['@acme/core', 'packages/core'],
    ['core', 'packages/core'],
    ['.', ''],
    ['examples/demo', 'examples/demo'],
    ['packages', 'packages'],
  ])('takes %s for %s', (wanted, directory) => {
    expect(chosen(NPM, wanted)).toBe(directory)
  })

  it('uses the package of the working directory', () => {
    expect(chosen(NPM, undefined, 'packages/core/src')).toBe('packages/core')
    expect(chosen(NPM, '@acme/cli', 'packages/core')).toBe('packages/cli')
    expect(refusal(NPM, undefined)).toContain('has 2 packages')
  })

  it('suggests the nearest package name', () => {
    expect(refusal(NPM, 'cor')).toBe('there is no package cor | did you mean --package core?')
    expect(refusal(NPM, 'something-else')).toContain('there is .')
  })

  it.each<[string, Files]>([
    [
      'pnpm',
      {
        'pnpm-workspace.yaml': 'packages: ["a/*", "!a/test"]\n',
        'package.json': {},
        'a/x/package.json': {},
        'a/y/package.json': {},
        'a/test/package.json': {},
      },
    ],
    [
      'yarn',
      {
        'package.json': { workspaces: { packages: ['a/**'] } },
        'a/x/package.json': {},
        'a/b/y/package.json': {},
      },
    ],
    [
      'cargo',
      { 'Cargo.toml': '[workspace]\nmembers = ["a/*"]\n', 'a/x/Cargo.toml': '', 'a/y/Cargo.toml': '' },
    ],
    [
      'uv',
      {
        'pyproject.toml': '[tool.uv.workspace]\nmembers = ["a/*"]\n',
        'a/x/pyproject.toml': '',
        'a/y/pyproject.toml': '',
      },
    ],
    ['go.work', { 'go.work': 'go 1.22\nuse (\n\t./a/x\n\t./a/y\n)\n', 'a/x/go.mod': '', 'a/y/go.mod': '' }],
    ['Python below a bare top', { 'README.md': '', 'a/x/pyproject.toml': '', 'a/y/setup.py': '' }],
    ['Maven modules', { 'pom.xml': '', 'a/x/pom.xml': '', 'a/y/pom.xml': '' }],
  ])('finds a package by %s', (_, files) => {
    expect(refusal(files)).toMatch(/^this repository has 2 packages: /)
  })

  it('uses its only member, or the top if it has none', () => {
    expect(chosen({ 'go.work': 'use ./a\n', 'a/go.mod': '' })).toBe('a')
    expect(chosen({ 'package.json': {}, 'docs/package.json': {}, 'src/index.js': '' })).toBe('')
    expect(chosen({ 'greet.sh': '' })).toBe('')
  })

  it('installs from the lock file of the top', () => {
    const files = { ...NPM, 'packages/core/b.js': '', 'packages/core/src/a.js': '' }
    expect(commandsIn(files, 'packages/core')).toMatchObject({
      setup: 'cd ../.. && npm ci',
      bench: 'node b.js',
    })
  })
})

describe('the prefix of branches', () => {
  const none = () => false
  const refs = (...names: string[]) => names.map(name => `refs/heads/${name}`)

  it('is optimize if no branch conflicts', () => {
    const free = { prefix: 'optimize', because: null }
    expect(choosePrefix(refs('main', 'optimize-images', 'optimize/other'), 'speed', none)).toEqual(free)
  })

  it.each(['optimize', 'optimize/speed', 'optimize/speed/part', 'optimize-state', 'optimize-exp/speed'])(
    'is another one if %s is a foreign branch',
    branch => {
      expect(choosePrefix(refs(branch), 'speed', none)).toEqual({ prefix: 'winnow', because: branch })
    },
  )

  it('stays if the branch belongs to a campaign', () => {
    expect(choosePrefix(refs('optimize/speed'), 'speed', () => true).prefix).toBe('optimize')
  })

  it('is found even if many are taken', () => {
    const taken = refs('optimize', 'winnow', 'winnow-optimize', 'optimize-winnow', 'optimize-2')
    expect(choosePrefix(taken, 'speed', none).prefix).toBe('optimize-3')
  })
})
