import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { type GithubClient, understood } from './client.ts'

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
const visible = z.object({ private: z.boolean() })

export async function examinePolicy({ request, where }: GithubClient): Promise<ActionsPolicy> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/permissions', where)
  const { enabled, allowed_actions: allowed = null } = understood(policy, data, 'the settings of Actions')
  if (allowed !== 'selected') return { enabled, allowed, selected: null }
  const answer = await request('GET /repos/{owner}/{repo}/actions/permissions/selected-actions', where)
  const found = understood(selected, answer.data, 'the allowed actions')
  const { github_owned_allowed: githubOwned = false, patterns_allowed: patterns = [] } = found
  return { enabled, allowed, selected: { githubOwned, patterns } }
}

/** Names of secrets alone are read: GitHub tells nobody what is in them. */
export async function examineEnvironment(
  { request, where }: GithubClient,
  { name, secret }: { name: string; secret: string },
): Promise<EnvironmentSecret> {
  const values = { ...where, environment_name: name }
  const exists = await isThere(() =>
    request('GET /repos/{owner}/{repo}/environments/{environment_name}', values),
  )
  if (exists !== true) return { exists, hasSecret: exists }
  const route = 'GET /repos/{owner}/{repo}/environments/{environment_name}/secrets/{secret_name}'
  return { exists, hasSecret: await isThere(() => request(route, { ...values, secret_name: secret })) }
}

export async function examineAction(
  { request }: GithubClient,
  { repository, commit }: { repository: string; commit: string },
): Promise<ActionRepository> {
  const [owner = '', repo = ''] = repository.split('/')
  const there = { owner, repo }
  const found = await orNull(() => request('GET /repos/{owner}/{repo}', there))
  if (found === null) return { exists: false, isPrivate: false, hasCommit: null, access: null }
  const isPrivate = understood(visible, found.data, 'the repository of the action').private
  const route = 'GET /repos/{owner}/{repo}/git/commits/{commit_sha}'
  const hasCommit = await isThere(() => request(route, { ...there, commit_sha: commit }))
  const level = isPrivate
    ? await orNull(() => request('GET /repos/{owner}/{repo}/actions/permissions/access', there))
    : null
  return {
    exists: true,
    isPrivate,
    hasCommit,
    access: level === null ? null : understood(access, level.data, 'who may use the action').access_level,
  }
}

/** Null where the token may not know: GitHub says 403, or says 404 as if nothing were there. */
export async function orNull<T>(ask: () => Promise<T>): Promise<T | null> {
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
