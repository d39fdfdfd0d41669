import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { createGithubClient } from '../../src/github/client.ts'
import { listeningForTest } from '../servers/loopback.ts'

/** Somebody's address, who answers everything with nothing and remembers what was asked for. */
async function anyServer() {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`)
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{}}')
  })
  return { url: `http://127.0.0.1:${await listeningForTest(server)}`, paths }
}

test.each([
  ['github.com', '', ['GET /repos/team/project', 'POST /graphql']],
  ['github.com, with a slash', '/', ['GET /repos/team/project', 'POST /graphql']],
  ['an Enterprise Server', '/api/v3', ['GET /api/v3/repos/team/project', 'POST /api/graphql']],
  ['an Enterprise Server, with a slash', '/api/v3/', ['GET /api/v3/repos/team/project', 'POST /api/graphql']],
])('REST and GraphQL of %s are where GITHUB_API_URL says', async (_what, path, expected) => {
  const { url, paths } = await anyServer()
  const access = { repository: 'team/project', token: 'x', version: '0.0.0', say: () => undefined }
  const client = createGithubClient({ ...access, apiUrl: `${url}${path}` })
  await client.rest.repos.get(client.where)
  await client.graphql('query { viewer { login } }', {})
  expect(paths).toEqual(expected)
})
