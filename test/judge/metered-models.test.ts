import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import { type MeterTerms, openMeteredModels } from '../../src/judge/metered-models.ts'
import type { MeteredCalls } from '../../src/measure/session.ts'
import type { ModelCost } from '../../src/model/report.ts'
import { completion, type EndpointReply, meteredEndpoint } from '../servers/metered-endpoint.ts'

const KEY = 'sk-the-real-key'
const MILLION = 1_000_000

async function metered(
  reply: Parameters<typeof meteredEndpoint>[0] = () => ({ body: completion([30, 10]) }),
  terms: Partial<MeterTerms> = {},
) {
  const endpoint = await meteredEndpoint(reply)
  const recorded: ModelCost[] = []
  let drawn = 0
  const models = await openMeteredModels({
    endpoint: parseEndpoint(endpoint.url, KEY),
    key: KEY,
    prices: new Map([
      ['m', { input: 1, output: 2 }],
      ['dear', { input: 100, output: 100 }],
    ]),
    capUsd: null,
    before: { requests: 0, tokens: 0, usd: 0 },
    executionCapUsd: null,
    web: (url, options) => fetch(url, options),
    random: { hex: length => String((drawn += 1)).padStart(2 * length, '0'), fraction: () => 0 },
    record: cost => recorded.push(cost),
    ...terms,
  })
  onTestFinished(() => models.close())
  return { endpoint, models, recorded }
}

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'is it?' }], max_tokens: 100 }

