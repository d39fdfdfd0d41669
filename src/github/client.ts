import { Octokit } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import type { z } from 'zod'
import { ForgeError, UserError } from '../errors.ts'
import { type Pacing, retryLostRaces } from '../ledger/retry.ts'
import type { Fetch } from '../ports.ts'
import { listGraphqlErrors, toForgeError } from './errors.ts'

// Client

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
  say: (line: string) => void
  /** Receives every request with its answer and duration. */
  debug?: (line: string) => void
  /** Timeouts and retries. Default: GitHub's own recommendations. */
  patience?: { timeoutMs?: number; throttle?: object; retry?: object }
}

export interface GithubClient {
  where: { owner: string; repo: string }
  web: Fetch
  timeoutMs: number
  /** Throws a ForgeError on failure. */
  request: Octokit['request']
  graphql(document: string, variables: Record<string, unknown>): Promise<unknown>
}

const TIMEOUT_MS = 30_000
/** A longer wait is left to the next job. */
const LONGEST_WAIT_S = 90
const Client = Octokit.plugin(throttling, retry)

export function createGithubClient(access: GithubAccess): GithubClient {
  const { apiUrl, token, version, web = fetch, patience = {} } = access
  requireSendable(token)
  const timeoutMs = patience.timeoutMs ?? TIMEOUT_MS
  const octokit = new Client({
    auth: token,
    baseUrl: apiUrl.replace(/\/+$/, ''),
    userAgent: `winnow/${version}`,
    log: { debug: ignoreLog, info: ignoreLog, warn: access.say, error: access.say },
    request: {
      fetch: (url: string, options: RequestInit) =>
        web(url, { ...options, signal: AbortSignal.timeout(timeoutMs) }),
    },
    throttle: {
      onRateLimit: (wait, options, _, tried) => canWait(access, wait, options, tried),
      onSecondaryRateLimit: (wait, options, _, tried) => canWait(access, wait, options, tried),
      ...patience.throttle,
    },
    // Only the throttle waits for rate limits.
    retry: { doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451], ...patience.retry },
  })
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
    request: octokit.request,
    graphql: (document, variables) => requestGraphql(octokit, document, variables),
  }
}

function ignoreLog(): void {}

/** A rate limit means that GitHub did not process the request, so it can be sent again. */
function canWait(
  { say }: GithubAccess,
  wait: number,
  { method, url }: { method: string; url: string },
  tried: number,
): boolean {
  const again = wait <= LONGEST_WAIT_S && tried < 2
  if (again) say(`GitHub asks to wait ${wait} s before ${method} ${url}`)
  return again
}

/** GraphQL reports a missing object as an error next to the data. Returns null for it, as the data does. */
async function requestGraphql(
  octokit: Octokit,
  document: string,
  variables: Record<string, unknown>,
): Promise<unknown> {
  try {
    return await octokit.graphql<unknown>(document, variables)
  } catch (error) {
    const errors = listGraphqlErrors(error)
    if (errors?.every(({ type }) => type === 'NOT_FOUND')) return getErrorData(error)
    // Every query and mutation concerns pull requests.
    const level = document.trimStart().startsWith('mutation') ? 'write' : 'read'
    throw toForgeError(error, 'POST /graphql', `pull_requests=${level}`)
  }
}

function getErrorData(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'data' in error ? error.data : null
}

function parseRepositoryName(repository: string): { owner: string; repo: string } {
  const [, owner = '', repo = ''] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? []
  if (repo === '')
    throw new ForgeError(`${JSON.stringify(repository)} is not the owner and name of a repository`)
  return { owner, repo }
}

// Requests

/** GitHub may briefly answer 404 for an object that exists. Accepts the second 404. */
export async function requestUnlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ForgeError) || error.detail.status !== 404) throw error
      if (attempt === 2) return null
    }
  }
}

/** A truncated answer arrives as text and is treated like a missing one. */
export function parseAnswer<T>(schema: z.ZodType<T>, answer: unknown, what: string): T {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const why = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is empty'
  throw new ForgeError(`GitHub's answer about ${what} cannot be understood (${why})`, { output: why })
}

type EtagAnswer = Awaited<ReturnType<Octokit['request']>>

const MAX_CACHED_ANSWERS = 200

/** Sends the ETag of the earlier answer. An unchanged answer does not count against the hourly rate limit. */
function cacheByEtag(octokit: Octokit): void {
  const known = new Map<string, { etag: string; answer: EtagAnswer }>()

  octokit.hook.wrap('request', async (request, options) => {
    if (options.method !== 'GET') return request(options)
    const { url } = octokit.request.endpoint(options)
    const before = known.get(url)
    if (before) options.headers['if-none-match'] = before.etag
    try {
      const answer = await request(options)
      const { etag } = answer.headers
      if (etag !== undefined && typeof answer.data === 'object') remember(url, etag, answer)
      return answer
    } catch (error) {
      if (before && isUnchanged(error)) return before.answer
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

// Retries and limits

/**
 * Retries after a broken connection or a busy server. The failed request may still have taken effect, so every
 * attempt checks before it repeats a write.
 */
export async function withRetries<T>(pacing: Pacing, work: (attempt: number) => Promise<T>): Promise<T> {
  let attempts = 0
  let failure: unknown
  const result = await retryLostRaces(pacing, async () => {
    try {
      return { done: true, value: await work(attempts++) }
    } catch (error) {
      failure = error
      throw error
    }
  })
  if (result.done) return result.value
  throw failure instanceof ForgeError ? failure : new ForgeError(result.why)
}

/** Long enough for one tick. A process that runs for hours starts a new period after it. */
const RUN_CACHE_MS = 5 * 60_000

export interface RateBudget {
  take(): boolean
}

export function createRateBudget(most: number, now: () => number): RateBudget {
  const current = cacheForRun(now, () => ({ left: most }))
  return {
    take() {
      const state = current()
      if (state.left === 0) return false
      state.left -= 1
      return true
    },
  }
}

export function cacheForRun<T>(now: () => number, make: () => T): () => T {
  let made: { value: T; until: number } | null = null
  return () => {
    const at = now()
    if (made === null || at >= made.until) made = { value: make(), until: at + RUN_CACHE_MS }
    return made.value
  }
}

/** Rejects other characters here, because an HTTP client would repeat the token in its error message. */
export function requireSendable(token: string): void {
  if (/^[!-~]+$/.test(token)) return
  throw new UserError('the token for GitHub holds characters that no token has', {
    fix: 'give it as it was made, without line breaks and blanks',
  })
}
