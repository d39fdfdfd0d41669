import { describe, expect, it } from 'vitest'
import { openBudget } from '../../src/judge/budget.ts'
import { createChatModels } from '../../src/judge/chat-model.ts'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import type { ModelQuestion } from '../../src/ports.ts'
import { type ModelReply, modelServer } from '../servers/model-server.ts'

const QUESTION: ModelQuestion = { model: 'm', system: 'score it', user: 'an item', maxTokens: 100 }
const PRICE = { input: 1, output: 1 }
const NEVER = new AbortController().signal
const KEY = 'sk-very-secret'

interface Setting {
  capUsd?: number | null
  timeoutMs?: number
  key?: string
  web?: typeof fetch
}

/** A model that answers in turn what is given, the last again and again; time passes by waiting alone. */
async function asking(replies: readonly ModelReply[], setting: Setting = {}) {
  const { capUsd = null, timeoutMs = 20_000, key = KEY, web } = setting
  const server = await modelServer((_, before) => replies[Math.min(before, replies.length - 1)] ?? 'reset')
  const waits: number[] = []
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock = {
    now: () => now,
    monotonic: () => now,
    async sleep(milliseconds: number) {
      waits.push(milliseconds)
      now += milliseconds
    },
  }
  const models = createChatModels({
    endpoint: parseEndpoint(server.url, key),
    key,
    budget: openBudget({ model: 'm', capUsd, price: PRICE }),
    clock,
    random: { hex: () => '', fraction: () => 0 },
    timeoutMs,
    ...(web === undefined ? {} : { web }),
  })
  return { server, waits, models, ask: (question = QUESTION) => models.ask(question, NEVER) }
}

describe('a question to a model', () => {
  it('uses the given fetch function, for example through a proxy', async () => {
    const asked: unknown[] = []
    const web: typeof fetch = (url, options) => {
      asked.push(url)
      return fetch(url, options)
    }
    const { server, ask } = await asking([{ text: '{}', tokens: [1, 1] }], { web })
    expect(await ask()).toMatchObject({ is: 'answered' })
    expect(asked).toEqual([`${server.url}/chat/completions`])
  })

  it('uses JSON mode and the key, with the instructions separate from the items', async () => {
    const { server, ask, models } = await asking([{ text: '{"a": 1}', tokens: [30, 7] }])
    expect(await ask()).toEqual({ is: 'answered', text: '{"a": 1}', complete: true })
    const [asked] = server.asked
    expect(asked).toMatchObject({
      path: '/v1/chat/completions',
      authorization: `Bearer ${KEY}`,
      system: 'score it',
      user: 'an item',
    })
    expect(asked?.body).toMatchObject({
      response_format: { type: 'json_object' },
      max_tokens: 100,
      temperature: 0,
    })
    expect(models.usage()).toEqual({ requests: 1, unanswered: 0, tokens: 37, usd: 37 / 1_000_000 })
  })

  it('sends no authorization without a key', async () => {
    const { server, ask } = await asking([{ text: '{}' }], { key: '' })
    await ask()
    expect(server.asked[0]?.authorization).toBeUndefined()
  })

  it.each<[string | null, boolean]>([
    ['stop', true],
    [null, true],
    ['length', false],
    ['content_filter', false],
  ])('whose answer ended with %s is complete: %s', async (finish, complete) => {
    const { ask } = await asking([{ text: '{"a":', finish }])
    expect(await ask()).toEqual({ is: 'answered', text: '{"a":', complete })
  })
})

describe('an endpoint that cannot answer now', () => {
  it.each<[string, ModelReply]>([
    ['is busy', { status: 429 }],
    ['is overloaded', { status: 529 }],
    ['is not there', { status: 503 }],
    ['broke', { status: 500, body: '<html>' }],
    ['breaks the connection', 'reset'],
    ['breaks off in its answer', 'cut'],
    ['answers something else', { status: 200, body: '<html>a gateway</html>' }],
    ['answers without a choice', { status: 200, body: { choices: [] } }],
  ])('%s, and is retried', async (_, fault) => {
    const { server, waits, ask } = await asking([fault, fault, { text: '{}' }])
    expect(await ask()).toEqual({ is: 'answered', text: '{}', complete: true })
    expect(server.asked).toHaveLength(3)
    expect(waits).toEqual([500, 1000])
  })

  it('is retried for minutes, and then given up', async () => {
    const { server, waits, ask } = await asking([{ status: 503, body: { error: { message: 'later' } } }])
    const answer = await ask()
    expect(answer).toEqual({
      is: 'unreachable',
      reason: expect.stringMatching(/^127.* is busy \(503\): later$/),
    })
    expect(server.asked.length).toBe(waits.length + 1)
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThanOrEqual(300_000)
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000)
    expect(server.asked.length).toBeGreaterThan(9)
  })

  it.each<[Record<string, string>, number]>([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after-ms': '2500', 'retry-after': '7' }, 2_500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'soon' }, 500],
  ])('names the wait before a retry: %j', async (headers, wait) => {
    const { waits, ask } = await asking([{ status: 429, headers }, { text: '{}' }])
    await ask()
    expect(waits).toEqual([wait])
  })

  it('asks for too long a wait, and is given up at once', async () => {
    const { server, waits, ask } = await asking([{ status: 429, headers: { 'retry-after': '3600' } }])
    expect(await ask()).toMatchObject({
      is: 'unreachable',
      reason: expect.stringContaining('to wait 3600 s'),
    })
    expect([server.asked.length, waits]).toEqual([1, []])
  })

  it('does not answer in time', async () => {
    const { server, ask } = await asking(['silent', { text: '{}' }], { timeoutMs: 1_000 })
    expect(await ask()).toMatchObject({ is: 'answered' })
    expect(server.asked).toHaveLength(2)
  })

  it('sends too large an answer', async () => {
    const { ask } = await asking([{ status: 200, body: 'x'.repeat(5 * 1024 * 1024) }])
    expect(await ask()).toMatchObject({ is: 'unreachable', reason: expect.stringContaining('larger than') })
  })
})

