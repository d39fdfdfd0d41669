import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listening } from './loopback.ts'

export interface WebProxy {
  /** Of nobody, or of whoever `who` says. */
  url(who?: string): string
  /** What it was asked for, in order: `CONNECT host:port`, or a method and a whole address without its query. */
  asked: string[]
  /** Names that nobody knows but this proxy, with where they are. */
  hosts: Record<string, { host: string; port: number }>
}

/**
 * A proxy as stands before the network of a company: tunnels for https, whole addresses for http, and nothing for
 * whoever does not say who they are.
 */
export async function webProxy(user?: string): Promise<WebProxy> {
  const sockets = new Set<Socket>()
  const proxy: WebProxy = { url: () => '', asked: [], hosts: {} }
  const wanted = user === undefined ? undefined : `Basic ${Buffer.from(user).toString('base64')}`
  const mayPass = ({ headers }: IncomingMessage) =>
    wanted === undefined || headers['proxy-authorization'] === wanted

  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '')
    proxy.asked.push(`${incoming.method} ${url.origin}${url.pathname}`)
    if (!mayPass(incoming)) return void outgoing.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
    passOn(proxy, { url, incoming, outgoing })
  })
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    proxy.asked.push(`CONNECT ${incoming.url}`)
    const target = proxy.hosts[(incoming.url ?? '').replace(/:\d+$/, '')]
    if (target === undefined || !mayPass(incoming)) {
      socket.end(`HTTP/1.1 ${target === undefined ? '502 Bad Gateway' : '407 Who Are You'}\r\n\r\n`)
      return
    }
    const there = connect(target, () => socket.write('HTTP/1.1 200 Connection established\r\n\r\n'))
    sockets.add(there)
    there.on('error', () => socket.destroy())
    socket.on('error', () => there.destroy())
    socket.pipe(there).pipe(socket)
  })
  server.on('connection', socket => sockets.add(socket))
  const port = await listening(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise(resolve => server.close(() => resolve()))
  })
  proxy.url = who => `http://${who === undefined ? '' : `${who}@`}127.0.0.1:${port}`
  return proxy
}

interface Exchange {
  url: URL
  incoming: IncomingMessage
  outgoing: ServerResponse
}

function passOn({ hosts }: WebProxy, { url, incoming, outgoing }: Exchange): void {
  const { 'proxy-authorization': _, ...headers } = incoming.headers
  const target = hosts[url.hostname]
  if (target === undefined) return void outgoing.writeHead(502).end()
  const asked = { ...target, method: incoming.method, path: `${url.pathname}${url.search}`, headers }
  const there = request(asked, answer => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  there.on('error', () => outgoing.destroy())
  incoming.pipe(there)
}
