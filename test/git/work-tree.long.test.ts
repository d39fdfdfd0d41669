import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { inspectCheckout, readWorkTree, type WorkTreeReading } from '../../src/git/work-tree.ts'
import { at, gitIn, open, scratch, userRepository, type UserRepository } from './scratch.ts'
import { untouched } from './untouched.ts'

const ENV = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** The work tree as winnow reads it, with a look that nothing of the person's repository changed. */
async function readIn(
  user: UserRepository,
  takes: (path: string) => boolean = path => path.startsWith('src/'),
  env: Record<string, string> = {},
) {
  const repository = await open({ remote: join(user.dir, '.git'), local: true })
  const head = user.git('rev-parse', 'HEAD')
  await repository.fetchFrom(join(user.dir, '.git'), head)
  const same = untouched(user.dir)
  const read = await readWorkTree({
    into: repository.dir,
    topLevel: user.dir,
    head,
    env: { ...ENV, ...env },
    takes,
  })
  same.check()
  return { read, files: await filesOf(read, repository) }
}

async function filesOf(read: WorkTreeReading, repository: Awaited<ReturnType<typeof open>>) {
  if ('unmerged' in read) return null
  const found: Record<string, string> = {}
  for (const line of gitIn(repository.dir)('ls-tree', '-r', read.tree).split('\n')) {
    const [, mode = '', oid = '', path = ''] = /^(\d+) \w+ (\w+)\t(.*)$/.exec(line) ?? []
    found[path] = mode === '160000' ? oid : (await repository.blob(oid)).toString('utf8')
  }
  return found
}

const FIRST = { 'README.md': 'hello\n', 'src/a.txt': '1\n2\n3\n4\n5\n' }

it('is none where git is run inside of .git', async () => {
  const { dir } = userRepository()
  expect(await inspectCheckout(join(dir, '.git'), ENV)).toMatchObject({
    topLevel: null,
    commonDir: join(dir, '.git'),
  })
})

describe('a work tree read as a tree', () => {
  it('is HEAD where nothing changed', async () => {
    const { files, read } = await readIn(userRepository())
    expect(files).toEqual(FIRST)
    expect(read).toMatchObject({ leftOut: [] })
  })

  it('has what is changed, staged, staged and changed again, new, removed and renamed', async () => {
    const user = userRepository()
    user.commit('more', { 'src/b': 'b\n', 'src/c': 'c\n', 'src/d': 'd\n', 'src/e': 'e\n' })
    user.write('src/a.txt', 'changed\n')
    user.write('src/b', 'staged\n')
    user.git('add', 'src/b')
    user.write('src/c', 'staged\n')
    user.git('add', 'src/c')
    user.write('src/c', 'and changed again\n')
    rmSync(join(user.dir, 'src/d'))
    renameSync(join(user.dir, 'src/e'), join(user.dir, 'src/f'))
    user.write('src/new/file', 'new\n')
    user.write('notes.txt', 'mine\n')
    const { files, read } = await readIn(user)
    expect(files).toEqual({
      'README.md': 'hello\n',
      'src/a.txt': 'changed\n',
      'src/b': 'staged\n',
      'src/c': 'and changed again\n',
      'src/f': 'e\n',
      'src/new/file': 'new\n',
    })
    expect(read).toMatchObject({ leftOut: ['notes.txt'] })
  })

  it('has a new file that was staged, wherever it lies and however it is ignored', async () => {
    const user = userRepository()
    user.commit('ignores', { '.gitignore': '*.log\n' })
    user.write('doc.md', 'staged\n')
    user.write('src/kept.log', 'forced\n')
    user.write('src/other.log', 'ignored\n')
    user.write('src/gone', 'gone\n')
    user.git('add', '--force', 'doc.md', 'src/kept.log', 'src/gone')
    rmSync(join(user.dir, 'src/gone'))
    const { files, read } = await readIn(user)
    expect(files).toEqual({
      ...FIRST,
      '.gitignore': '*.log\n',
      'doc.md': 'staged\n',
      'src/kept.log': 'forced\n',
    })
    expect(read).toMatchObject({ leftOut: [] })
  })

  it('reads names that git quotes', async () => {
    const user = userRepository()
    user.write('src/größe "1"\t[x]', 'odd\n')
    user.write('ä', 'odd\n')
    const { files, read } = await readIn(user)
    expect(Object.keys(files ?? {})).toHaveLength(3)
    expect(read).toMatchObject({ leftOut: ['ä'] })
  })

  it('finds a file that was changed to the same size within the second of the last commit', async () => {
    const user = userRepository()
    user.write('src/a.txt', '5\n4\n3\n2\n1\n')
    const second = Math.floor(Date.now() / 1000)
    utimesSync(join(user.dir, 'src/a.txt'), second, second)
    utimesSync(join(user.dir, '.git/index'), second, second)
    expect((await readIn(user)).files?.['src/a.txt']).toBe('5\n4\n3\n2\n1\n')
  })

  it("reads files as their owner's git would: line endings, filters and ignore rules", async () => {
    const user = userRepository()
    const home = scratch()
    writeFileSync(join(home, '.gitconfig'), `[core]\n\tautocrlf = input\n\texcludesFile = ${home}/ignored\n`)
    writeFileSync(join(home, 'ignored'), '*.swp\n')
    user.write('src/a.txt', 'one\r\n')
    user.write('src/.a.swp', 'x')
    const own = { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') }
    const { files } = await readIn(user, () => true, own)
    expect(files).toEqual({ ...FIRST, 'src/a.txt': 'one\n' })
  })

  it('takes a link as a link, and a repository inside it not at all', async () => {
    const user = userRepository()
    symlinkSync('a.txt', join(user.dir, 'src/link'))
    userRepository({ dir: join(user.dir, 'src/other') })
    const { files, read } = await readIn(user)
    expect(files).toEqual({ ...FIRST, 'src/link': 'a.txt' })
    expect(read).toMatchObject({ leftOut: ['src/other/'] })
  })

  it('names what a merge left unresolved', async () => {
    const user = userRepository()
    user.git('checkout', '-q', '-b', 'side')
    user.commit('side', { 'src/a.txt': 'side\n' })
    user.git('checkout', '-q', 'main')
    user.commit('main', { 'src/a.txt': 'main\n' })
    expect(() => user.git('merge', '-q', 'side')).toThrow()
    expect((await readIn(user)).read).toEqual({ unmerged: ['src/a.txt'] })
  })

  it('reads a linked work tree with an index of its own, and a split index', async () => {
    const user = userRepository()
    const dir = join(scratch(), 'linked')
    user.git('worktree', 'add', '-q', dir)
    mkdirSync(join(dir, 'src'), { recursive: true })
    const linked = { ...at(dir), dir }
    linked.git('update-index', '--split-index')
    linked.write('src/a.txt', 'linked\n')
    const repository = await open({ remote: join(user.dir, '.git'), local: true })
    const head = linked.git('rev-parse', 'HEAD')
    await repository.fetchFrom(join(user.dir, '.git'), head)
    const read = await readWorkTree({
      into: repository.dir,
      topLevel: dir,
      head,
      env: ENV,
      takes: () => true,
    })
    expect(await filesOf(read, repository)).toEqual({ ...FIRST, 'src/a.txt': 'linked\n' })
  })
})
