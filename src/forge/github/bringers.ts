import { z } from 'zod'
import { ForgeError } from '../../errors.ts'
import { oidSchema } from '../../model/ids.ts'
import type { HeadAuthors } from '../port.ts'
import { type GithubClient, parseAnswer, requestUnlessMissing } from './client.ts'

const account = z.object({ user: z.object({ login: z.string() }).nullable() }).nullable()
const brought = z.object({
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

const QUESTION = `query ($owner: String!, $repo: String!, $number: Int!) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      headRefName headRefOid headRepository { nameWithOwner }
      commits(last: 100) { nodes { commit { author { user { login } } committer { user { login } } } } }
    }
  }
}`

/** Asked where an approval is about to count, and nowhere else: who pushed is in no list of pull requests. */
export async function readHeadAuthors(client: GithubClient, number: number): Promise<HeadAuthors> {
  const answer = await client.graphql(QUESTION, { ...client.where, number })
  const { pullRequest } = parseAnswer(brought, answer, `who brought #${number}`).repository
  const { headRefName, headRefOid: head, headRepository, commits } = pullRequest
  const named = commits.nodes
    .flatMap(({ commit: { author, committer } }) => [author, committer])
    .flatMap(each => each?.user?.login ?? [])
  const pusher = headRepository && (await findPusher(client, headRepository.nameWithOwner, headRefName, head))
  return { head, pusher, named: [...new Set(named)] }
}

const activity = z.array(
  z.object({ after: z.string(), actor: z.object({ login: z.string() }).nullable().optional() }),
)

/** A fork that this token may not read, or a server that keeps no list of pushes, says nothing. */
async function findPusher(
  client: GithubClient,
  repository: string,
  branch: string,
  head: string,
): Promise<string | null> {
  const [owner = '', repo = ''] = repository.split('/', 2)
  const values = { owner, repo, ref: `refs/heads/${branch}`, per_page: 100 }
  const answer = await requestUnlessHidden(() => client.request('GET /repos/{owner}/{repo}/activity', values))
  if (answer === null) return null
  const pushes = parseAnswer(activity, answer.data, `pushes to ${branch}`)
  return pushes.find(({ after }) => after === head)?.actor?.login ?? null
}

async function requestUnlessHidden<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await requestUnlessMissing(ask)
  } catch (error) {
    if (error instanceof ForgeError && error.detail.status === 403) return null
    throw error
  }
}
