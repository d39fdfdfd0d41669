import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { oid } from '../../model/ids.ts'
import type { Bringers } from '../port.ts'
import { type GithubClient, understood, unlessMissing } from './client.ts'

const account = z.object({ user: z.object({ login: z.string() }).nullable() }).nullable()
const brought = z.object({
  repository: z.object({
    pullRequest: z.object({
      headRefName: z.string(),
      headRefOid: oid,
      headRepository: z.object({ nameWithOwner: z.string() }).nullable(),
      commits: z.object({
        nodes: z.array(z.object({ commit: z.object({ author: account, committer: account }) })),
      }),
    }),
  }),
})

const QUESTION = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      headRefName headRefOid headRepository { nameWithOwner }
      commits(last: 100) { nodes { commit { author { user { login } } committer { user { login } } } } }
    }
  }
}`

/** Asked where an approval is about to count, and nowhere else: who pushed is in no list of pull requests. */
export async function bringersOf(client: GithubClient, number: number): Promise<Bringers> {
  const answer = await client.graphql(QUESTION, { ...client.where, number })
  const { pullRequest } = understood(brought, answer, `who brought #${number}`).repository
  const { headRefName, headRefOid: head, headRepository, commits } = pullRequest
  const named = commits.nodes
    .flatMap(({ commit: { author, committer } }) => [author, committer])
    .flatMap(each => each?.user?.login ?? [])
  const pusher = headRepository && (await pusherOf(client, headRepository.nameWithOwner, headRefName, head))
  return { head, pusher, named: [...new Set(named)] }
}

const activity = z.array(
  z.object({ after: z.string(), actor: z.object({ login: z.string() }).nullable().optional() }),
)

/** A fork that this token may not read, or a server that keeps no list of pushes, says nothing. */
async function pusherOf(
  client: GithubClient,
  repository: string,
  branch: string,
  head: string,
): Promise<string | null> {
  const [owner = '', repo = ''] = repository.split('/', 2)
  const values = { owner, repo, ref: `refs/heads/${branch}`, per_page: 100 }
  const answer = await unlessHidden(() => client.request('GET /repos/{owner}/{repo}/activity', values))
  if (answer === null) return null
  const pushes = understood(activity, answer.data, `pushes to ${branch}`)
  return pushes.find(({ after }) => after === head)?.actor?.login ?? null
}

async function unlessHidden<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await unlessMissing(ask)
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 403) return null
    throw error
  }
}
