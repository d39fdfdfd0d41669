import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isNewEnough } from '../../src/git/runner.ts'
import { bareRemote, gitIn, open, scratch, userRepository } from './scratch.ts'

function fakeGit(answer: string): string {
  const bin = join(scratch(), 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${answer}\n`)
  chmodSync(join(bin, 'git'), 0o755)
  return `${bin}:/usr/bin:/bin`
}

describe('the version of git', () => {
  it('must be 2.38 or newer, and is looked at before anything is written', async () => {
    const dir = join(scratch(), 'own.git')
    const env = { PATH: fakeGit('echo git version 2.37.9') }
    await expect(open({ dir, remote: userRepository().dir, env })).rejects.toMatchObject({
      name: 'UserError',
      message: 'git 2.37.9 is too old: winnow needs git 2.38 or newer',
    })
    expect(readdirSync(dirname(dir))).toEqual([])
  })

  it('is compared by number', () => {
    for (const found of ['2.38', '2.38.0', '2.100.1', '3.0.0', '10.1']) expect(isNewEnough(found)).toBe(true)
    for (const found of ['2.37.9', '2.4', '1.99', 'unknown', '']) expect(isNewEnough(found)).toBe(false)
  })

  it('a missing git is said to be missing', async () => {
    const env = { PATH: join(scratch(), 'nothing') }
    await expect(open({ remote: userRepository().dir, env })).rejects.toMatchObject({
      name: 'UserError',
      message: 'git was not found',
    })
  })
})

describe("winnow's own repository", () => {
  it('is bare, without hooks, and of the format of the remote, empty or not', async () => {
    for (const format of ['sha1', 'sha256']) {
      for (const remote of [bareRemote({ format }).dir, userRepository({ format }).dir]) {
        const repository = await open({ remote })
        expect(repository.objectFormat).toBe(format)
        const git = gitIn(repository.dir)
        expect(git('rev-parse', '--is-bare-repository', '--show-object-format')).toBe(`true\n${format}`)
        expect(existsSync(join(repository.dir, 'hooks'))).toBe(false)
        expect((await repository.remoteRefs()).refs.size).toBe(remote.endsWith('.git') ? 0 : 1)
      }
    }
  })

  it('is used again when it is there', async () => {
    const remote = userRepository({ format: 'sha256' }).dir
    const dir = join(scratch(), 'a', 'b', 'own.git')
    const oid = await (await open({ dir, remote })).writeBlob('kept')
    const again = await open({ dir, remote })
    expect(again.objectFormat).toBe('sha256')
    expect((await again.blob(oid)).toString()).toBe('kept')
  })

  it('is made once by many who open it at the same moment', async () => {
    const remote = userRepository().dir
    const dir = join(scratch(), 'own.git')
    const all = await Promise.all(Array.from({ length: 6 }, () => open({ dir, remote })))
    const oids = await Promise.all(all.map((repository, index) => repository.writeBlob(`${index}`)))
    for (const oid of oids) expect(await all[0]?.has(oid)).toBe(true)
    expect(readdirSync(dirname(dir))).toEqual(['own.git'])
  })

  it('is made whole although an earlier creator was killed half-way, whose remains are removed', async () => {
    const dir = join(scratch(), 'own.git')
    const [abandoned, living] = [`${dir}.making-abandoned`, `${dir}.making-living`]
    for (const path of [abandoned, living]) mkdirSync(join(path, 'objects'), { recursive: true })
    utimesSync(abandoned, 1, 1)
    const repository = await open({ dir, remote: userRepository().dir })
    expect(await repository.has(await repository.writeBlob('x'))).toBe(true)
    expect(readdirSync(dirname(dir)).sort()).toEqual(['own.git', basename(living)])
  })

  it('is found from a relative path of the remote', async () => {
    const user = userRepository()
    const repository = await open({ remote: relative(process.cwd(), user.dir), local: true })
    expect((await repository.remoteRefs()).head).toBe('refs/heads/main')
  })

  it('is named when the remote was replaced by one of another object format', async () => {
    const dir = join(scratch(), 'own.git')
    await open({ dir, remote: userRepository().dir })
    const user = userRepository({ format: 'sha256' })
    const again = await open({ dir, remote: user.dir })
    const tip = { ref: 'refs/heads/main', oid: user.git('rev-parse', 'main') }
    const other = { name: 'UserError', message: expect.stringContaining('another object format') }
    await expect(again.remoteRefs()).rejects.toMatchObject(other)
    await expect(again.fetch([tip])).rejects.toMatchObject(other)
  })

  it('gc never starts by itself', async () => {
    const user = userRepository()
    const repository = await open({ remote: user.dir })
    writeFileSync(join(repository.dir, 'gc-was-here'), '')
    for (let index = 0; index < 3; index++) {
      const oid = user.commit(`${index}`, { file: `${index}` })
      await repository.fetch([{ ref: 'refs/heads/main', oid }])
    }
    expect(existsSync(join(repository.dir, 'gc.pid'))).toBe(false)
    expect(readdirSync(join(repository.dir, 'objects', 'pack')).length).toBe(0)
    expect(readFileSync(join(repository.dir, 'config'), 'utf8')).not.toContain('gc')
  })
})

describe('a remote that is none', () => {
  it.each([
    ['does not exist', () => join(scratch(), 'missing'), 'does not exist'],
    ['is an ordinary directory', () => scratch(), 'is not a git repository'],
    ['is empty', () => '', 'is not a remote'],
    ['looks like an option', () => '--upload-pack=touch', 'is not a remote'],
  ])('because it %s is a clear error and leaves nothing', async (_, remote, message) => {
    const dir = join(scratch(), 'own.git')
    await expect(open({ dir, remote: remote() })).rejects.toMatchObject({
      name: 'UserError',
      message: expect.stringContaining(message),
    })
    expect(readdirSync(dirname(dir))).toEqual([])
  })

  it.runIf(process.geteuid?.() === 0)('because another user owns it, says how to trust it', async () => {
    const user = userRepository()
    for (const path of [user.dir, join(user.dir, '.git')]) chownSync(path, 65534, 65534)
    await expect(open({ remote: user.dir })).rejects.toMatchObject({
      name: 'UserError',
      fix: `git config --global --add safe.directory ${user.dir}`,
    })
  })

  it('a prefix that is no branch name is refused', async () => {
    await expect(open({ remote: userRepository().dir, prefix: '../x' })).rejects.toMatchObject({
      name: 'UserError',
    })
  })

  it('a place that cannot be written is named', async () => {
    const file = join(scratch(), 'file')
    writeFileSync(file, '')
    await expect(open({ dir: join(file, 'own.git'), remote: userRepository().dir })).rejects.toMatchObject({
      name: 'UserError',
    })
  })
})
