import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { type GithubAccess, type GithubClient, githubClient, understood } from './client.ts'

/** What a token may find out about a repository; null where it may not. */
export interface Examination {
  permissions: Readonly<Record<string, boolean>> | null
  /** Of a classic token, as it tells them; null for any other. */
  scopes: string[] | null
  /** "Allow GitHub Actions to create and approve pull requests." */
  actionsOpenPulls: boolean | null
  /** By branch, in the order asked about. */
  guards: Guard[]
  /** Workflows by their path, and whether they are on. */
  workflows: Map<string, string> | null
  /** GitHub's clock less this one, in seconds. */
  skewSeconds: number | null
}

/** What holds on a branch that winnow writes. */
export interface Guard {
  branch: string
  /** Kinds of rules, of rulesets and of classic protection; null where they cannot be read. */
  rules: string[] | null
  /** It is protected, and how is told to administrators alone. */
  hidden: boolean
}

const on = z.object({ enabled: z.boolean() }).optional()
const repository = z.object({ permissions: z.record(z.string(), z.boolean()).optional() })
const settings = z.object({ can_approve_pull_request_reviews: z.boolean() })
const rules = z.array(z.object({ type: z.string() }))
const branchState = z.object({ protected: z.boolean() })
const protection = z.object({
  required_pull_request_reviews: z.unknown().optional(),
  required_status_checks: z.unknown().optional(),
  restrictions: z.unknown().optional(),
  required_linear_history: on,
  required_signatures: on,
  lock_branch: on,
})
const workflows = z.object({ workflows: z.array(z.object({ path: z.string(), state: z.string() })) })

/** Reads, none of which changes anything. */
export async function examine(
  access: GithubAccess,
  { branches, now }: { branches: readonly string[]; now: () => number },
): Promise<Examination> {
  const client = githubClient(access)
  const { data, headers } = await client.request('GET /repos/{owner}/{repo}', client.where)
  const date = Date.parse(headers.date ?? '')
  const permissions = understood(repository, data, 'the repository').permissions ?? null
  const guards: Guard[] = []
  for (const branch of branches) guards.push(await guardOf(client, branch, permissions?.['admin'] === true))
  return {
    permissions,
    scopes: scopesOf(headers['x-oauth-scopes']),
    actionsOpenPulls: await orUnknown(() => mayOpenPulls(client)),
    guards,
    workflows: await orUnknown(() => statesOf(client)),
    skewSeconds: Number.isNaN(date) ? null : Math.round((date - now()) / 1000),
  }
}

function scopesOf(header: unknown): string[] | null {
  if (typeof header !== 'string') return null
  return header.split(/,\s*/).filter(scope => scope !== '')
}

/** Rulesets are told to everybody who reads; of classic protection everybody hears that it is there. */
async function guardOf(client: GithubClient, branch: string, admin: boolean): Promise<Guard> {
  const ruled = await orUnknown(() => rulesOn(client, branch))
  const isProtected = (await orUnknown(() => protectedState(client, branch))) ?? false
  const classic = isProtected ? await orUnknown(() => protectionOf(client, branch)) : []
  const known = ruled === null && classic === null ? null : [...(ruled ?? []), ...(classic ?? [])]
  // An administrator who is told of none is told the truth: it is protected by rulesets alone.
  const hidden = isProtected && classic === null && !admin
  return { branch, rules: known && [...new Set(known)], hidden }
}

async function protectedState({ request, where }: GithubClient, branch: string): Promise<boolean> {
  const { data } = await request('GET /repos/{owner}/{repo}/branches/{branch}', { ...where, branch })
  return understood(branchState, data, 'a branch').protected
}

/** In the words of rulesets. */
async function protectionOf({ request, where }: GithubClient, branch: string): Promise<string[]> {
  const route = 'GET /repos/{owner}/{repo}/branches/{branch}/protection'
  const { data } = await request(route, { ...where, branch })
  const found = understood(protection, data, 'the protection of a branch')
  const holds: [rule: string, there: boolean][] = [
    ['pull_request', found.required_pull_request_reviews != null],
    ['required_status_checks', found.required_status_checks != null],
    ['update', found.restrictions != null || found.lock_branch?.enabled === true],
    ['required_linear_history', found.required_linear_history?.enabled === true],
    ['required_signatures', found.required_signatures?.enabled === true],
  ]
  return holds.flatMap(([rule, there]) => (there ? [rule] : []))
}

const UNKNOWN: ReadonlySet<number> = new Set([403, 404])

/** What a token may not see is not known, which is said. */
async function orUnknown<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ForgeError && UNKNOWN.has(error.detail.status ?? 0)) return null
    throw error
  }
}

async function mayOpenPulls({ request, where }: GithubClient): Promise<boolean> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/permissions/workflow', where)
  return understood(settings, data, 'the settings of workflows').can_approve_pull_request_reviews
}

async function rulesOn({ request, where }: GithubClient, branch: string): Promise<string[]> {
  const { data } = await request('GET /repos/{owner}/{repo}/rules/branches/{branch}', { ...where, branch })
  return [...new Set(understood(rules, data, 'the rules of a branch').map(({ type }) => type))]
}

async function statesOf({ request, where }: GithubClient): Promise<Map<string, string>> {
  const values = { ...where, per_page: 100 }
  const { data } = await request('GET /repos/{owner}/{repo}/actions/workflows', values)
  return new Map(understood(workflows, data, 'workflows').workflows.map(({ path, state }) => [path, state]))
}
