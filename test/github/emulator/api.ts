import { createHash } from 'node:crypto'
import { answerWrongs, requestWrongs, schemaOfAnswer } from '../contract/certify.ts'
import { complete } from '../contract/complete.ts'
import { isJson, type Operation, operationOf } from '../contract/describe.ts'
import { actionRoutes } from './action-routes.ts'
import { checkRoutes } from './check-routes.ts'
import { answerGraphql } from './graphql.ts'
import { issueRoutes } from './issue-routes.ts'
import { pullRoutes } from './pull-routes.ts'
import { otherRoutes } from './other-repositories.ts'
import { Refusal } from './refusal.ts'
import { repositoryRoutes } from './repository-routes.ts'
import { type Answer, type Ask, Fields, type Route, type Routes } from './route.ts'
import { settingsRoutes } from './settings-routes.ts'
import type { Account, World } from './world.ts'

const ROUTES: Routes = {
  ...pullRoutes,
  ...issueRoutes,
  ...checkRoutes,
  ...actionRoutes,
  ...repositoryRoutes,
  ...settingsRoutes,
}

export interface Incoming {
  method: string
  path: string
  query: Record<string, string>
  headers: Readonly<Record<string, string | undefined>>
  body: unknown
}

/** One exchange as it went over the wire. */
export interface Entry {
  route: string
  path: string
  body: unknown
  who: string
  /** Of whose job the token is. */
  run: number | null
  status: number
  /** A 304 costs nothing. */
  free: boolean
}

export interface Api {
  answer(incoming: Incoming): Promise<Answer>
  log: Entry[]
  /** Exchanges that GitHub's own description does not allow: any is a failed test. */
  violations: string[]
  /** Answers instead of GitHub, where a test says so. */
  intercept: ((incoming: Incoming, route: string) => Answer | null) | null
}

const GRAPHQL = 'POST /graphql'
const DOCUMENTATION = 'https://docs.github.com/rest'

