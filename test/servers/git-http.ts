import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
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
  gitBackend({ root: options.root, user: options.auth?.split(':')[0] ?? 'anonymous' }, request, response)
}

function basicHeader(auth: string): string {
  return `Basic ${Buffer.from(auth).toString('base64')}`
}

export interface Backend {
  root: string
  /** What hooks are told of whoever sends. */
  user: string
}

export function gitBackend(backend: Backend, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  const child = spawn('git', ['http-backend'], { env: cgiEnvironment(backend, request, url) })
  request.pipe(child.stdin)
  child.stdin.on('error', () => request.unpipe())
  child.stderr.resume()
  let head = Buffer.alloc(0)
  child.stdout.on('data', function onHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', onHead)
    writeHead(response, head.toString('latin1', 0, end))
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  })
  child.on('close', () => {
    if (!response.headersSent) response.writeHead(500)
    response.end()
  })
}

function cgiEnvironment({ root, user }: Backend, request: IncomingMessage, url: URL): Record<string, string> {
  const { headers } = request
  const gzip = headers['content-encoding']
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'http.receivepack',
    GIT_CONFIG_VALUE_0: 'true',
    GIT_CONFIG_KEY_1: 'safe.directory',
    GIT_CONFIG_VALUE_1: '*',
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
