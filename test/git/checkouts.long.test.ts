import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { addCommit, at, gitIn, openFetched, scratch, type UserRepository, userRepository } from './scratch.ts'
import { untouched } from './untouched.ts'
import { selectCases } from '../support/cases.ts'

/** Every state a person's checkout may be in when winnow starts. */
const STATES: Record<string, () => UserRepository> = {
  clean: () => userRepository(),
  detached() {
    const user = userRepository()
    user.git('checkout', '-q', '--detach')
    return user
  },
  dirty() {
    const user = userRepository()
    user.write('src/a.txt', 'modified\n')
    user.write('staged.txt', 'staged\n')
    user.git('add', 'staged.txt')
    user.write('staged.txt', 'and modified after\n')
    user.write('untracked.txt', 'untracked\n')
    symlinkSync('nowhere', join(user.dir, 'dangling'))
    rmSync(join(user.dir, 'README.md'))
    return user
  },
  'in the middle of a conflict'() {
    const user = userRepository()
    user.git('checkout', '-q', '-b', 'side')
    user.commit('side', { 'src/a.txt': 'side\n' })
    user.git('checkout', '-q', 'main')
    user.commit('main', { 'src/a.txt': 'main\n' })
    expect(() => user.git('merge', 'side')).toThrow('git merge side')
    return user
  },
  'a linked worktree'() {
    const user = userRepository()
    const linked = join(scratch(), 'linked')
    user.git('worktree', 'add', '-q', '-b', 'feature', linked)
    return at(linked)
  },
  'with a submodule'() {
    const inner = userRepository()
    const user = userRepository()
    user.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'inner')
    user.commit('with submodule')
    return user
  },
  'a shallow clone'() {
    const origin = userRepository()
    for (const text of ['2', '3', '4']) origin.commit(text, { 'src/a.txt': text })
    const dir = join(scratch(), 'shallow')
    origin.git('clone', '-q', '--depth=2', pathToFileURL(origin.dir).href, dir)
    return at(dir)
  },
  'with spaces, unicode and quotes in its path': () =>
    userRepository({ dir: join(scratch(), `with space`, `ünï 'quoted" $HOME 日本`) }),
  'of the sha256 format': () => userRepository({ format: 'sha256' }),
  'with packed refs and objects'() {
    const user = userRepository()
    user.git('gc', '-q')
    return user
  },
}

describe.each(selectCases(Object.entries(STATES), 3))('a checkout that is %s', (_, make) => {
  it.each(selectCases(['path', 'file URL']))('serves as the remote by %s and is never touched', async how => {
    const user = make()
    const remote = how === 'path' ? user.dir : pathToFileURL(user.dir).href
    const person = untouched(user.dir)
    const { repository, main, tree } = await openFetched({ remote, local: true })
    const next = await addCommit(repository, main, { 'src/b.txt': 'new\n', 'README.md': null })
    const updates = [
      { ref: 'refs/heads/optimize/speed', from: null, to: main },
      { ref: 'refs/heads/optimize-exp/speed/exp-001', from: null, to: next },
    ]
    expect(await repository.push(updates)).toEqual({ ok: true })
    expect((await repository.diff(tree, next)).map(({ path }) => path)).toEqual(['README.md', 'src/b.txt'])
    expect(await repository.mergeTree(main, next)).toEqual({
      clean: true,
      tree: (await repository.commit(next)).tree,
    })
    const out = join(scratch(), 'out')
    await repository.materialize(tree, out)
    expect(await repository.worktreesHolding(['refs/heads/optimize/speed'])).toEqual([])
    expect(user.git('rev-parse', 'optimize-exp/speed/exp-001')).toBe(next)
    person.check()
  })
})

describe('a shallow clone', () => {
  it('gives what it has: a later campaign can go on when it has more', async () => {
    const user = STATES['a shallow clone']?.() ?? userRepository()
    const { repository, main } = await openFetched({ remote: user.dir, local: true })
    expect(gitIn(repository.dir)('rev-list', '--count', main)).toBe('2')
    user.commit('5', { 'src/a.txt': '5' })
    const moved = user.git('rev-parse', 'main')
    await repository.fetch([{ ref: 'refs/heads/main', oid: moved }])
    expect(gitIn(repository.dir)('rev-list', '--count', moved)).toBe('3')
  })

  it('whose history was completed is complete for winnow too', async () => {
    const user = STATES['a shallow clone']?.() ?? userRepository()
    const { repository } = await openFetched({ remote: user.dir, local: true })
    user.git('fetch', '-q', '--unshallow')
    const tip = user.commit('5', { 'src/a.txt': '5' })
    await repository.fetch([{ ref: 'refs/heads/main', oid: tip }])
    expect(gitIn(repository.dir)('rev-list', '--count', tip)).toBe('5')
  })
})

describe('the environment winnow was started in', () => {
  it('cannot redirect it to another repository, index or object store', async () => {
    const [user, other] = [userRepository(), userRepository()]
    const person = untouched(other.dir)
    const env = {
      PATH: process.env['PATH'] ?? '',
      GIT_DIR: join(other.dir, '.git'),
      GIT_INDEX_FILE: join(other.dir, '.git', 'index'),
      GIT_WORK_TREE: other.dir,
      GIT_OBJECT_DIRECTORY: join(other.dir, '.git', 'objects'),
      GIT_EDITOR: 'false',
      GIT_SSH_COMMAND: 'false',
    }
    const { repository, main } = await openFetched({ remote: user.dir, local: true, env })
    const next = await addCommit(repository, main, { a: '1' })
    expect(await repository.push([{ ref: 'refs/heads/optimize/speed', from: null, to: next }])).toEqual({
      ok: true,
    })
    expect(user.git('rev-parse', 'optimize/speed')).toBe(next)
    person.check()
  })

  it('a hostile configuration and template of the user have no say', async () => {
    const home = scratch()
    const hooks = join(home, 'hooks')
    mkdirSync(hooks)
    writeFileSync(join(hooks, 'pre-push'), `#!/bin/sh\ntouch '${join(home, 'ran')}'; exit 1\n`, {
      mode: 0o755,
    })
    const config = `[core]\n\thooksPath = ${hooks}\n\tfsmonitor = touch ${join(home, 'ran')}\n[push]\n\tfollowTags = true\n[init]\n\ttemplateDir = ${home}\n`
    writeFileSync(join(home, '.gitconfig'), config)
    const user = userRepository()
    user.git('tag', '-a', '-m', 'v1', 'v1')
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') }
    const { repository, main } = await openFetched({ remote: user.dir, local: true, env })
    expect(await repository.push([{ ref: 'refs/heads/optimize/speed', from: null, to: main }])).toEqual({
      ok: true,
    })
    expect(() => gitIn(home)('hash-object', 'ran')).toThrow()
    expect(() => gitIn(repository.dir)('hash-object', 'hooks/pre-push')).toThrow()
  })
})

describe('a repository that disappears', () => {
  it('is named, with what to do', async () => {
    const user = userRepository()
    const { repository, main } = await openFetched({ remote: user.dir, local: true })
    renameSync(user.dir, `${user.dir}-moved`)
    const gone = { name: 'UserError', message: `the remote ${user.dir} is not a git repository` }
    await expect(repository.remoteRefs()).rejects.toMatchObject(gone)
    await expect(
      repository.push([{ ref: 'refs/heads/optimize/speed', from: null, to: main }]),
    ).rejects.toMatchObject(gone)
    await expect(repository.fetch([{ ref: 'refs/heads/x', oid: 'a'.repeat(40) }])).rejects.toMatchObject(gone)
    expect(await repository.has(main)).toBe(true)
  })
})
