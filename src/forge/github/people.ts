import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { createRateBudget, cacheForRun } from '../allowance.ts'
import type { Forge, Permission } from '../port.ts'
import { type GithubClient, parseAnswer, requestUnlessMissing } from './client.ts'
import { withRetries } from './patient.ts'
import type { Pacing } from '../../ledger/retry.ts'

/** So many people are asked about in one wake-up: however many others come, it ends. */
const MOST_PEOPLE = 60

/** What people may do: each is asked about once in a wake-up, and not everybody at once. */
export function createPermissionReader(
  { client, members: asking }: { client: GithubClient; members: GithubClient },
  options: Pacing,
): Required<Pick<Forge, 'readPermission' | 'isMember'>> {
  const asked = createRateBudget(MOST_PEOPLE, options.clock)
  const permissions = cacheForRun(options.clock, () => new Map<string, Permission>())
  const members = cacheForRun(options.clock, () => new Map<string, boolean | null>())
  return {
    async readPermission(login) {
      const known = permissions().get(login)
      if (known !== undefined) return known
      if (!asked.take()) return null
      const answer = await withRetries(options, () => readPermission(client, login))
      permissions().set(login, answer)
      return answer
    },
    async isMember(team, login) {
      const key = `${team} ${login}`
      // A token that may not know says so for everybody.
      const known = members().get(members().has(team) ? team : key)
      if (known !== undefined) return known
      const answer = await withRetries(options, () => isMember(asking, team, login))
      members().set(answer === null ? team : key, answer)
      return answer
    },
  }
}

/** A word that is not known gives no right. */
const collaborator = z.object({ permission: z.enum(['admin', 'write', 'read', 'none']).catch('none') })

/** Never the association a comment comes with: that says nothing of what somebody may do. */
async function readPermission(client: GithubClient, login: string): Promise<Permission> {
  const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
  const answer = await requestUnlessMissing(() => client.request(route, { ...client.where, username: login }))
  if (answer === null) return 'none'
  return parseAnswer(collaborator, answer.data, `the permission of ${login}`).permission
}

const membership = z.object({ state: z.string() })

/** Who was only invited is none yet. A job's token is refused, whatever its permissions say: there is none for it. */
async function isMember(client: GithubClient, team: string, login: string): Promise<boolean | null> {
  const [org = '', slug = ''] = team.split('/', 2)
  const route = 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}'
  try {
    const answer = await requestUnlessMissing(() =>
      client.request(route, { org, team_slug: slug, username: login }),
    )
    if (answer === null) return false
    return parseAnswer(membership, answer.data, `whether ${login} is in ${team}`).state === 'active'
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 403) return null
    throw error
  }
}
