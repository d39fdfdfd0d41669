import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { createGithubForge } from '../../src/github/github-forge.ts'
import type { Forge } from '../../src/github/port.ts'
import { IMPATIENT } from './temp-github.ts'
import { listeningForTest } from '../servers/loopback.ts'

interface Said {
  status: number
  headers?: Record<string, string>
  body: unknown
}

/** A GitHub that says the same to everything, and a forge whose clock is not that of the wall. */
async function always({ status, headers = {}, body }: Said) {
  const told = { requests: 0, slept: 0 }
  const server = createServer((_, response) => {
    told.requests += 1
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  const forge = createGithubForge({
    apiUrl: `http://127.0.0.1:${await listeningForTest(server)}`,
    repository: 'team/project',
    token: 'token',
    version: '0.0.0',
    say: () => undefined,
    base: 'optimize/demo',
    monotonic: () => told.slept,
    sleep: async milliseconds => void (told.slept += milliseconds),
    random: () => 0.5,
    patience: IMPATIENT,
  })
  return { forge, told }
}

const SECONDARY = { message: 'You have exceeded a secondary rate limit. Please wait' }
const IN_AN_HOUR = String(Math.floor(Date.now() / 1000) + 3600)
const USED_UP = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': IN_AN_HOUR }
const ASK: Record<string, (forge: Forge) => Promise<unknown> | undefined> = {
  REST: forge => forge.readPermission?.('eve'),
  GraphQL: forge => forge.list(),
}

test.each([
  ['a 429 with its time', { status: 429, headers: { 'retry-after': '600' }, body: SECONDARY }],
  ['a 403 with its time', { status: 403, headers: { 'retry-after': '600' }, body: SECONDARY }],
  ['a 429 that says nothing', { status: 429, body: { message: 'slow down' } }],
  [
    'an hour that is used up',
    { status: 429, headers: USED_UP, body: { message: 'API rate limit exceeded' } },
  ],
])('after %s nobody asks again before the next wake-up', async (_, said) => {
  for (const ask of Object.values(ASK)) {
    const { forge, told } = await always(said)
    await expect(ask(forge)).rejects.toThrow(said.body.message)
    expect(told).toEqual({ requests: 1, slept: 0 })
  }
})

test('the time that GitHub asks for is told', async () => {
  const { forge } = await always({ status: 429, headers: { 'retry-after': '600' }, body: SECONDARY })
  await expect(forge.readPermission?.('eve')).rejects.toThrow(/Retry after 600 s/)
})

test.each([
  ['RATE_LIMITED', 429],
  ['FORBIDDEN', 403],
  ['INSUFFICIENT_SCOPES', 403],
  ['UNPROCESSABLE', 422],
])('what GraphQL calls %s is %i, and is asked once', async (type, status) => {
  const errors = [{ type, message: 'Resource protected by organization SAML enforcement.' }]
  const { forge, told } = await always({ status: 200, headers: USED_UP, body: { data: null, errors } })
  await expect(forge.list()).rejects.toMatchObject({ detail: { status } })
  expect(told).toEqual({ requests: 1, slept: 0 })
})

test('where GraphQL itself did not get on it is asked again', async () => {
  const errors = [{ message: 'Something went wrong while executing your query.' }]
  const { forge, told } = await always({ status: 200, body: { data: null, errors } })
  await expect(forge.list()).rejects.toMatchObject({ detail: { status: 500 } })
  expect(told.requests).toBeGreaterThan(3)
})
