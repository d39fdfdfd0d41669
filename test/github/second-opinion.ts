import { Server } from 'node:net'
import { createEmulator } from 'emulate'
import { onTestFinished, vi } from 'vitest'
import { isJson, type Json } from './contract/describe.ts'
import { scene } from './scene.ts'

/** A GitHub of somebody's, with one repository: `main`, and `fast` and `slow` on top of it. */
export interface AnyGithub {
  ask: (who: Who, route: string, body?: unknown) => Promise<Answered>
  /** The commit of a branch. */
  tip: (branch: string) => Promise<string>
}

/** All but the last may write; the last may read. */
const LOGINS = ['ada', 'bob', 'rex'] as const
/** Or a workflow's job, which is bob where nobody knows of jobs; or no token at all. */
export type Who = (typeof LOGINS)[number] | 'job' | 'nobody'

export interface Answered {
  status: number
  body: Json
  list: Json[]
  /** Relations of the Link header, with the page each leads to. */
  links: Record<string, string>
}

export async function ourGithub(): Promise<AnyGithub> {
  const it = await scene()
  const tokens = Object.fromEntries(
    LOGINS.map(login => [login, it.github.token(login, { permission: login === 'rex' ? 'read' : 'write' })]),
  )
  tokens['job'] = it.github.jobToken({ checks: 'write', pull_requests: 'write' })
  for (const branch of ['fast', 'slow'])
    it.commit(branch, { [`${branch}.txt`]: `${branch}\n` }, [it.tip('main')])
  return {
    ask: (who, route, body) => asked(`${it.github.url}/api/v3`, tokens[who], route, body),
    tip: branch => Promise.resolve(it.tip(branch)),
  }
}

/** The one of the npm package `emulate`, which knows nothing of ours. */
export async function theirGithub(): Promise<AnyGithub> {
  const { url, stop } = await onLoopback()
  onTestFinished(stop)
  const ask: AnyGithub['ask'] = (who, route, body) =>
    asked(url, who === 'nobody' ? undefined : `token-of-${who === 'job' ? 'bob' : who}`, route, body)
  for (const login of LOGINS) {
    const permission = login === 'rex' ? 'pull' : 'push'
    await asked(url, 'token-of-team', `PUT /collaborators/${login}`, { permission })
  }
  const tip = async (branch: string) => {
    const { body } = await ask('ada', `GET /git/ref/heads/${branch}`)
    return isJson(body['object']) ? String(body['object']['sha']) : ''
  }
  const main = await tip('main')
  for (const branch of ['fast', 'slow']) {
    await ask('ada', 'POST /git/refs', { ref: `refs/heads/${branch}`, sha: main })
    const content = Buffer.from(`${branch}\n`).toString('base64')
    await ask('ada', `PUT /contents/${branch}.txt`, { message: branch, content, branch })
  }
  return { ask, tip }
}

/** It would listen everywhere, at a port that has to be known before. */
async function onLoopback(): Promise<{ url: string; stop: () => Promise<void> }> {
  const opened: Server[] = []
  const listen: unknown = Reflect.get(Server.prototype, 'listen')
  if (typeof listen !== 'function') throw new Error('servers do not listen here')
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    opened.push(this)
    return Reflect.apply(listen, this, [0, '127.0.0.1'])
  })
  try {
    const users = ['team', ...LOGINS].map(login => ({ login }))
    const emulator = await createEmulator({
      service: 'github',
      baseUrl: 'http://emulated.invalid',
      seed: {
        tokens: Object.fromEntries(
          users.map(({ login }) => [`token-of-${login}`, { login, scopes: ['repo'] }]),
        ),
        github: { users, repos: [{ owner: 'team', name: 'project', auto_init: true }] },
      },
    })
    const [server] = opened
    if (!server) throw new Error('it opened no server')
    if (!server.listening) await new Promise<void>(resolve => server.once('listening', () => resolve()))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('it has no port')
    return { url: `http://127.0.0.1:${address.port}`, stop: () => emulator.close() }
  } finally {
    spy.mockRestore()
  }
}

async function asked(
  url: string,
  token: string | undefined,
  route: string,
  body: unknown,
): Promise<Answered> {
  const [method = '', path = ''] = route.split(' ')
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/repos/team/project${path}`, {
    method,
    headers: { ...authorization, connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const told: unknown = text === '' ? {} : JSON.parse(text)
  const links = [...(response.headers.get('link') ?? '').matchAll(/[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)]
  return {
    status: response.status,
    body: isJson(told) ? told : {},
    list: Array.isArray(told) ? told.filter(isJson) : [],
    links: Object.fromEntries(links.map(([, page = '', rel = '']) => [rel, page])),
  }
}
