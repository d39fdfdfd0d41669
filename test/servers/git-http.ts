import { execFileSync, spawn } from 'node:child_process'
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

/** Started by itself: `git http-backend` would be a process more for every request. */
const BACKEND = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend')

/** Answers a request as git does. Resolves when git has ended, which can be after its client went away. */
export async function gitBackend(
  backend: Backend,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const key = greetingKey(backend, request, url)
  const known = key === null ? undefined : greetings.get(key)
  if (known) {
    writeHead(response, known.head)
    response.end(known.body)
    return
  }
  const served = fetchedFrom(backend, request, url)
  if (served !== null) return serveFetch(served, cgiEnvironment(backend, request, url), request, response)
  const child = spawn(BACKEND, [], { env: cgiEnvironment(backend, request, url) })
  request.pipe(child.stdin)
  child.stdin.on('error', () => request.unpipe())
  // A client that goes away in the middle of its request must not leave git waiting for the rest.
  request.on('close', () => child.stdin.end())
  child.stderr.resume()
  let head = Buffer.alloc(0)
  child.stdout.on('data', function onHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', onHead)
    const told = head.toString('latin1', 0, end)
    writeHead(response, told)
    const first = head.subarray(end + 4)
    response.write(first)
    if (key !== null) remember(key, told, [first], child.stdout)
    child.stdout.pipe(response)
  })
  // An answer without a reader would keep git from ending.
  response.on('close', () => child.stdout.resume())
  await once(child, 'close')
  if (!response.headersSent) response.writeHead(500)
  response.end()
}

/** The repository that a request fetches from; null for every other request. */
function fetchedFrom({ root }: Backend, { method, headers }: IncomingMessage, url: URL): string | null {
  const sends = headers['content-type'] === 'application/x-git-upload-pack-request'
  if (method !== 'POST' || !sends || !url.pathname.endsWith('/git-upload-pack')) return null
  return repositoryDirectory(root, url.pathname.replace(/\/git-upload-pack$/, ''))
}

/** Does what the backend does with a fetch, in one process instead of two. */
async function serveFetch(
  dir: string,
  env: Record<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const child = spawn('git', ['upload-pack', '--stateless-rpc', dir], { env })
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  body.on('error', () => child.stdin.end())
  body.pipe(child.stdin)
  child.stdin.on('error', () => body.unpipe())
  // A client that goes away in the middle of its request must not leave git waiting for the rest.
  request.on('close', () => {
    if (!request.complete) child.stdin.end()
  })
  child.stderr.resume()
  response.writeHead(200, {
    'Content-Type': 'application/x-git-upload-pack-result',
    'Cache-Control': 'no-cache, max-age=0, must-revalidate',
  })
  child.stdout.pipe(response)
  // An answer without a reader would keep git from ending.
  response.on('close', () => child.stdout.resume())
  await once(child, 'close')
}

/** As git finds it: with or without `.git` at the end. Null where there is none. */
function repositoryDirectory(root: string, path: string): string | null {
  const dir = join(root, decodeURIComponent(path))
  return [dir, `${dir}.git`].find(each => existsSync(join(each, 'config'))) ?? null
}

/** What git answers first in its protocol 2: what it can do, and nothing of what is in the repository. */
const greetings = new Map<string, { head: string; body: Buffer }>()

/** The repository as it is configured, where a request asks for no more than that; else null. */
function greetingKey({ root }: Backend, { method, headers }: IncomingMessage, url: URL): string | null {
  const asks = method === 'GET' && headers['git-protocol'] === 'version=2'
  if (!asks || url.search !== '?service=git-upload-pack') return null
  const dir = repositoryDirectory(root, url.pathname.replace(/\/info\/refs$/, ''))
  if (dir === null) return null
  const config = join(dir, 'config')
  return `${config} ${statSync(config).mtimeMs}`
}

function remember(key: string, head: string, chunks: Buffer[], rest: NodeJS.ReadableStream): void {
  if (/^status: (?!200)/im.test(head)) return
  rest.on('data', (chunk: Buffer) => chunks.push(chunk))
  rest.on('end', () => greetings.set(key, { head, body: Buffer.concat(chunks) }))
}

function cgiEnvironment({ root, user }: Backend, request: IncomingMessage, url: URL): Record<string, string> {
  const { headers } = request
  const gzip = headers['content-encoding']
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'http.receivepack',
    GIT_CONFIG_VALUE_0: 'true',
    GIT_CONFIG_KEY_1: 'safe.directory',
    GIT_CONFIG_VALUE_1: '*',
    // Nothing lives long enough here to be tidied up.
    GIT_CONFIG_KEY_2: 'receive.autogc',
    GIT_CONFIG_VALUE_2: 'false',
    GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    REMOTE_USER: user,
    REMOTE_ADDR: '127.0.0.1',
    REQUEST_METHOD: request.method ?? 'GET',
    PATH_INFO: decodeURIComponent(url.pathname),
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: headers['content-type'] ?? '',
    ...(headers['content-length'] === undefined ? {} : { CONTENT_LENGTH: headers['content-length'] }),
    ...(gzip === undefined ? {} : { HTTP_CONTENT_ENCODING: gzip }),
  }
}

function writeHead(response: ServerResponse, head: string): void {
  let status = 200
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()]
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.writeHead(status)
}
