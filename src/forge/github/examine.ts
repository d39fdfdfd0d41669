import { z } from 'zod'
import { type GithubAccess, type GithubClient, createGithubClient, parseAnswer } from './client.ts'
import {
  type ActionRepository,
  type ActionsPolicy,
  type EnvironmentSecret,
  examineAction,
  examineEnvironment,
  examinePolicy,
  requestIfPermitted,
} from './examine-actions.ts'

/** What a token may find out about a repository; null where it may not. */
export interface Examination {
  permissions: Readonly<Record<string, boolean>> | null
  /** Of a classic token, as it tells them; null for any other. */
  scopes: string[] | null
  /** "Allow GitHub Actions to create and approve pull requests." */
  actionsOpenPulls: boolean | null
  /** What a job may do whose workflow grants nothing itself. */
  defaultToken: 'read' | 'write' | null
  /** Which actions may run here. */
  policy: ActionsPolicy | null
  isPublic: boolean
  /** Of the environment that was asked about. */
  environment: EnvironmentSecret | null
  /** The repository of the action that was asked about; null where none was. */
  action: ActionRepository | null
  /** The repository variable that stops everything is set. */
  paused: boolean
  /** By branch, in the order asked about. */
  guards: BranchGuard[]
  /** Workflows by their path, and whether they are on. */
  workflows: Map<string, string> | null
  /** GitHub's clock less this one, in seconds. */
  skewSeconds: number | null
}

/** What holds on a branch that winnow writes. */
export interface BranchGuard {
  branch: string
  /** Kinds of rules, of rulesets and of classic protection; null where they cannot be read. */
  rules: string[] | null
  /** It is protected, and how is told to administrators alone. */
  hidden: boolean
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

/** What else there is to ask about. */
export interface ExaminationRequest {
  branches: readonly string[]
  /** An environment and a secret that it must have. */
  environment: { name: string; secret: string } | null
  /** The action of the workflow: `owner/name`, at a commit. */
  action: { repository: string; commit: string } | null
  now: () => number
}

/** Reads, none of which changes anything. */
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

/** Rulesets are told to everybody who reads; of classic protection everybody hears that it is there. */
async function readBranchGuard(client: GithubClient, branch: string, admin: boolean): Promise<BranchGuard> {
  const ruled = await requestIfPermitted(() => readBranchRules(client, branch))
  const isProtected = (await requestIfPermitted(() => readProtectedState(client, branch))) ?? false
  const classic = isProtected ? await requestIfPermitted(() => readProtection(client, branch)) : []
  const known = ruled === null && classic === null ? null : [...(ruled ?? []), ...(classic ?? [])]
  // An administrator who is told of none is told the truth: it is protected by rulesets alone.
  const hidden = isProtected && classic === null && !admin
  return { branch, rules: known && [...new Set(known)], hidden }
}

async function readProtectedState({ request, where }: GithubClient, branch: string): Promise<boolean> {
  const { data } = await request('GET /repos/{owner}/{repo}/branches/{branch}', { ...where, branch })
  return parseAnswer(branchState, data, 'a branch').protected
}

/** In the words of rulesets. */
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
