import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isUnread } from '../../src/engine/observe/sync.ts'
import { openRepository, type Repository } from '../../src/git/repository.ts'
import { aSpec } from '../decide/a-spec.ts'
import { addCommit, userRepository } from '../git/scratch.ts'

type Files = Record<string, string>

const PROJECT: Files = {
  'README.md': 'hello\n',
  'docs/guide.md': 'how to\n',
  'src/a.js': 'export const a = 1\n',
  'bench/run.js': 'console.log(1)\n',
  'package.json':
    '{"scripts": {"test": "node test.js"}, "files": ["src", "README.md"], "homepage": "https://x.invalid/docs/#readme"}\n',
}
const GATES = [{ name: 'tests', command: 'npm test' }]

/** One repository for every test: each writes trees of its own into it. */
let root: string
let repository: Repository
let project: string
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'winnow-unread-'))
  const user = userRepository({ dir: join(root, 'user') })
  project = user.commit('before', PROJECT)
  const dir = join(root, 'own.git')
  repository = await openRepository({ dir, remote: user.dir, prefix: 'optimize', local: true })
  await repository.fetch([{ ref: 'refs/heads/main', oid: project }])
})
afterAll(async () => {
  await repository.close()
  rmSync(root, { recursive: true, force: true })
})

async function unread(
  changed: Files,
  { files = {}, spec = {} }: { files?: Files; spec?: Record<string, unknown> } = {},
) {
  const before = await addCommit(repository, project, files)
  const after = await addCommit(repository, before, changed)
  const tree = async (commit: string) => (await repository.commit(commit)).tree
  return isUnread(
    repository,
    aSpec({
      gates: GATES,
      scope: { mutable: ['src/'], immutable: [] },
      propose: [{ use: 'patch', dir: 'ideas' }],
      ...spec,
      measurement: { command: 'node bench/run.js', ...Object(spec['measurement']) },
    }),
    { from: await tree(before), to: await tree(after) },
  )
}

describe('a change of the default branch', () => {
  it.each<[string, Files]>([
    ['a README', { 'README.md': 'hello, world\n' }],
    ['a new page of documentation', { 'docs/new.md': 'new\n', 'docs/picture.png': 'png\n' }],
    ['a licence and a changelog', { LICENSE: 'MIT\n', 'CHANGELOG.md': '1.0\n' }],
    ['an issue template', { '.github/ISSUE_TEMPLATE/bug.yml': 'name: bug\n' }],
    ['an idea', { 'ideas/01.patch': 'a patch\n' }],
    ['another spec', { '.winnow/other.yaml': 'winnow: 1\n' }],
    ['nothing', {}],
  ])('is not measured if it is %s', async (_, changed) => {
    expect(await unread(changed)).toBe(true)
  })

  it.each<[string, Files]>([
    ['mutable code', { 'src/a.js': 'export const a = 2\n' }],
    ['documentation among mutable code', { 'src/notes.md': 'x\n' }],
    ['the harness', { 'bench/run.js': 'console.log(2)\n' }],
    ['data of any type beside the harness', { 'bench/corpus.md': '# x\n' }],
    ['a manifest', { 'package.json': '{}\n' }],
    ['a lockfile', { 'package-lock.json': '{}\n' }],
    ['a workflow', { '.github/workflows/ci.yml': 'on: push\n' }],
    ['code that no command names', { 'lib/other.js': '1\n' }],
    ['documentation and code at once', { 'README.md': 'x\n', 'lib/other.js': '1\n' }],
  ])('is measured if it is %s', async (_, changed) => {
    expect(await unread(changed)).toBe(false)
  })

  it.each<[string, { files?: Files; spec?: Record<string, unknown> }]>([
    ['the command names it', { spec: { measurement: { command: 'node bench/run.js README.md' } } }],
    ['the command names its type', { spec: { measurement: { command: 'cat *.md | wc -c' } } }],
    ['a gate looks at the whole tree', { spec: { gates: [{ name: 'x', command: 'prettier --check .' }] } }],
    ['set-up packs the project', { spec: { measurement: { setup: 'npm pack' } } }],
    ['scope.immutable matches it', { spec: { scope: { mutable: ['src/'], immutable: ['*.md'] } } }],
    ['it is mutable', { spec: { scope: { mutable: ['**'], immutable: [] } } }],
    [
      'a script of package.json names it',
      { files: { 'package.json': '{"scripts": {"test": "npm run doc", "doc": "node check.js README.md"}}' } },
    ],
    [
      'a script of package.json looks at everything',
      { files: { 'package.json': '{"scripts": {"pretest": "prettier -c .", "test": "x"}}' } },
    ],
    ['the harness names it', { files: { 'bench/run.js': "read('./README.md')\n" } }],
    ['the harness walks the tree', { files: { 'bench/run.js': 'readdirSync(root, { recursive: true })\n' } }],
    [
      'the harness in a hidden folder looks at everything',
      {
        files: { '.bench/run.sh': 'prettier --check .\n' },
        spec: { measurement: { command: 'sh run.sh', working_directory: '.bench' } },
      },
    ],
    [
      'a bundled harness walks the tree',
      { files: { 'bench/run.js': `readdirSync(root, { recursive: true })\n${'//\n'.repeat(100_000)}` } },
    ],
    [
      'a task of the suite is this workflow',
      { spec: { measurement: { suite: { advisory: true, tasks: [{ name: 'a', workflow: 'README.md' }] } } } },
    ],
    ['a test names it', { files: { 'test/readme.test.js': "read(new URL('../README.md'))\n" } }],
    ['a test takes all of its type', { files: { 'test/pages.test.js': "glob('**/*.md')\n" } }],
    ['code includes it', { files: { 'src/lib.rs': '#![doc = include_str!("../README.md")]\n' } }],
  ])('is measured where it is a README, and %s', async (_, choice) => {
    expect(await unread({ 'README.md': 'hello, world\n' }, choice)).toBe(false)
  })

  it('is not measured if a command runs a script that package.json lacks, whatever its name', async () => {
    const spec = { measurement: { command: 'npm run constructor' } }
    expect(await unread({ 'README.md': 'hello, world\n' }, { spec })).toBe(true)
  })

  it('is measured if a test names the folder of a page', async () => {
    const files = { 'test/pages.test.js': "readdirSync('docs')\n" }
    expect(await unread({ 'docs/guide.md': 'more\n' }, { files })).toBe(false)
  })
})
