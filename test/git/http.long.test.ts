import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type GitServer, type GitServerOptions, gitServer } from '../servers/git-http.ts'
import { addCommit, bareRemote, gitIn, open, openFetched, scratch, userRepository } from './scratch.ts'

const TIP = 'refs/heads/optimize/speed'
const AUTH = 'x-access-token:s3cret'

async function serve(options: Omit<GitServerOptions, 'root'> & { format?: string } = {}) {
  const root = scratch()
  const remote = bareRemote({ root, name: 'team/project.git', format: options.format ?? 'sha1' })
  const user = userRepository({ format: options.format ?? 'sha1' })
  user.git('push', '-q', remote.dir, 'main')
  const { format: _, ...rest } = options
  const server = await gitServer({ root, ...rest })
  onTestFinished(() => server.stop())
  return { server, remote, user, url: server.url('team/project.git') }
}

function credentials(server: GitServer): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', ...server.credentials() }
}

describe.each(['sha1', 'sha256'])('a remote over smart HTTP with Basic auth (%s)', format => {
  it('is read, fetched and pushed with the credentials of the environment', async () => {
    const { server, remote, url } = await serve({ auth: AUTH, format })
    const { repository, main, tree } = await openFetched({ remote: url, env: credentials(server) })
    expect(repository.objectFormat).toBe(format)
    expect((await repository.findEntry(tree, 'src/a.txt'))?.mode).toBe('100644')
    const next = await addCommit(repository, main, { 'src/a.txt': 'better\n' })
    expect(await repository.push([{ ref: TIP, from: null, to: next }])).toEqual({ ok: true })
    expect(remote.git('rev-parse', TIP)).toBe(next)
    expect(await repository.push([{ ref: TIP, from: main, to: main }])).toMatchObject({ reason: 'lease' })
  })
})

describe('a remote over smart HTTP', () => {
  it('brings the full history', async () => {
    const { remote, user, url } = await serve()
    for (const text of ['2', '3']) user.commit(text, { 'src/a.txt': text })
    user.git('push', '-q', remote.dir, 'main')
    const { repository, main } = await openFetched({ remote: url })
    expect(gitIn(repository.dir)('rev-list', '--count', main)).toBe('3')
  })

  it('is not asked for what is held already, also after a new start', async () => {
    const { server, url } = await serve()
    const dir = join(scratch(), 'own.git')
    const { repository, main } = await openFetched({ remote: url, dir })
    const next = await addCommit(repository, main, { a: '1' })
    await repository.push([{ ref: TIP, from: null, to: next }])
    const again = await open({ remote: url, dir })
    const asked = server.requests
    await again.fetch([
      { ref: 'refs/heads/main', oid: main },
      { ref: TIP, oid: next },
    ])
    expect(server.requests).toBe(asked)
  })

  it('gives a commit that its ref has left behind', async () => {
    const { remote, user, url } = await serve()
    const old = user.git('rev-parse', 'main')
    const repository = await open({ remote: url })
    user.commit('2', { 'src/a.txt': '2' })
    user.git('push', '-q', remote.dir, 'main')
    await repository.fetch([{ ref: 'refs/heads/main', oid: old }])
    expect((await repository.commit(old)).message).toBe('first\n')
  })

  it('without a commit that is asked for: a lost race that names the ref', async () => {
    const { url } = await serve()
    const repository = await open({ remote: url })
    const gone = repository.fetch([{ ref: 'refs/heads/main', oid: 'a'.repeat(40) }])
    await expect(gone).rejects.toMatchObject({ name: 'ConflictError', refs: ['refs/heads/main'] })
    const never = repository.fetch([{ ref: 'refs/heads/never', oid: 'a'.repeat(40) }])
    await expect(never).rejects.toMatchObject({ name: 'ConflictError', refs: ['refs/heads/never'] })
  })

  it('a pre-receive hook there refuses in its own words', async () => {
    const { remote, url } = await serve()
    mkdirSync(join(remote.dir, 'hooks'), { recursive: true })
    const text = `remote rules: GH006: Protected branch update failed for ${TIP}.`
    writeFileSync(
      join(remote.dir, 'hooks', 'pre-receive'),
      `#!/bin/sh\necho 'error: ${text}' >&2\nexit 1\n`,
      { mode: 0o755 },
    )
    const { repository, main } = await openFetched({ remote: url })
    const result = await repository.push([{ ref: TIP, from: null, to: main }])
    expect(result).toMatchObject({ ok: false, reason: 'refused', rule: 'GH006' })
    expect(result).toMatchObject({ message: expect.stringContaining(text) })
  })

  it('of many pushes at once exactly one wins and the others know they lost', async () => {
    const { url } = await serve()
    const { repository, main } = await openFetched({ remote: url })
    const commits = await Promise.all(
      ['1', '2', '3', '4'].map(text => addCommit(repository, main, { a: text })),
    )
    const results = await Promise.all(commits.map(to => repository.push([{ ref: TIP, from: null, to }])))
    const lost = { ok: false, reason: 'lease', refs: [TIP] }
    expect(results.filter(result => result.ok)).toHaveLength(1)
    expect(results.filter(result => !result.ok)).toEqual([lost, lost, lost])
  })
})

