import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import type { Pacing } from '../../ledger/retry.ts'
import type { Forge, ForgeAnswer, ForgeChange, NewPull, Permission, Reaction } from '../port.ts'
import { isRefusal } from '../refused.ts'
import { withSingleChanges } from '../single-changes.ts'
import { checksOf } from './checks.ts'
import { type GithubAccess, type GithubClient, githubClient, understood, unlessMissing } from './client.ts'
import { editPull, type PullEditing, refusedBy } from './edit-pull.ts'
import { mergePull } from './merge-pull.ts'
import { openPull } from './open-pull.ts'
import { patiently } from './patient.ts'
import { readNumbers, readOpen } from './read-pulls.ts'
import { githubWorkflows } from './workflows.ts'

export interface GithubForgeOptions extends Pacing, GithubAccess {
  /** Short name of the branch whose pull requests are meant. */
  base: string
}

/** Pull requests on GitHub. What git can tell is asked of git; all else with as few requests as there can be. */
export function githubForge(options: GithubForgeOptions): Forge {
  const client = githubClient(options)
  const check = checksOf(client)
  const forge = withSingleChanges({
    kind: 'github',
    async list(wanted = {}) {
      const known = await patiently(options, () => readOpen(client, options.base, wanted))
      return known.map(({ pull }) => pull)
    },
    batch: changes => patiently(options, () => changeAll(client, changes)),
  })
  return {
    ...forge,
    merge: (number, wanted) => patiently(options, () => mergePull(client, number, wanted)),
    check: wanted => patiently(options, attempt => check(wanted, attempt)),
    react: (comment, how) => patiently(options, () => react(client, comment, how)),
    permissionOf: login => patiently(options, () => permissionOf(client, login)),
    isMember: (team, login) => patiently(options, () => isMember(client, team, login)),
    workflows: githubWorkflows(client, options),
  }
}

/** What was done before the connection broke is found done by the next attempt. */
async function changeAll(client: GithubClient, changes: readonly ForgeChange[]): Promise<ForgeAnswer[]> {
  const answers = new Map<ForgeChange, ForgeAnswer>()
  for (const change of changes) {
    if (change.kind === 'open') answers.set(change, await opened(client, change))
  }
  const edits = editsByNumber(changes)
  const known = await readNumbers(client, [...edits.keys()])
  for (const [number, edit] of edits) {
    const pull = known.get(number)
    const given = pull ? await editPull(client, pull, edit) : edit.map(() => unknownPull(number))
    for (const [index, change] of edit.entries()) answers.set(change, given[index] ?? unknownPull(number))
  }
  return changes.map(change => answers.get(change) ?? unknownPull(0))
}

/** What is refused to one costs no other. */
async function opened(client: GithubClient, change: NewPull): Promise<ForgeAnswer> {
  try {
    return await openPull(client, change)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return refusedBy(error, null)
  }
}

function editsByNumber(changes: readonly ForgeChange[]): Map<number, PullEditing[]> {
  const edits = new Map<number, PullEditing[]>()
  for (const change of changes) {
    if (change.kind === 'open') continue
    edits.set(change.number, [...(edits.get(change.number) ?? []), change])
  }
  return edits
}

function unknownPull(number: number): ForgeAnswer {
  return { ok: false, code: 'unknown-pull', number: null, message: `there is no pull request #${number}` }
}

/** A repeat is the same reaction; a comment that is gone needs none. */
async function react(client: GithubClient, comment: string, content: Reaction): Promise<void> {
  const route = 'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions'
  const values = { ...client.where, comment_id: Number(comment), content }
  await unlessMissing(() => client.request(route, values))
}

/** A word that is not known gives no right. */
const collaborator = z.object({ permission: z.enum(['admin', 'write', 'read', 'none']).catch('none') })

/** Never the association a comment comes with: that says nothing of what somebody may do. */
async function permissionOf(client: GithubClient, login: string): Promise<Permission> {
  const route = 'GET /repos/{owner}/{repo}/collaborators/{username}/permission'
  const answer = await unlessMissing(() => client.request(route, { ...client.where, username: login }))
  if (answer === null) return 'none'
  return understood(collaborator, answer.data, `the permission of ${login}`).permission
}

const membership = z.object({ state: z.string() })

/** Who was only invited is none yet. A job's token is refused, whatever its permissions say: there is none for it. */
async function isMember(client: GithubClient, team: string, login: string): Promise<boolean | null> {
  const [org = '', slug = ''] = team.split('/', 2)
  const route = 'GET /orgs/{org}/teams/{team_slug}/memberships/{username}'
  try {
    const answer = await unlessMissing(() => client.request(route, { org, team_slug: slug, username: login }))
    if (answer === null) return false
    return understood(membership, answer.data, `whether ${login} is in ${team}`).state === 'active'
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 403) return null
    throw error
  }
}