describe('an endpoint that refuses', () => {
  it.each<[number, RegExp]>([
    [401, /does not accept the key for m: set WINNOW_MODEL_KEY/],
    [403, /does not accept the key for m: set WINNOW_MODEL_KEY/],
    [404, /has no model m, or answers at another address \(404\)/],
    [302, /redirects to another address/],
  ])('with %d is not retried', async (status, reason) => {
    const { server, ask, models } = await asking([{ status, headers: { location: 'http://127.0.0.1:1/' } }])
    expect(await ask()).toEqual({ is: 'refused', reason: expect.stringMatching(reason) })
    expect(server.asked).toHaveLength(1)
    expect(models.usage().requests).toBe(0)
  })

  it.each([400, 413, 422])('with %d rejects only this question', async status => {
    const { server, ask, models } = await asking([{ status }])
    const reason = `rejects this request to m (${status})`
    expect(await ask()).toEqual({ is: 'not-taken', reason: expect.stringContaining(reason) })
    expect([server.asked.length, models.usage().requests]).toEqual([1, 0])
  })

  it('without credit is not retried, even if it reports a rate limit', async () => {
    const body = { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }
    const { server, ask } = await asking([{ status: 429, body }])
    expect(await ask()).toMatchObject({
      is: 'refused',
      reason: expect.stringContaining('no credit left'),
    })
    expect(server.asked).toHaveLength(1)
  })

  it('is quoted in one line, without the key', async () => {
    const body = { error: { message: `the key ${KEY} is wrong\n::error::\u001B[31m${'x'.repeat(900)}` } }
    const { ask } = await asking([{ status: 401, body }])
    const answer = await ask()
    const reason = 'reason' in answer ? answer.reason : ''
    expect(reason).toContain('the key *** is wrong ::error::x')
    expect(reason).not.toContain('\n')
    expect(reason).not.toContain('\u001B')
    expect(reason.length).toBeLessThan(500)
  })
})

describe('a cap', () => {
  const dear = { text: '{}', tokens: [400_000, 100_000] } as const satisfies ModelReply

  it('stops requests once it is reached, and at most one request exceeds it', async () => {
    const { server, ask, models } = await asking([{ ...dear, tokens: [400_000, 100_000] }], { capUsd: 1.2 })
    const answers = [await ask(), await ask(), await ask(), await ask()]
    expect(answers.map(({ is }) => is)).toEqual(['answered', 'answered', 'answered', 'over-budget'])
    expect(answers[3]).toMatchObject({ reason: '$1.50 of $1.20 are spent on m' })
    expect(server.asked).toHaveLength(3)
    expect(models.usage().usd).toBeCloseTo(1.5)
  })

  it('holds for concurrent requests: they run one after the other', async () => {
    const { server, ask } = await asking([{ ...dear, tokens: [400_000, 100_000] }], { capUsd: 0.9 })
    const answers = await Promise.all([ask(), ask(), ask(), ask(), ask()])
    expect(answers.filter(({ is }) => is === 'answered')).toHaveLength(2)
    expect(server.asked).toHaveLength(2)
    expect(server.most).toBe(1)
  })

  it('counts unknown usage with its highest possible cost', async () => {
    const { ask, models } = await asking([{ text: '{}', tokens: null }], { capUsd: 1 })
    await ask()
    const bytes = 'score it'.length + 'an item'.length
    expect(models.usage()).toEqual({
      requests: 1,
      unanswered: 1,
      tokens: 0,
      usd: expect.closeTo((bytes + 100 + 100) / 1_000_000, 12),
    })
  })

  it('counts lost answers and ends retries too', async () => {
    const question = { ...QUESTION, maxTokens: 300_000 }
    const { server, ask } = await asking(['reset'], { capUsd: 1 })
    expect(await ask(question)).toMatchObject({ is: 'over-budget' })
    expect(server.asked).toHaveLength(4)
  })

  it('does not let a failed request block the next', async () => {
    const { models, server } = await asking(['silent', { text: '{}' }], { capUsd: 1 })
    const gone = new AbortController()
    const first = models.ask(QUESTION, gone.signal)
    const second = models.ask(QUESTION, NEVER)
    await expect.poll(() => server.asked.length).toBe(1)
    gone.abort(new Error('nobody waits'))
    await expect(first).rejects.toThrow('nobody waits')
    expect(await second).toMatchObject({ is: 'answered' })
    expect(models.usage().unanswered).toBe(1)
  })
})

describe('an abort', () => {
  it('ends the running request and starts none', async () => {
    const { models, server } = await asking([{ text: '{}' }])
    await expect(models.ask(QUESTION, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    expect(server.asked).toEqual([])
  })
})