describe('a remote that cannot be used', () => {
  it('because it wants other credentials: 401, and the password is not repeated', async () => {
    const { server, url } = await serve({ auth: AUTH })
    const withPassword = url.replace('http://', 'http://bob:hunter2@')
    const opened = open({ remote: withPassword, env: { PATH: process.env['PATH'] ?? '' } })
    await expect(opened).rejects.toMatchObject({ name: 'ForgeError', detail: { status: 401 } })
    await expect(opened).rejects.not.toThrow('hunter2')
    expect(server.requests).toBeGreaterThan(0)
  })

  it('because the token expired in the middle', async () => {
    let expired = false
    const { server, url } = await serve({ auth: AUTH, fault: () => (expired ? 403 : null) })
    const { repository, main } = await openFetched({ remote: url, env: credentials(server) })
    expired = true
    const refused = { name: 'ForgeError', detail: { status: 403 } }
    await expect(repository.push([{ ref: TIP, from: null, to: main }])).rejects.toMatchObject(refused)
    await expect(repository.remoteRefs()).rejects.toMatchObject(refused)
    await expect(repository.fetch([{ ref: TIP, oid: 'b'.repeat(40) }])).rejects.toMatchObject(refused)
  })

  it('because it answers 502', async () => {
    let broken = false
    const { remote, url } = await serve({ fault: () => (broken ? 502 : null) })
    const { repository, main } = await openFetched({ remote: url })
    broken = true
    const push = repository.push([{ ref: TIP, from: null, to: main }])
    await expect(push).rejects.toMatchObject({ name: 'ForgeError', detail: { status: 502 } })
    broken = false
    expect(remote.git('for-each-ref', TIP)).toBe('')
    expect(await repository.push([{ ref: TIP, from: null, to: main }])).toEqual({ ok: true })
  })

  it('because nobody listens any more', async () => {
    const { server, url } = await serve()
    const { repository } = await openFetched({ remote: url })
    await server.stop()
    await expect(repository.remoteRefs()).rejects.toMatchObject({ name: 'ForgeError' })
  })

  it('because there is no such repository', async () => {
    const { server } = await serve()
    const opened = open({ remote: server.url('no/such.git') })
    await expect(opened).rejects.toMatchObject({
      name: 'ForgeError',
      message: expect.stringContaining('not found'),
    })
  })

  it('because it runs a command: ext:: is never allowed', async () => {
    const opened = open({ remote: 'ext::sh -c "touch /tmp/never" %S' })
    await expect(opened).rejects.toThrow(/transport 'ext' not allowed/)
  })
})
