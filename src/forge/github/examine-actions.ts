import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { type GithubClient, parseAnswer } from './client.ts'

/** Which actions may run in a repository. */
export interface ActionsPolicy {
  enabled: boolean
  allowed: 'all' | 'local_only' | 'selected' | null
  /** With `selected`; null where it cannot be read. */
  selected: { githubOwned: boolean; patterns: string[] } | null
}

/** Whether an environment has a secret; null where that cannot be read. */
export interface EnvironmentSecret {
  exists: boolean | null
  hasSecret: boolean | null
  /** Patterns of branches that may use it; 'protected', or null for any or where it cannot be read. */
  branches: readonly string[] | 'protected' | null
}

/** The repository that holds an action, as far as the token sees it. */
export interface ActionRepository {
  /** False also where the token may not see it. */
  exists: boolean
  isPrivate: boolean
  hasCommit: boolean | null
  /** Who else may use what a private repository holds; null where the token may not know. */
  access: string | null
}

const policy = z.object({
  enabled: z.boolean(),
  allowed_actions: z.enum(['all', 'local_only', 'selected']).optional(),
})
const selected = z.object({
  github_owned_allowed: z.boolean().optional(),
  patterns_allowed: z.array(z.string()).optional(),
})
const access = z.object({ access_level: z.string() })
const environment = z.object({
  deployment_branch_policy: z.object({ custom_branch_policies: z.boolean() }).nullish(),
})
const branchPolicies = z.object({
  branch_policies: z.array(z.object({ name: z.string(), type: z.string().optional() })),
})
const visible = z.object({ private: z.boolean() })

export async function examinePolicy({ request, where }: GithubClient): Promise<ActionsPolicy> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/permissions', where)
  const { enabled, allowed_actions: allowed = null } = parseAnswer(policy, data, 'the settings of Actions')
  if (allowed !== 'selected') return { enabled, allowed, selected: null }
  const answer = await request('GET /repos/{owner}/{repo}/actions/permissions/selected-actions', where)
  const found = parseAnswer(selected, answer.data, 'the allowed actions')
  const { github_owned_allowed: githubOwned = false, patterns_allowed: patterns = [] } = found
  return { enabled, allowed, selected: { githubOwned, patterns } }
}

/** Names of secrets alone are read: GitHub tells nobody what is in them. */
export async function examineEnvironment(
  { request, where }: GithubClient,
  { name, secret }: { name: string; secret: string },
): Promise<EnvironmentSecret> {
  const values = { ...where, environment_name: name }
  const at = 'GET /repos/{owner}/{repo}/environments/{environment_name}'
  const exists = await isThere(() => request(at, values))
  if (exists !== true) return { exists, hasSecret: exists, branches: null }
  const { data } = await request(at, values)
  const rule = parseAnswer(environment, data, 'an environment').deployment_branch_policy ?? null
  const hasSecret = await isThere(() =>
    request(`${at}/secrets/{secret_name}`, { ...values, secret_name: secret }),
  )
  if (rule === null) return { exists, hasSecret, branches: null }
  if (!rule.custom_branch_policies) return { exists, hasSecret, branches: 'protected' }
  const answer = await requestIfPermitted(() =>
    request(`${at}/deployment-branch-policies`, { ...values, per_page: 100 }),
  )
  const listed =
    answer === null ? null : parseAnswer(branchPolicies, answer.data, 'the branches of an environment')
  const branches = listed?.branch_policies.flatMap(each => (each.type === 'tag' ? [] : [each.name])) ?? null
  return { exists, hasSecret, branches }
}

export async function examineAction(
  { request }: GithubClient,
  { repository, commit }: { repository: string; commit: string },
): Promise<ActionRepository> {
  const [owner = '', repo = ''] = repository.split('/')
  const there = { owner, repo }
  const found = await requestIfPermitted(() => request('GET /repos/{owner}/{repo}', there))
  if (found === null) return { exists: false, isPrivate: false, hasCommit: null, access: null }
  const isPrivate = parseAnswer(visible, found.data, 'the repository of the action').private
  const route = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}'
  const hasCommit = await isThere(() => request(route, { ...there, commit_sha: commit }))
  const level = isPrivate
    ? await requestIfPermitted(() => request('GET /repos/{owner}/{repo}/actions/permissions/access', there))
    : null
  return {
    exists: true,
    isPrivate,
    hasCommit,
    access: level === null ? null : parseAnswer(access, level.data, 'who may use the action').access_level,
  }
}

/** Null where the token may not know: GitHub says 403, or says 404 as if nothing were there. */
export async function requestIfPermitted<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof ForgeError && [403, 404].includes(error.detail.status ?? 0)) return null
    throw error
  }
}

async function isThere(ask: () => Promise<unknown>): Promise<boolean | null> {
  try {
    await ask()
    return true
  } catch (error) {
    const status = error instanceof ForgeError ? error.detail.status : undefined
    if (status === 404) return false
    if (status === 403) return null
    throw error
  }
}
