import type {
  ActionRepository,
  ActionsPolicy,
  BranchGuard,
  EnvironmentSecret,
  Examination,
} from '../model/github.ts'
import { createGithubClient, type GithubAccess, type GithubClient } from './client.ts'
import { toNullIfStatus } from './requests.ts'

interface ExaminationRequest {
  branches: readonly string[]
  /** An environment, and a secret that it must have. */
  environment: { name: string; secret: string } | null
  /** Repository (`owner/name`) and commit of the action in the workflow. */
  action: { repository: string; commit: string } | null
  now: () => number
}

// Examination

/** Only reads, never changes a setting. */
export async function examineRepository(
  access: GithubAccess,
  { branches, environment, action, now }: ExaminationRequest,
): Promise<Examination> {
  const client = createGithubClient(access)
  const { rest, where } = client
  const { data: repository, headers } = await rest.repos.get(where)
  const date = Date.parse(headers.date ?? '')
  const { permissions = null } = repository
  const guards: BranchGuard[] = []
  for (const branch of branches)
    guards.push(await readBranchGuard(client, branch, permissions?.admin === true))
  const jobs = await requestIfPermitted(() =>
    rest.actions.getGithubActionsDefaultWorkflowPermissionsRepository(where),
  )
  const workflows = await requestIfPermitted(() =>
    client.paginate(rest.actions.listRepoWorkflows, { ...where, per_page: 100 }),
  )
  return {
    permissions: permissions && { ...permissions },
    scopes: parseScopes(headers['x-oauth-scopes']),
    actionsOpenPulls: jobs?.data.can_approve_pull_request_reviews ?? null,
    defaultToken: jobs?.data.default_workflow_permissions ?? null,
    policy: await requestIfPermitted(() => examinePolicy(client)),
    isPublic: !repository.private,
    environment: environment === null ? null : await examineEnvironment(client, environment),
    action: action === null ? null : await examineAction(client, action),
    paused: (await requestIfPermitted(() => isPaused(client))) === true,
    guards,
    workflows: workflows && new Map(workflows.map(({ path, state }) => [path, state])),
    skewSeconds: Number.isNaN(date) ? null : Math.round((date - now()) / 1000),
  }
}

function parseScopes(header: unknown): string[] | null {
  if (typeof header !== 'string') return null
  return header.split(/,\s*/).filter(scope => scope !== '')
}

/** Every reader can see rulesets. Of classic protection, most readers see only that it exists. */
async function readBranchGuard(client: GithubClient, branch: string, admin: boolean): Promise<BranchGuard> {
  const { rest, where } = client
  const values = { ...where, branch }
  const rules = await requestIfPermitted(() =>
    client.paginate(rest.repos.getBranchRules, { ...values, per_page: 100 }),
  )
  const found = await requestIfPermitted(() => rest.repos.getBranch(values))
  const isProtected = found?.data.protected ?? false
  const classic = isProtected ? await requestIfPermitted(() => readProtection(client, branch)) : []
  const known =
    rules === null && classic === null ? null : [...(rules ?? []).map(({ type }) => type), ...(classic ?? [])]
  // An administrator sees classic protection, so its absence means that only rulesets protect the branch.
  const hidden = isProtected && classic === null && !admin
  return { branch, rules: known && [...new Set(known)], hidden }
}

/** Translates classic protection to the rule names of rulesets. */
async function readProtection({ rest, where }: GithubClient, branch: string): Promise<string[]> {
  const { data } = await rest.repos.getBranchProtection({ ...where, branch })
  const holds: [rule: string, there: boolean][] = [
    ['pull_request', data.required_pull_request_reviews != null],
    ['required_status_checks', data.required_status_checks != null],
    ['update', data.restrictions != null || data.lock_branch?.enabled === true],
    ['required_linear_history', data.required_linear_history?.enabled === true],
    ['required_signatures', data.required_signatures?.enabled === true],
  ]
  return holds.flatMap(([rule, there]) => (there ? [rule] : []))
}

async function isPaused({ rest, where }: GithubClient): Promise<boolean> {
  const { data } = await rest.actions.getRepoVariable({ ...where, name: 'WINNOW_PAUSED' })
  return !['', 'false'].includes(data.value)
}

async function examinePolicy({ rest, where }: GithubClient): Promise<ActionsPolicy> {
  const { data } = await rest.actions.getGithubActionsPermissionsRepository(where)
  const { enabled, allowed_actions: allowed = null } = data
  if (allowed !== 'selected') return { enabled, allowed, selected: null }
  const { data: selected } = await rest.actions.getAllowedActionsRepository(where)
  const { github_owned_allowed: githubOwned = false, patterns_allowed: patterns = [] } = selected
  return { enabled, allowed, selected: { githubOwned, patterns } }
}

/** Reads only the names of secrets: GitHub never returns their values. */
async function examineEnvironment(
  { rest, paginate, where }: GithubClient,
  { name, secret }: { name: string; secret: string },
): Promise<EnvironmentSecret> {
  const values = { ...where, environment_name: name }
  const exists = await isThere(() => rest.repos.getEnvironment(values))
  if (exists !== true) return { exists, hasSecret: exists, branches: null }
  const rule = (await rest.repos.getEnvironment(values)).data.deployment_branch_policy ?? null
  const hasSecret = await isThere(() => rest.actions.getEnvironmentSecret({ ...values, secret_name: secret }))
  if (rule === null) return { exists, hasSecret, branches: null }
  if (!rule.custom_branch_policies) return { exists, hasSecret, branches: 'protected' }
  const policies = await requestIfPermitted(() =>
    paginate(rest.repos.listDeploymentBranchPolicies, { ...values, per_page: 100 }),
  )
  const branches = policies?.flatMap(each => (each.type === 'tag' ? [] : [each.name ?? ''])) ?? null
  return { exists, hasSecret, branches }
}

async function examineAction(
  { rest }: GithubClient,
  { repository, commit }: { repository: string; commit: string },
): Promise<ActionRepository> {
  const [owner = '', repo = ''] = repository.split('/')
  const where = { owner, repo }
  const found = await requestIfPermitted(() => rest.repos.get(where))
  if (found === null) return { exists: false, isPrivate: false, hasCommit: null, access: null }
  const isPrivate = found.data.private
  const hasCommit = await isThere(() => rest.git.getCommit({ ...where, commit_sha: commit }))
  const level = isPrivate
    ? await requestIfPermitted(() => rest.actions.getWorkflowAccessToRepository(where))
    : null
  return { exists: true, isPrivate, hasCommit, access: level?.data.access_level ?? null }
}

/** Null where the token lacks the permission: GitHub answers 403, or 404 as if it did not exist. */
function requestIfPermitted<T>(ask: () => Promise<T>): Promise<T | null> {
  return toNullIfStatus([403, 404], ask)
}

/** Null where the token may not see it. */
function isThere(ask: () => Promise<unknown>): Promise<boolean | null> {
  return toNullIfStatus([403], async () => (await toNullIfStatus([404], ask)) !== null)
}
