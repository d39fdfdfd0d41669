import { ForgeError } from '../errors.ts'

interface ClientFailure {
  status?: number
  message: string
  headers: Readonly<Record<string, string | number | undefined>>
}

const UNNAMED_PERMISSION = 'a permission, and GitHub does not say which'
const PULLS_SETTING = 'Allow GitHub Actions to create and approve pull requests'

/**
 * Turns a GitHub error into a ForgeError that names the missing permission, the rule or the setting. `needs` is
 * the permission of a GraphQL request, which GraphQL itself does not name.
 */
export function toForgeError(error: unknown, request: string, needs?: string): ForgeError {
  if (error instanceof ForgeError) return error
  const failure = parseClientFailure(error)
  const { status, headers, message } = failure
  const requestId = headers['x-github-request-id']
  const rule = findFailureRule(failure, needs)
  const detail = {
    output: message,
    ...(status === undefined ? {} : { status }),
    ...(requestId === undefined ? {} : { requestId: String(requestId) }),
    ...(rule === null ? {} : { rule }),
  }
  const isRejected = status !== undefined && status < 500
  const action = isRejected ? `rejected ${request} (${status})` : `did not answer ${request}`
  return new ForgeError(`GitHub ${action}: ${explainFailure(failure, rule)}`, detail)
}

function parseClientFailure(error: unknown): ClientFailure {
  const message = error instanceof Error ? error.message : String(error)
  if (typeof error !== 'object' || error === null) return { message, headers: {} }
  const response = 'response' in error ? error.response : undefined
  const headers = getHeaders(response) ?? getHeaders(error) ?? {}
  // Without a response, Octokit makes up the status: the request may or may not have arrived.
  const answered = response !== undefined && 'status' in error && typeof error.status === 'number'
  const status = answered ? Number(error.status) : toGraphqlStatus(error)
  return { message, headers, ...(status === null ? {} : { status }) }
}

const STATUS: Readonly<Record<string, number>> = {
  RATE_LIMITED: 429,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPES: 403,
  NOT_FOUND: 404,
  UNPROCESSABLE: 422,
}

/** The status that REST would have used. An error without a type is an internal failure of GitHub. */
function toGraphqlStatus(error: object): number | null {
  const errors = listGraphqlErrors(error)
  if (errors === null || errors.length === 0) return null
  const known = errors.map(({ type }) => STATUS[String(type)] ?? 502)
  return known.includes(429) ? 429 : Math.max(...known)
}

/** Reads the errors of an Octokit exception. Rate limit errors hold the whole answer. */
export function listGraphqlErrors(error: unknown): { type: unknown }[] | null {
  if (typeof error !== 'object' || error === null) return null
  const answer = 'errors' in error ? error : 'data' in error ? error.data : null
  if (typeof answer !== 'object' || answer === null || !('errors' in answer)) return null
  const list: unknown = answer.errors
  if (!Array.isArray(list)) return null
  return list.map(({ type }: { type?: unknown }) => ({ type }))
}

function getHeaders(value: unknown): ClientFailure['headers'] | null {
  if (typeof value !== 'object' || value === null || !('headers' in value)) return null
  const { headers } = value
  return typeof headers === 'object' && headers !== null ? { ...headers } : null
}

function findFailureRule(
  { status, message, headers }: ClientFailure,
  needs: string | undefined,
): string | null {
  if (/not permitted to create or approve pull requests/.test(message)) return PULLS_SETTING
  const needed = headers['x-accepted-github-permissions'] ?? needs
  if (/not accessible by (?:integration|personal access token)/.test(message)) {
    return needed === undefined ? UNNAMED_PERMISSION : formatPermissions(String(needed))
  }
  if (status !== 422 && status !== 403 && status !== 405) return null
  return /rule violations?|protected branch|\bGH\d{3}\b/i.exec(message) ? message : null
}

/** Example: `pull_requests=write; issues=write`. */
function formatPermissions(needed: string): string {
  return needed
    .split(/;\s*/)
    .map(each => each.replaceAll('_', '-').replaceAll('=', ': ').replaceAll(',', ' and '))
    .join(' or ')
}

function explainFailure({ status, message, headers }: ClientFailure, rule: string | null): string {
  if (rule === PULLS_SETTING)
    return `the repository forbids it. Turn on "${PULLS_SETTING}" in Settings > Actions > General`
  if (rule === UNNAMED_PERMISSION)
    return `the token lacks ${rule}. winnow init --github writes the permissions of each job into the workflow`
  if (rule !== null && rule !== message) return `the token lacks ${rule}. Give the job that permission`
  if (status === 401)
    return 'the token is expired, revoked or for another server. Rerun the job to get a new token; if the token is a secret of the repository, renew it'
  if (status === 429 || isLimit(message)) return `${message.split('\n')[0]}${describeRetryTime(headers)}`
  if (status === 404) return `it does not exist, or the token may not read it (${message})`
  return message
}

function isLimit(message: string): boolean {
  return /rate limit/i.test(message)
}

function describeRetryTime(headers: ClientFailure['headers']): string {
  const wait = headers['retry-after']
  if (wait !== undefined) return `. Retry after ${wait} s`
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] !== '0' || !Number.isFinite(reset)) return ''
  return `. More requests are allowed from ${new Date(reset * 1000).toISOString()}`
}
