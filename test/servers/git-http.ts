import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { listening } from './loopback.ts'

/** git's own smart-HTTP backend on loopback: a real remote with pushes, shallow clones, hooks and 401s. */
export interface GitServer {
  /** of a repository below the root */
  url(name: string): string
  /** the environment that carries these credentials, as the action passes them */
  credentials(): Record<string, string>
  requests: number
  stop(): Promise<void>
  /** After a stop, at the same address. */
  back(): Promise<void>
}

export interface GitServerOptions {
  root: string
  /** 'user:password'; anything else gets 401 */
  auth?: string
  /** answers before git does: a status to fail with, or null to go on */
  fault?: (request: IncomingMessage) => number | null
}

export async function gitServer(options: GitServerOptions): Promise<GitServer> {
  const sockets = new Set<Socket>()
  const state = { requests: 0 }
  const server = createServer((request, response) => {
    state.requests++
    answer(options, request, response)
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listening(server)
  const base = `http://127.0.0.1:${port}`
  return {
    url: name => `${base}/${name}`,
    credentials: () => basicCredentials(base, options.auth ?? ''),
    get requests() {
      return state.requests
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      if (!server.listening) return
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
    back: () => new Promise(resolve => server.listen(port, '127.0.0.1', resolve)),
  }
}

function basicCredentials(base: string, auth: string): Record<string, string> {
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `http.${base}/.extraheader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(auth).toString('base64')}`,
  }
}

function answer(options: GitServerOptions, request: IncomingMessage, response: ServerResponse): void {
  const fault = options.fault?.(request) ?? null
  if (fault !== null) {
    response.writeHead(fault).end()
    return
  }
  if (options.auth !== undefined && request.headers.authorization !== basicHeader(options.auth)) {
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end('unauthorized')
    return
  }
  void gitBackend({ root: options.root, user: options.auth?.split(':')[0] ?? 'anonymous' }, request, response)
}

function basicHeader(auth: string): string {
  return `Basic ${Buffer.from(auth).toString('base64')}`
}

export interface Backend {
  root: string
  /** What hooks are told of whoever sends. */
  user: string
}

/**
 * Answers a request as `git http-backend` does, which would be two processes more. Resolves when git has ended, which
 * can be after its client went away.
 */
export async function gitBackend(
  backend: Backend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = readService(backend, request)
  if (asked === null) return void response.writeHead(404).end()
  const { service, dir, advertises } = asked
  const head = {
    'Content-Type': `application/x-git-${service}-${advertises ? 'advertisement' : 'result'}`,
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  }
  const version = String(request.headers['git-protocol'] ?? '')
  // Protocol 2 begins with what git can do, whatever is in the repository.
  const isGreeting = advertises && service === 'upload-pack' && version === 'version=2'
  const greetingKey = isGreeting ? `${dir} ${statSync(join(dir, 'config')).mtimeMs}` : ''
  const greeting = greetings.get(greetingKey)
  if (greeting !== undefined) return void response.writeHead(200, head).end(greeting)

  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  const options = ['--stateless-rpc', ...(advertises ? ['--http-backend-info-refs'] : [])]
  const child = spawn('git', [service, ...options, dir], { env: gitEnvironment(backend, version) })
  body.on('error', () => child.stdin.end())
  body.pipe(child.stdin)
  child.stdin.on('error', () => body.unpipe())
  // A client that goes away in the middle of its request must not leave git waiting for the rest.
  request.on('close', () => {
    if (!request.complete) child.stdin.end()
  })
  child.stderr.resume()
  response.writeHead(200, head)
  const title = `# service=git-${service}\n`
  const first = `${(title.length + 4).toString(16).padStart(4, '0')}${title}0000`
  if (advertises && version !== 'version=2') response.write(first)
  const chunks: Buffer[] = []
  if (isGreeting) child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stdout.pipe(response)
  // An answer without a reader would keep git from ending.
  response.on('close', () => child.stdout.resume())
  await once(child, 'close')
  if (isGreeting && child.exitCode === 0) greetings.set(greetingKey, Buffer.concat(chunks))
}

const greetings = new Map<string, Buffer>()

interface AskedService {
  service: 'upload-pack' | 'receive-pack'
  dir: string
  /** The first request of a connection: what the server has. */
  advertises: boolean
}

/** Null for what git does not serve. */
function readService({ root }: Backend, { method, url: target }: IncomingMessage): AskedService | null {
  const url = new URL(target ?? '/', 'http://127.0.0.1')
  const advertises = method === 'GET'
  const name = advertises ? url.searchParams.get('service') : url.pathname.split('/').at(-1)
  const service = (['upload-pack', 'receive-pack'] as const).find(each => name === `git-${each}`)
  const dir = repositoryDirectory(root, url.pathname.replace(/\/(?:info\/refs|git-[a-z]+-pack)$/, ''))
  return service === undefined || dir === null ? null : { service, dir, advertises }
}

/** As git finds it: with or without `.git` at the end. Null where there is none. */
function repositoryDirectory(root: string, path: string): string | null {
  const dir = join(root, decodeURIComponent(path))
  return [dir, `${dir}.git`].find(each => existsSync(join(each, 'config'))) ?? null
}

function gitEnvironment({ user }: Backend, version: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    // Nothing lives long enough here to be tidied up.
    GIT_CONFIG_KEY_1: 'receive.autogc',
    GIT_CONFIG_VALUE_1: 'false',
    GIT_PROTOCOL: version,
    REMOTE_USER: user,
    GIT_COMMITTER_NAME: user,
    GIT_COMMITTER_EMAIL: `${user}@http.127.0.0.1`,
  }
}
