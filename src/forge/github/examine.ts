import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { type GithubAccess, type GithubClient, githubClient, understood } from './client.ts'

/** What a token may find out about a repository; null where it may not. */
export interface Examination {
  permissions: Readonly<Record<string, boolean>> | null
  /** "Allow GitHub Actions to create and approve pull requests." */
  actionsOpenPulls: boolean | null
  /** Kinds of rules that hold on a branch winnow writes. */
  rules: string[] | null
  /** Workflows by their path, and whether they are on. */
  workflows: Map<string, string> | null
  /** GitHub's clock less this one, in seconds. */
  skewSeconds: number | null
}

const repository = z.object({ permissions: z.record(z.string(), z.boolean()).optional() })
const settings = z.object({ can_approve_pull_request_reviews: z.boolean() })
const rules = z.array(z.object({ type: z.string() }))
const workflows = z.object({ workflows: z.array(z.object({ path: z.string(), state: z.string() })) })

/** Four reads, none of which changes anything. */
export async function examine(
  access: GithubAccess,
  { branch, now }: { branch: string; now: () => number },
): Promise<Examination> {
  const client = githubClient(access)
  const { data, headers } = await client.request('GET /repos/{owner}/{repo}', client.where)
  const date = Date.parse(headers.date ?? '')
  return {
    permissions: understood(repository, data, 'the repository').permissions ?? null,
    actionsOpenPulls: await orUnknown(() => mayOpenPulls(client)),
    rules: await orUnknown(() => rulesOn(client, branch)),
    workflows: await orUnknown(() => statesOf(client)),
    skewSeconds: Number.isNaN(date) ? null : Math.round((date - now()) / 1000),
  }
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
