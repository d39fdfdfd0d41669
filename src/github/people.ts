import { z } from 'zod'
import type { Pacing } from '../ledger/retry.ts'
import { type Approvers, listTeams, READS_TEAMS } from '../model/approval.ts'
import { oidSchema } from '../model/ids.ts'
import type { GithubClient } from './client.ts'
import type { Forge, HeadAuthors, Permission } from './port.ts'
import {
  cacheForRun,
  createRateBudget,
  parseAnswer,
  requestUnlessMissing,
  toNullIfStatus,
  withRetries,
} from './requests.ts'

/** Limit of permission lookups per tick. */
const MAX_PEOPLE = 60

/** Looks up permissions, once per person and tick, with a limit on the number of people. */
export function createPermissionReader(
  { client, members: teamClient }: { client: GithubClient; members: GithubClient },
  options: Pacing,
): Required<Pick<Forge, 'readPermission' | 'isMember'>> {
  const budget = createRateBudget(MAX_PEOPLE, options.monotonic)
  const permissions = cacheForRun(options.monotonic, () => new Map<string, Permission>())
  const members = cacheForRun(options.monotonic, () => new Map<string, boolean | null>())
  return {
    async readPermission(login) {
      const known = permissions().get(login)
      if (known !== undefined) return known
      if (!budget.take()) return null
      const answer = await withRetries(options, () => readPermission(client, login))
      permissions().set(login, answer)
      return answer
    },
    async isMember(team, login) {
      const key = `${team} ${login}`
      // A token without this permission cannot read any team.
      const known = members().get(members().has(team) ? team : key)
      if (known !== undefined) return known
      const answer = await withRetries(options, () => isMember(teamClient, team, login))
      members().set(answer === null ? team : key, answer)
      return answer
    },
  }
}

// Permissions and teams

/** An unknown permission grants no right. */
const collaborator = z.object({ permission: z.enum(['admin', 'write', 'read', 'none']).catch('none') })

/** Reads the permission itself, because the `author_association` of a comment does not tell it. */
async function readPermission(client: GithubClient, login: string): Promise<Permission> {
  const answer = await requestUnlessMissing(() =>
    client.rest.repos.getCollaboratorPermissionLevel({ ...client.where, username: login }),
  )
  if (answer === null) return 'none'
  return parseAnswer(collaborator, answer.data, `the permission of ${login}`).permission
}

/** A pending invitation is no membership. GitHub never lets a job token read teams. */
async function isMember(client: GithubClient, team: string, login: string): Promise<boolean | null> {
  const [org = '', team_slug = ''] = team.split('/', 2)
  const values = { org, team_slug, username: login }
  return toNullIfStatus([403], async () => {
    const ask = () => client.rest.teams.getMembershipForUserInOrg(values)
    return (await requestUnlessMissing(ask))?.data.state === 'active'
  })
}

// Authors of a head

const account = z.object({ user: z.object({ login: z.string() }).nullable() }).nullable()
const headSchema = z.object({
  repository: z.object({
    pullRequest: z.object({
      headRefName: z.string(),
      headRefOid: oidSchema,
      headRepository: z.object({ nameWithOwner: z.string() }).nullable(),
      commits: z.object({
        nodes: z.array(z.object({ commit: z.object({ author: account, committer: account }) })),
      }),
    }),
  }),
})

const HEAD_QUERY = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      headRefName headRefOid headRepository { nameWithOwner }
      commits(last: 100) { nodes { commit { author { user { login } } committer { user { login } } } } }
    }
  }
}`

/** Called only where an approval is about to count: pull request lists do not name the pusher. */
export async function readHeadAuthors(client: GithubClient, number: number): Promise<HeadAuthors> {
  const answer = await client.graphql(HEAD_QUERY, { ...client.where, number })
  const { pullRequest } = parseAnswer(headSchema, answer, `the commits of #${number}`).repository
  const { headRefName, headRefOid: head, headRepository, commits } = pullRequest
  const named = commits.nodes
    .flatMap(({ commit: { author, committer } }) => [author, committer])
    .flatMap(each => each?.user?.login ?? [])
  const pusher = headRepository && (await findPusher(client, headRepository.nameWithOwner, headRefName, head))
  return { head, pusher, named: [...new Set(named)] }
}

/** Returns null for a fork that this token cannot read, and for a server without a push log. */
async function findPusher(
  client: GithubClient,
  repository: string,
  branch: string,
  head: string,
): Promise<string | null> {
  const [owner = '', repo = ''] = repository.split('/', 2)
  const values = { owner, repo, ref: `refs/heads/${branch}`, per_page: 100 }
  const ask = () => client.rest.repos.listActivities(values)
  const answer = await toNullIfStatus([403], () => requestUnlessMissing(ask))
  return answer?.data.find(({ after }) => after === head)?.actor?.login ?? null
}

// Approvers

const SUFFICIENT_PERMISSIONS = { write: ['write', 'admin'], admin: ['admin'] } as const satisfies Record<
  string,
  Permission[]
>

/** Null: the spec lets this person approve. People whom it names need no further permission. */
export async function explainApproverRefusal(
  forge: Pick<Forge, 'isMember'>,
  approvers: Approvers,
  { login, permission }: { login: string; permission: Permission },
): Promise<string | null> {
  if (typeof approvers === 'string')
    return SUFFICIENT_PERMISSIONS[approvers].some(each => each === permission) ? null : NOT_TRUSTED
  if (approvers.some(each => each.toLowerCase() === login.toLowerCase())) return null
  const unreadable: string[] = []
  for (const team of listTeams(approvers)) {
    const membership = await forge.isMember(team, login)
    if (membership === true) return null
    if (membership === null) unreadable.push(team)
  }
  if (unreadable.length === 0) return NOT_TRUSTED
  return `Whether ${login} is in ${unreadable.join(' or ')} cannot be read with this token: it needs ${READS_TEAMS}.`
}

const NOT_TRUSTED = 'Only people whom the spec trusts with approvals may do that.'
