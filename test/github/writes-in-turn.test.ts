import { createServer, type ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { createGithubClient } from '../../src/github/client.ts'
import { listeningForTest } from '../servers/loopback.ts'

test('writes wait for one another, however many are asked for at once', async () => {
  const waiting: { method: string; response: ServerResponse }[] = []
  let together = 0
  let read = false
  /** Nothing is answered until everybody who does not wait for an answer has asked. */
  const server = createServer((request, response) => {
    waiting.push({ method: request.method ?? '', response })
    together = Math.max(together, waiting.filter(({ method }) => method === 'POST').length)
    read ||= request.method === 'GET'
    if (!read) return
    for (const { response: each } of waiting.splice(0))
      each.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const { rest, where } = createGithubClient({
    apiUrl: `http://127.0.0.1:${await listeningForTest(server)}`,
    repository: 'team/project',
    token: 'x',
    version: '0.0.0',
    say: () => undefined,
  })
  const issue = { ...where, issue_number: 1 }
  const label = () => rest.issues.addLabels({ ...issue, labels: ['x'] })
  await Promise.all([label(), label(), rest.issues.listComments(issue)])
  expect(together).toBe(1)
})
