import { z } from 'zod'
import { ForgeError } from '../errors.ts'
import type {
  ActionRepository,
  ActionsPolicy,
  BranchGuard,
  EnvironmentSecret,
  Examination,
} from '../model/github.ts'
import { createGithubClient, type GithubAccess, type GithubClient, parseAnswer } from './client.ts'

interface ExaminationRequest {
  branches: readonly string[]
  /** An environment, and a secret that it must have. */
  environment: { name: string; secret: string } | null
  /** Repository (`owner/name`) and commit of the action in the workflow. */
  action: { repository: string; commit: string } | null
  now: () => number
}

const on = z.object({ enabled: z.boolean() }).optional()
const repository = z.object({
  permissions: z.record(z.string(), z.boolean()).optional(),
  private: z.boolean(),
})
const settings = z.object({
  can_approve_pull_request_reviews: z.boolean(),
  default_workflow_permissions: z.enum(['read', 'write']),
})
const rules = z.array(z.object({ type: z.string() }))
const variable = z.object({ value: z.string() })
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

// Examination

/** Only reads, never changes a setting. */
export async function examineRepository(
  access: GithubAccess,
  { branches, environment, action, now }: ExaminationRequest,
): Promise<Examination> {
  const client = createGithubClient(access)
  const { data, headers } = await client.request('GET /repos/{owner}/{repo}', client.where)
  const date = Date.parse(headers.date ?? '')
  const here = parseAnswer(repository, data, 'the repository')
  const permissions = here.permissions ?? null
  const guards: BranchGuard[] = []
  for (const branch of branches)
    guards.push(await readBranchGuard(client, branch, permissions?.['admin'] === true))
  const jobs = await requestIfPermitted(() => readJobSettings(client))
  return {
    permissions,
    scopes: parseScopes(headers['x-oauth-scopes']),
    actionsOpenPulls: jobs?.can_approve_pull_request_reviews ?? null,
    defaultToken: jobs?.default_workflow_permissions ?? null,
    policy: await requestIfPermitted(() => examinePolicy(client)),
    isPublic: !here.private,
    environment: environment === null ? null : await examineEnvironment(client, environment),
    action: action === null ? null : await examineAction(client, action),
    paused: (await requestIfPermitted(() => isPaused(client))) === true,
    guards,
    workflows: await requestIfPermitted(() => readWorkflowStates(client)),
    skewSeconds: Number.isNaN(date) ? null : Math.round((date - now()) / 1000),
  }
}

function parseScopes(header: unknown): string[] | null {
  if (typeof header !== 'string') return null
  return header.split(/,\s*/).filter(scope => scope !== '')
}

/** Every reader can see rulesets. Of classic protection, most readers see only that it exists. */
async function readBranchGuard(client: GithubClient, branch: string, admin: boolean): Promise<BranchGuard> {
  const ruled = await requestIfPermitted(() => readBranchRules(client, branch))
  const isProtected = (await requestIfPermitted(() => readProtectedState(client, branch))) ?? false
  const classic = isProtected ? await requestIfPermitted(() => readProtection(client, branch)) : []
  const known = ruled === null && classic === null ? null : [...(ruled ?? []), ...(classic ?? [])]
  // An administrator sees classic protection, so its absence means that only rulesets protect the branch.
  const hidden = isProtected && classic === null && !admin
  return { branch, rules: known && [...new Set(known)], hidden }
}

async function readProtectedState({ request, where }: GithubClient, branch: string): Promise<boolean> {
  const { data } = await request('GET /repos/{owner}/{repo}/branches/{branch}', { ...where, branch })
  return parseAnswer(branchState, data, 'a branch').protected
}

/** Translates classic protection to the rule names of rulesets. */
async function readProtection({ request, where }: GithubClient, branch: string): Promise<string[]> {
  const route = 'GET /repos/{owner}/{repo}/branches/{branch}/protection'
  const { data } = await request(route, { ...where, branch })
  const found = parseAnswer(protection, data, 'the protection of a branch')
  const holds: [rule: string, there: boolean][] = [
    ['pull_request', found.required_pull_request_reviews != null],
    ['required_status_checks', found.required_status_checks != null],
    ['update', found.restrictions != null || found.lock_branch?.enabled === true],
    ['required_linear_history', found.required_linear_history?.enabled === true],
    ['required_signatures', found.required_signatures?.enabled === true],
  ]
  return holds.flatMap(([rule, there]) => (there ? [rule] : []))
}

async function readJobSettings({ request, where }: GithubClient): Promise<z.infer<typeof settings>> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/permissions/workflow', where)
  return parseAnswer(settings, data, 'the settings of workflows')
}

async function isPaused({ request, where }: GithubClient): Promise<boolean> {
  const values = { ...where, name: 'WINNOW_PAUSED' }
  const { data } = await request('GET /repos/{owner}/{repo}/actions/variables/{name}', values)
  return !['', 'false'].includes(parseAnswer(variable, data, 'a variable').value)
}

async function readBranchRules({ request, where }: GithubClient, branch: string): Promise<string[]> {
  const { data } = await request('GET /repos/{owner}/{repo}/rules/branches/{branch}', { ...where, branch })
  return [...new Set(parseAnswer(rules, data, 'the rules of a branch').map(({ type }) => type))]
}

async function readWorkflowStates({ request, where }: GithubClient): Promise<Map<string, string>> {
  const values = { ...where, per_page: 100 }
  const { data } = await request('GET /repos/{owner}/{repo}/actions/workflows', values)
  return new Map(parseAnswer(workflows, data, 'workflows').workflows.map(({ path, state }) => [path, state]))
}

async function examinePolicy({ request, where }: GithubClient): Promise<ActionsPolicy> {
  const { data } = await request('GET /repos/{owner}/{repo}/actions/permissions', where)
  const { enabled, allowed_actions: allowed = null } = parseAnswer(policy, data, 'the settings of Actions')
  if (allowed !== 'selected') return { enabled, allowed, selected: null }
  const answer = await request('GET /repos/{owner}/{repo}/actions/permissions/selected-actions', where)
  const found = parseAnswer(selected, answer.data, 'the allowed actions')
  const { github_owned_allowed: githubOwned = false, patterns_allowed: patterns = [] } = found
  return { enabled, allowed, selected: { githubOwned, patterns } }
}

/** Reads only the names of secrets: GitHub never returns their values. */
async function examineEnvironment(
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

async function examineAction(
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

/**
 * Returns null where the token lacks the permission. GitHub then answers 403, or 404 as if the object did not
 * exist.
 */
async function requestIfPermitted<T>(ask: () => Promise<T>): Promise<T | null> {
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
