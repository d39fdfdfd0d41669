import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { gitBackend } from '../../servers/git-http.ts'
import type { Api } from './api.ts'
import { settle } from './settle.ts'
import type { Account, World } from './world.ts'
import { listening } from '../../servers/loopback.ts'

export interface Server {
  url: string
  /** Takes in what pushes did, after everything that was asked for before. */
  settle(): Promise<void>
  stop(): Promise<void>
}

const API = '/api/v3'
const GRAPHQL = '/api/graphql'

/** One address for everything, laid out as a GitHub Enterprise Server does it. */
export async function serve(world: World, api: Api, root: string): Promise<Server> {
  const sockets = new Set<Socket>()
  const pushes = new Set<Promise<void>>()
  let last: Promise<unknown> = Promise.resolve()
  let pusher: Account | null = null
  let stopped = false

  /** One thing after another: what a push did is seen by whoever asks next. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }

  async function settled(): Promise<void> {
    // Who sent it may be gone, and the test with it.
    if (!stopped) await settle(world, pusher)
  }

  async function answerApi(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const text = await bodyOf(request)
    const path = url.pathname === GRAPHQL ? '/graphql' : url.pathname.slice(API.length)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
    )
    const query = Object.fromEntries(url.searchParams)
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const answer = await inTurn(async () => {
      await settled()
      return api.answer({ method: request.method ?? 'GET', path, query, headers, body })
    })
    response.writeHead(answer.status, {
      'content-type': 'application/json; charset=utf-8',
      ...answer.headers,
    })
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body))
  }

  function answerGit(request: IncomingMessage, response: ServerResponse): void {
    const account = accountOf(world, request)
    if (!account) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="GitHub"' }).end('unauthorized')
      return
    }
    const isPush = request.url?.includes('git-receive-pack') === true
    if (isPush && !mayPush(account)) {
      response
        .writeHead(403)
        .end(`Permission to ${world.owner}/${world.repo}.git denied to ${account.login}.`)
      return
    }
    const user = mayBringWorkflows(account) ? account.login : 'actions'
    const answered = gitBackend({ root, user }, request, response)
    if (request.method === 'POST' && isPush) takePush(account, answered)
    else answered.catch(noteBreak)
  }

  /** Settles after the push, also where its client did not wait for the answer. */
  function takePush(account: Account, answered: Promise<void>): void {
    pusher = account
    const taken: Promise<void> = answered
      .then(() => inTurn(settled))
      .catch(noteBreak)
      .finally(() => {
        pushes.delete(taken)
        if (pusher === account) pusher = null
      })
    pushes.add(taken)
  }

  function noteBreak(error: unknown): void {
    api.violations.push(`the emulated GitHub broke: ${error instanceof Error ? error.stack : String(error)}`)
  }

  function answerArtifact(request: IncomingMessage, response: ServerResponse, id: number): void {
    const found = world.artifacts.find(each => each.id === id)
    if (request.headers.authorization !== undefined || !found) {
      response.writeHead(found ? 400 : 404).end('InvalidAuthenticationInfo')
      return
    }
    response.writeHead(200, { 'content-type': 'application/zip' }).end(found.bytes)
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1')
    const artifact = /^\/_artifacts\/(\d+)$/.exec(url.pathname)?.[1]
    if (artifact !== undefined) return answerArtifact(request, response, Number(artifact))
    if (url.pathname !== GRAPHQL && !url.pathname.startsWith(`${API}/`)) return answerGit(request, response)
    return void answerApi(request, response, url).catch((error: unknown) => {
      noteBreak(error)
      response.destroy()
    })
  })
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const port = await listening(server)
  return {
    url: `http://127.0.0.1:${port}`,
    async settle() {
      do {
        await Promise.all(pushes)
        await inTurn(settled)
      } while (pushes.size > 0)
    },
    async stop() {
      stopped = true
      for (const socket of sockets) socket.destroy()
      await Promise.all(pushes)
      await last
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

function mayPush({ grants, permission }: Account): boolean {
  if (grants !== null) return grants['contents'] === 'write'
  return permission === 'write' || permission === 'admin'
}

/** A job's own token never, an App's by a right of its own. */
function mayBringWorkflows({ kind, grants }: Account): boolean {
  return kind === 'person' || (kind === 'app' && grants?.['workflows'] === 'write')
}

function accountOf(world: World, { headers }: IncomingMessage): Account | null {
  const encoded = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  const [, token = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  const account = world.accounts.get(token) ?? null
  return account?.ended === true ? null : account
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}
