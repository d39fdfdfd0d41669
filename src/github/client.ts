import { getOctokit } from '@actions/github'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import type { Octokit } from '@octokit/rest'
import { ForgeError, UserError } from '../errors.ts'
import type { Fetch } from '../ports.ts'
import { listGraphqlErrors, toForgeError } from './errors.ts'
import type { GithubClock } from './github-clock.ts'

export interface GithubAccess {
  /** `GITHUB_API_URL`: https://api.github.com, or an Enterprise Server's …/api/v3. */
  apiUrl: string
  /** `GITHUB_REPOSITORY`: owner/name. */
  repository: string
  token: string
  /** winnow's version, for the user agent. */
  version: string
  /** Default: direct requests. */
  web?: Fetch
  /** Is set right by the time of each answer. */
  clock?: GithubClock
  say: (line: string) => void
  /** Receives every request with its answer and duration. */
  debug?: (line: string) => void
  /** Timeouts and retries. Default: GitHub's own recommendations. */
  patience?: { timeoutMs?: number; throttle?: object; retry?: object }
}

/** Every failed request throws a ForgeError. */
export interface GithubClient extends Pick<Octokit, 'rest' | 'paginate'> {
  where: { owner: string; repo: string }
  web: Fetch
  timeoutMs: number
  graphql(document: string, variables: Record<string, unknown>): Promise<unknown>
}

const TIMEOUT_MS = 30_000
/** A longer wait is left to the next job. */
const LONGEST_WAIT_S = 90

export function createGithubClient(access: GithubAccess): GithubClient {
  const { apiUrl, token, version, web = fetch, patience = {} } = access
  requireSendable(token)
  const timeoutMs = patience.timeoutMs ?? TIMEOUT_MS
  const options = {
    baseUrl: apiUrl.replace(/\/+$/, ''),
    userAgent: `winnow/${version}`,
    log: { debug: () => undefined, info: () => undefined, warn: access.say, error: access.say },
    request: {
      fetch(url: string, options: RequestInit) {
        const request = () => web(url, { ...options, signal: AbortSignal.timeout(timeoutMs) })
        return access.clock === undefined ? request() : access.clock.follow(request)
      },
    },
    throttle: {
      onRateLimit: canWait,
      onSecondaryRateLimit: canWait,
      ...patience.throttle,
    },
    // Only the throttle waits for rate limits.
    retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451], ...patience.retry },
  }
  const octokit = getOctokit(token, options, throttling, retry)
  cacheByEtag(octokit)
  octokit.hook.before('request', options => {
    // A repeated write could happen twice. The caller retries after looking at the current state.
    const isRead = options.method === 'GET' || options.url.endsWith('/graphql')
    if (!isRead) Object.assign(options.request, { retries: 0 })
  })
  octokit.hook.wrap('request', async (request, options) => {
    const { method, url } = octokit.request.endpoint(options)
    const label = `${method} ${new URL(url).pathname}`
    const began = performance.now()
    const tell = (how: string) =>
      access.debug?.(`${label} ${how}, ${Math.round(performance.now() - began)} ms`)
    try {
      const answer = await request(options)
      tell(String(answer.status))
      requireWholeAnswer(label, answer)
      return answer
    } catch (error) {
      tell('failed')
      throw toForgeError(error, label)
    }
  })
  return {
    where: parseRepositoryName(access.repository),
    web,
    timeoutMs,
    rest: octokit.rest,
    paginate: octokit.paginate,
    graphql: (document, variables) => requestGraphql(octokit, document, variables),
  }

  /** A rate limit means that GitHub did not process the request, so it can be sent again. */
  function canWait(
    wait: number,
    { method, url }: { method: string; url: string },
    _: unknown,
    tried: number,
  ): boolean {
    const again = wait <= LONGEST_WAIT_S && tried < 2
    if (again) access.say(`GitHub asks to wait ${wait} s before ${method} ${url}`)
    return again
  }
}

/** Octokit returns JSON that was cut off in transit as text, with status 200. */
function requireWholeAnswer(label: string, { status, data }: { status: number; data: unknown }): void {
  if ((status !== 200 && status !== 201) || typeof data !== 'string') return
  throw new ForgeError(`GitHub's answer to ${label} is incomplete`, { output: 'the answer is no JSON' })
}

/** GraphQL reports a missing object as an error next to the data. Returns null for it, as the data does. */
async function requestGraphql(
  octokit: Pick<Octokit, 'graphql'>,
  document: string,
  variables: Record<string, unknown>,
): Promise<unknown> {
  try {
    return await octokit.graphql<unknown>(document, variables)
  } catch (error) {
    const errors = listGraphqlErrors(error)
    if (errors?.every(({ type }) => type === 'NOT_FOUND'))
      return typeof error === 'object' && error !== null && 'data' in error ? error.data : null
    // Every query and mutation concerns pull requests.
    const level = document.trimStart().startsWith('mutation') ? 'write' : 'read'
    throw toForgeError(error, 'POST /graphql', `pull_requests=${level}`)
  }
}

function parseRepositoryName(repository: string): { owner: string; repo: string } {
  const [, owner = '', repo = ''] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? []
  if (repo === '')
    throw new ForgeError(`${JSON.stringify(repository)} is not the owner and name of a repository`)
  return { owner, repo }
}

type EtagAnswer = Awaited<ReturnType<Octokit['request']>>

const MAX_CACHED_ANSWERS = 200

/**
 * Sends the ETag of the earlier answer. An unchanged answer does not count against the hourly rate limit. Returns
 * copies, because `paginate` changes the answers that it is given.
 */
function cacheByEtag(octokit: Pick<Octokit, 'hook' | 'request'>): void {
  const known = new Map<string, { etag: string; answer: EtagAnswer }>()

  octokit.hook.wrap('request', async (request, options) => {
    if (options.method !== 'GET') return request(options)
    const { url } = octokit.request.endpoint(options)
    const before = known.get(url)
    if (before) options.headers['if-none-match'] = before.etag
    try {
      const answer = await request(options)
      const { etag } = answer.headers
      if (etag !== undefined && typeof answer.data === 'object') remember(url, etag, structuredClone(answer))
      return answer
    } catch (error) {
      if (before && isUnchanged(error)) return structuredClone(before.answer)
      throw error
    }
  })

  function remember(url: string, etag: string, answer: EtagAnswer): void {
    known.delete(url)
    known.set(url, { etag, answer })
    const [oldest] = known.keys()
    if (known.size > MAX_CACHED_ANSWERS && oldest !== undefined) known.delete(oldest)
  }
}

function isUnchanged(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 304
}

/** Rejects other characters here, because an HTTP client would repeat the token in its error message. */
export function requireSendable(token: string): void {
  if (/^[!-~]+$/.test(token)) return
  throw new UserError('the token for GitHub holds characters that no token has', {
    fix: 'give the token without line breaks and spaces',
  })
}
