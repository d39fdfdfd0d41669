import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openRepository, type OpenOptions } from '../../src/git/repository.ts'
import { readSilenceLimit } from '../../src/git/runner.ts'
import { stripProgress } from '../../src/git/shell-runner.ts'
import { UserError } from '../../src/errors.ts'
import { listening } from '../servers/loopback.ts'
import { bareRemote, scratch } from './scratch.ts'

const PATH = process.env['PATH'] ?? '/usr/bin:/bin'

/** Accepts every connection, reads what comes and never answers. */
async function silentServer() {
  const sockets: Socket[] = []
  let onConnection: () => void = () => undefined
  const connected = new Promise<void>(resolve => (onConnection = resolve))
  const server = createServer(socket => {
    sockets.push(socket.resume().on('error', () => undefined))
    onConnection()
  })
  const port = await listening(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, connected, connections: () => sockets.length }
}

function opening(remote: string, more: Partial<OpenOptions> = {}) {
  const said: string[] = []
  const dir = join(scratch(), 'repository.git')
  const env = { PATH, HOME: '/nonexistent', WINNOW_REMOTE_TIMEOUT: '0.3' }
  const options = {
    dir,
    remote,
    prefix: 'optimize',
    local: false,
    env,
    say: (line: string) => void said.push(line),
  }
  return { said, options: { ...options, ...more } }
}

/** Opens the repository with a remote that answers first, so that a later request meets the silence. */
async function openedOn(scheme: string, more: Partial<OpenOptions> = {}) {
  const server = await silentServer()
  const { said, options } = opening(`${scheme}://127.0.0.1:${server.port}/x.git`, more)
  const first = await openRepository({ ...options, remote: bareRemote().dir, env: { PATH } })
  await first.close()
  const repository = await openRepository(options)
  onTestFinished(() => repository.close())
  return { ...server, said, repository }
}

describe('a remote that accepts and never answers', () => {
  it.each(['git', 'http'])('is tried three times, with a message after each: %s', async scheme => {
    const { repository, said, connections } = await openedOn(scheme)
    await expect(repository.remoteRefs()).rejects.toThrow(
      /^cannot read (?:git|http):\/\/127\.0\.0\.1:\d+\/x\.git: the remote sent no byte for 0\.3 s$/,
    )
    // A busy machine may end one before it is connected.
    expect(connections()).toBeLessThanOrEqual(3)
    expect(said).toEqual([
      expect.stringMatching(/sent no byte for 0\.3 s; winnow tries again \(2 of 3\)$/),
      expect.stringMatching(/winnow tries again \(3 of 3\)$/),
    ])
  })

  it('gets a push only once, because it may have succeeded', async () => {
    const { repository, said, connections } = await openedOn('git')
    const tree = await repository.writeTree([])
    const commit = await repository.writeCommit({ tree, parents: [], message: 'x', date: 0 })
    const push = repository.push([{ ref: 'refs/heads/optimize/x', from: null, to: commit }])
    await expect(push).rejects.toMatchObject({
      isPush: true,
      message: expect.stringMatching(/^cannot push to /),
    })
    // A busy machine may end it before it is connected.
    expect(connections()).toBeLessThanOrEqual(1)
    expect(said).toEqual([])
  })

  it('does not delay the end of an interrupted process', async () => {
    const abort = new AbortController()
    const env = { PATH, HOME: '/nonexistent' }
    const { repository, connected } = await openedOn('git', { env, interrupt: abort.signal })
    const refs = repository.remoteRefs()
    await connected
    const began = performance.now()
    abort.abort()
    await expect(refs).rejects.toThrow('git was ended with this process')
    expect(performance.now() - began).toBeLessThan(1900)
  })
})

function isRunning(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' })
  return /^[^Z\s]/.test(stdout)
}

describe('a push to a repository on this machine whose hook hangs', () => {
  it('ends with the hook', async () => {
    const remote = bareRemote()
    const { options } = opening(remote.dir)
    const patient = await openRepository({ ...options, env: { PATH } })
    const hasty = await openRepository(options)
    onTestFinished(async () => void (await Promise.all([patient.close(), hasty.close()])))
    const hook = join(remote.dir, 'hooks', 'pre-receive')
    mkdirSync(dirname(hook), { recursive: true })
    const pidFile = join(remote.dir, 'hook.pid')
    writeFileSync(hook, `#!/bin/sh\necho $$ >${pidFile}\nexec sleep 600\n`, { mode: 0o755 })
    const tree = await patient.writeTree([])
    const commit = await patient.writeCommit({ tree, parents: [], message: 'x', date: 0 })
    const update = { ref: 'refs/heads/optimize/x', from: null, to: commit }
    // On a busy machine a push is given up before its hook begins.
    for (let attempt = 0; attempt < 20 && !existsSync(pidFile); attempt++)
      await expect(hasty.push([update])).rejects.toMatchObject({ isPush: true })
    const pid = readFileSync(pidFile, 'utf8').trim()
    await expect.poll(() => isRunning(pid), { timeout: 60_000 }).toBe(false)
    rmSync(hook)
    expect(await patient.push([update])).toEqual({ ok: true })
  })
})

describe('the time-out', () => {
  it('is 60 seconds without WINNOW_REMOTE_TIMEOUT', () => {
    expect(readSilenceLimit({})).toBe(60)
    expect(readSilenceLimit({ WINNOW_REMOTE_TIMEOUT: '' })).toBe(60)
    expect(readSilenceLimit({ WINNOW_REMOTE_TIMEOUT: '300' })).toBe(300)
    for (const wrong of ['0', '-1', 'never', 'Infinity'])
      expect(() => readSilenceLimit({ WINNOW_REMOTE_TIMEOUT: wrong })).toThrow(UserError)
  })
})

describe('error output', () => {
  it('loses its progress displays', () => {
    const stderr = [
      'Enumerating objects: 5, done.',
      'Counting objects:  20% (1/5)\rCounting objects: 100% (5/5), done.',
      'Writing objects: 100% (3/3), 250 bytes | 250.00 KiB/s, done.',
      'Total 3 (delta 0), reused 0 (delta 0), pack-reused 0',
      'remote: Resolving deltas: 100% (1/1), done.        ',
      'remote: error: GH006: Protected branch update failed',
      "error: failed to push some refs to 'x'",
      '',
    ].join('\n')
    expect(stripProgress(stderr)).toBe(
      "remote: error: GH006: Protected branch update failed\nerror: failed to push some refs to 'x'\n",
    )
    expect(stripProgress('fatal: not our ref 123\n')).toBe('fatal: not our ref 123\n')
  })
})