function call({ env }: MeteredCalls, body: unknown = CHAT, path = '/chat/completions', key?: string) {
  return fetch(`${env['OPENAI_BASE_URL']}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key ?? env['OPENAI_API_KEY']}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function errorOf(response: Response): Promise<[number, string, string]> {
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  return [response.status, error.code, error.message]
}

describe('a harness that asks models', () => {
  it('reaches the endpoint with a key that is not the real one, and its calls are counted', async () => {
    const { endpoint, models, recorded } = await metered()
    const calls = models.open()
    const answer = await call(calls)
    expect([answer.status, await answer.json()]).toEqual([200, completion([30, 10])])
    expect(endpoint.asked).toMatchObject([
      { path: '/v1/chat/completions', body: CHAT, headers: { authorization: `Bearer ${KEY}` } },
    ])
    const cost = { requests: 1, tokens: 40, usd: expect.closeTo(50 / MILLION, 12) }
    expect(await calls.end()).toEqual({ cost, overrun: null, failed: null })
    expect(recorded).toEqual([cost])
    expect(models.usage()).toEqual({ model: 'm, dear', ...cost })
    expect(JSON.stringify(calls.env)).not.toContain(KEY)
    expect(calls.env).toMatchObject({
      WINNOW_MODEL_URL: calls.env['OPENAI_BASE_URL'],
      NO_PROXY: '127.0.0.1,localhost',
    })
  })

  it('has a key that is of no use to another execution, or after its own', async () => {
    const { endpoint, models } = await metered()
    const [base, candidate] = [models.open(), models.open()]
    expect(base.env['OPENAI_API_KEY']).not.toBe(candidate.env['OPENAI_API_KEY'])
    await call(candidate)
    await base.end()
    const late = await call(base)
    expect((await errorOf(late)).slice(0, 2)).toEqual([401, 'winnow_wrong_token'])
    expect((await errorOf(await call(candidate, CHAT, '/chat/completions', KEY)))[0]).toBe(401)
    expect((await candidate.end()).cost.requests).toBe(1)
    expect(endpoint.asked).toHaveLength(1)
  })

  it('sees the models of the spec, and may ask no other', async () => {
    const { endpoint, models } = await metered()
    const calls = models.open()
    const headers = { authorization: `Bearer ${calls.env['OPENAI_API_KEY']}` }
    const list = await fetch(`${calls.env['OPENAI_BASE_URL']}/models`, { headers })
    expect(await list.json()).toMatchObject({ data: [{ id: 'm' }, { id: 'dear' }] })
    expect(await errorOf(await call(calls, { ...CHAT, model: 'gpt-secret' }))).toEqual([
      404,
      'model_not_found',
      'winnow: the model gpt-secret is not in models of the spec: m, dear',
    ])
    for (const body of ['not json', '{"messages": []}', '[]'])
      expect((await errorOf(await call(calls, body))).slice(0, 2)).toEqual([400, 'winnow_bad_request'])
    expect((await errorOf(await call(calls, `{"model": "m", "x": "${'x'.repeat(9 * MILLION)}"}`)))[0]).toBe(
      413,
    )
    expect(await calls.end()).toMatchObject({ cost: { requests: 0 }, failed: null })
    expect(endpoint.asked).toEqual([])
  })

  it('reaches no other host and no other path', async () => {
    const { endpoint, models } = await metered()
    const calls = models.open()
    const { port } = new URL(calls.env['OPENAI_BASE_URL'] ?? '')
    const authorization = `Bearer ${calls.env['OPENAI_API_KEY']}`
    const ask = (path: string, headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const options = { port, path, method: 'POST', headers: { authorization, ...headers } }
        request({ host: '127.0.0.1', ...options }, ({ statusCode = 0 }) => resolve(statusCode))
          .on('error', reject)
          .end(JSON.stringify(CHAT))
      })
    expect(await ask('http://evil.example/v1/chat/completions', {})).toBe(403)
    expect(await ask('/v1/chat/completions', { host: 'evil.example' })).toBe(403)
    for (const path of ['/v1/files', '/v1/../admin', '/v1/chat/completions?x=1', '/'])
      expect([path, await ask(path, {})]).toEqual([path, 404])
    const tunnel = await new Promise<string>(resolve => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.once('data', data => resolve(data.toString('utf8')))
      socket.write('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n')
    })
    expect(tunnel).toMatch(/^HTTP\/1\.1 403 /)
    expect(endpoint.asked).toEqual([])
  })
})

describe('the usage of an answer', () => {
  const delta = { choices: [{ index: 0, delta: { content: 'yes' } }] }
  const usage = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } }

  it('is read from a stream, which the harness gets as it asked for it', async () => {
    const { endpoint, models } = await metered(() => ({ body: [delta, usage, '[DONE]'] }))
    const calls = models.open()
    const text = await (await call(calls, { ...CHAT, stream: true })).text()
    expect(text).toBe(`data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`)
    expect(endpoint.asked[0]?.body).toMatchObject({ stream_options: { include_usage: true } })
    expect(await calls.end()).toMatchObject({ cost: { tokens: 10 }, failed: null })
    const own = models.open()
    const asked = { ...CHAT, stream: true, stream_options: { include_usage: true } }
    expect(await (await call(own, asked)).text()).toContain('"prompt_tokens":7')
  })

  it('of the API of responses counts as well, in one piece and streamed', async () => {
    const given = { input_tokens: 5, output_tokens: 6 }
    const replies: EndpointReply[] = [
      { body: { usage: given } },
      { body: [{ type: 'response.completed', response: { usage: given } }] },
    ]
    const { models } = await metered((_, before) => replies[before] ?? null)
    const calls = models.open()
    await (await call(calls, { model: 'm', input: 'x' }, '/responses')).text()
    await (await call(calls, { model: 'm', input: 'x', stream: true }, '/responses')).text()
    expect((await calls.end()).cost).toMatchObject({ requests: 2, tokens: 22 })
  })

  it('of an answer that reached its limit counts, and the endpoint is not at fault', async () => {
    const end = { type: 'response.incomplete', response: { usage: { input_tokens: 5, output_tokens: 6 } } }
    const { models } = await metered(() => ({ body: [end] }))
    const calls = models.open()
    await (await call(calls, { model: 'm', input: 'x', stream: true }, '/responses')).text()
    expect(await calls.end()).toMatchObject({ cost: { tokens: 11 }, failed: null })
  })

  it.each<[string, EndpointReply | null, Record<string, unknown>]>([
    ['that does not tell it', { body: completion(null) }, {}],
    ['that has a wrong one', { body: { ...completion(null), usage: { prompt_tokens: -1 } } }, {}],
    ['that broke off', { body: '{"choices": [', cut: true }, {}],
    ['that never came', null, {}],
    ['of a server that broke', { status: 500, body: { error: { message: 'oops' } } }, {}],
    ['that is no JSON', { body: '<html>' }, {}],
    ['of 10 MB', { body: JSON.stringify(completion([1, 1], 'x'.repeat(10 * MILLION))) }, {}],
    ['streamed that broke off', { body: [delta], cut: true }, { stream: true }],
    ['streamed without an end', { body: [delta] }, { stream: true }],
  ])('%s counts with the most that it may be', async (_, reply, more) => {
    const { models } = await metered(() => reply)
    const calls = models.open()
    const body = { ...CHAT, ...more }
    await call(calls, body)
      .then(answer => answer.text())
      .catch(() => '')
    const bytes = JSON.stringify(body).length + 100
    const { cost } = await calls.end()
    expect(cost).toMatchObject({ requests: 1, usd: expect.closeTo((bytes + 2 * 100) / MILLION, 12) })
  })
})

describe('an endpoint that does not answer', () => {
  it.each([429, 503, 401, 500])(
    'with %d is at fault, unless the call is repeated with success',
    async status => {
      const busy = { status, headers: { 'retry-after': '3' }, body: { error: { message: `the key ${KEY}` } } }
      const { models } = await metered((_, before) => (before < 2 ? busy : { body: completion([1, 1]) }))
      const calls = models.open()
      const refused = await call(calls)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([status, '3'])
      expect(await refused.text()).toContain('the key ***')
      expect((await calls.end()).failed).toMatch(new RegExp(`^127.* answered ${status} to a call of m$`))
      const again = models.open()
      expect([(await call(again)).status, (await call(again)).status]).toEqual([status, 200])
      expect((await again.end()).failed).toBeNull()
    },
  )

  it.each([400, 413, 422])(
    'with %d refuses the call of the harness, which is at fault itself',
    async status => {
      const { models } = await metered(() => ({ status, body: { error: { message: 'too long' } } }))
      const calls = models.open()
      expect((await call(calls)).status).toBe(status)
      expect(await calls.end()).toEqual({
        cost: { requests: 0, tokens: 0, usd: 0 },
        overrun: null,
        failed: null,
      })
    },
  )

  it('redirects no call, and so no key', async () => {
    const { models } = await metered(() => ({
      status: 307,
      headers: { location: 'http://127.0.0.1:1/' },
      body: '',
    }))
    const calls = models.open()
    expect((await errorOf(await call(calls))).slice(0, 2)).toEqual([502, 'winnow_redirect'])
    expect((await calls.end()).failed).toContain('answered 307')
  })

  it('in time is given up', async () => {
    const { models } = await metered(() => ({ body: [{ choices: [] }] }), {
      timeoutMs: 100,
      web: (_, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('late')))),
    })
    const calls = models.open()
    expect((await errorOf(await call(calls))).slice(0, 2)).toEqual([502, 'winnow_no_answer'])
    expect((await calls.end()).failed).toContain('gave no answer in time')
  })
})

describe('a cap', () => {
  const half = () => ({ body: completion([0, 5_000]) })
  const dear = { ...CHAT, model: 'dear', max_tokens: 5_000 }

  it('ends the calls of all executions once it is reached, and says so', async () => {
    const { endpoint, models } = await metered(half, { capUsd: 1 })
    const [base, candidate] = [models.open(), models.open()]
    expect([(await call(base, dear)).status, (await call(candidate, dear)).status]).toEqual([200, 200])
    expect((await errorOf(await call(candidate, dear))).slice(0, 2)).toEqual([402, 'winnow_cap_reached'])
    expect(endpoint.asked).toHaveLength(2)
    expect((await base.end()).failed).toBeNull()
    expect(await candidate.end()).toMatchObject({
      cost: { usd: 0.5 },
      failed: '$1.00 of $1.00 are spent that were set aside for its model calls',
    })
  })

  it('includes what an interrupted run spent before', async () => {
    const before = { requests: 3, tokens: 9, usd: 0.9 }
    const { models, recorded } = await metered(half, { capUsd: 1, before })
    const calls = models.open()
    expect((await call(calls, dear)).status).toBe(200)
    expect((await call(calls, dear)).status).toBe(402)
    expect(recorded).toEqual([{ requests: 4, tokens: 5_009, usd: 1.4 }])
    expect((await calls.end()).cost.usd).toBe(0.5)
  })

  it('is exceeded by one call at most, however many are made at the same time', async () => {
    const { endpoint, models } = await metered(half, { capUsd: 1.2 })
    const calls = models.open()
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(calls, dear)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(models.usage().usd).toBe(1.5)
    expect(endpoint.most()).toBeLessThanOrEqual(2)
  })

  it('counts no call that was still waiting for its turn when its execution ended', async () => {
    const prices = new Map([['dear', { input: 100, output: 100 }]])
    const read = vi.spyOn(prices, 'get')
    const { models } = await metered(half, {
      capUsd: 1,
      prices,
      web: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          if (signal?.aborted === true) reject(new Error('gone'))
          signal?.addEventListener('abort', () => reject(new Error('gone')))
        }),
    })
    const calls = models.open()
    // The server is closed before they are answered.
    void Promise.allSettled([call(calls, dear), call(calls, dear)])
    await expect.poll(() => read.mock.calls.length).toBe(2)
    expect((await calls.end()).cost.requests).toBe(1)
  })

  it('of one execution is its own, and the others go on', async () => {
    const { models } = await metered(half, { capUsd: 10, executionCapUsd: 0.4 })
    const [greedy, modest] = [models.open(), models.open()]
    expect([(await call(greedy, dear)).status, (await call(greedy, dear)).status]).toEqual([200, 402])
    expect((await call(modest, dear)).status).toBe(200)
    expect(await greedy.end()).toMatchObject({
      failed: null,
      overrun:
        'it spent $0.50 on models, and one execution may spend $0.40 (measurement.max_execution_cost_usd)',
    })
    expect((await modest.end()).overrun).toBeNull()
  })
})