export function apiOf(world: World): Api {
  const api: Api = { answer, log: [], violations: [], intercept: null }
  let used = 0

  async function answer(incoming: Incoming): Promise<Answer> {
    const found = operationOf(incoming.method, incoming.path)
    const isGraphql = incoming.method === 'POST' && incoming.path === '/graphql'
    const route = isGraphql ? GRAPHQL : (found?.operation.route ?? `${incoming.method} ${incoming.path}`)
    if (!found && !isGraphql) api.violations.push(`${route} is none of the operations in fixtures/github`)
    const who = accountIn(world, incoming)
    const plain = await orRefusal(async () => {
      const instead = api.intercept?.(incoming, route)
      if (instead) return instead
      if (!who) throw new Refusal(401, 'Bad credentials')
      requireAllowance()
      if (isGraphql) return graphql(who, incoming)
      if (!found) throw new Refusal(404, 'Not Found')
      return rest(found.operation, { ...incoming, params: found.params, who })
    })
    const result = found ? certified(found.operation, plain) : plain
    const sent = conditional(incoming, result)
    const free = sent.status === 304
    if (!free) used++
    api.log.push({
      route,
      path: incoming.path,
      body: incoming.body,
      who: who?.login ?? '',
      run: who?.run ?? null,
      status: sent.status,
      free,
    })
    return { ...sent, headers: { ...rateHeaders(), ...sent.headers } }
  }

  function requireAllowance(): void {
    if (used < world.settings.allowance) return
    throw new Refusal(403, 'API rate limit exceeded for installation ID 1.')
  }

  function rateHeaders(): Record<string, string> {
    const { allowance } = world.settings
    const left = Math.max(0, allowance - used)
    return {
      'x-ratelimit-limit': String(allowance),
      'x-ratelimit-remaining': String(left),
      'x-ratelimit-used': String(used),
      'x-ratelimit-reset': String(Math.floor(Date.now() / 1000) + 3600),
      'x-ratelimit-resource': 'core',
      ...(world.settings.tellsTime ? { date: new Date(world.clock).toUTCString() } : {}),
      'x-github-request-id': `E${(used * 7919).toString(16).toUpperCase()}:${api.log.length}`,
    }
  }

  async function graphql(who: Account, { body }: Incoming): Promise<Answer> {
    const { query, variables } = isJson(body) ? body : {}
    if (typeof query !== 'string') throw new Refusal(400, 'A query attribute must be specified')
    const question = { query, variables: isJson(variables) ? variables : {} }
    const answered = await answerGraphql(world, who, question)
    api.violations.push(...answered.wrongs)
    return { status: 200, body: answered.body }
  }

  async function rest(
    operation: Operation,
    { query, body, params, who }: Incoming & Pick<Ask, 'params' | 'who'>,
  ): Promise<Answer> {
    const wrongs = requestWrongs(operation, { query, body })
    if (wrongs.length > 0) {
      api.violations.push(...wrongs)
      throw new Refusal(422, `Invalid request. ${wrongs.join('; ')}`)
    }
    const other = otherRoutes[operation.route]
    if (other !== undefined && world.others.has(`${params['owner']}/${params['repo']}`)) {
      return other.handle({ params, query, body: new Fields(body), who, world })
    }
    const route = ROUTES[operation.route]
    if (!route) throw new Error(`this GitHub does not do ${operation.route} yet`)
    const here = params['org'] ?? params['owner'] ?? ''
    const isFork = operation.route.endsWith('/activity') && world.forks.has(here)
    if ((here !== world.owner && !isFork) || (params['repo'] ?? world.repo) !== world.repo)
      throw new Refusal(404, 'Not Found')
    requirePermission(route, operation.route, who)
    return route.handle({ params, query, body: new Fields(body), who, world })
  }

  function certified(operation: Operation, plain: Answer): Answer {
    const schema = schemaOfAnswer(operation, plain.status)
    const isFault = plain.status >= 500
    const body = schema === null || isFault ? plain.body : complete(schema, plain.body)
    if (!isFault) api.violations.push(...answerWrongs(operation, plain.status, body))
    return { ...plain, body }
  }

  return api
}

async function orRefusal(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { status, message, extra, headers } = error
    return { status, headers, body: { message, documentation_url: DOCUMENTATION, ...extra } }
  }
}

function accountIn(world: World, { headers }: Incoming): Account | null {
  const token = /^(?:token|bearer) (.+)$/i.exec(headers['authorization'] ?? '')?.[1]
  const account = (token && world.accounts.get(token)) || null
  return account?.ended === true ? null : account
}

/** Whoever cannot even read is told that there is nothing. */
function requirePermission({ needs, push }: Route, route: string, who: Account): void {
  if (who.grants !== null) {
    if (needs.split('; ').some(one => isGranted(who.grants ?? {}, one))) return
    const headers = { 'x-accepted-github-permissions': needs }
    throw new Refusal(403, 'Resource not accessible by integration', {}, headers)
  }
  if (who.permission === 'none') throw new Refusal(404, 'Not Found')
  if (push === true && who.permission === 'read')
    throw new Refusal(route.includes('/actions/') ? 403 : 404, 'Must have push access to this repository.')
}

function isGranted(grants: Record<string, string>, needed: string): boolean {
  const [scope = '', level = ''] = needed.split('=')
  const grant = grants[scope] ?? (scope === 'metadata' ? 'read' : 'none')
  return grant === 'write' || grant === level
}

function conditional({ method, headers }: Incoming, answer: Answer): Answer {
  if (method !== 'GET' || answer.status !== 200) return answer
  const etag = `W/"${createHash('sha256').update(JSON.stringify(answer.body)).digest('hex').slice(0, 32)}"`
  if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
  return { ...answer, headers: { ...answer.headers, etag } }
}
