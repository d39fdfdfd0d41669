import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { hasModelUrl, readModelAccess } from '../../src/judge/model-access.ts'
import { winnowSpec } from '../spec/problems-of.ts'
import { listeningForTest } from '../servers/loopback.ts'

const OPENAI = { WINNOW_MODEL_URL: 'https://api.openai.com/v1', WINNOW_MODEL_KEY: 'sk' }
const noWeb = () => Promise.reject(new Error('offline'))

function read(env: Record<string, string>, name: string, models: unknown = [], web = noWeb as typeof fetch) {
  return readModelAccess({ env, models: winnowSpec({ models }).models, web }, name)
}

describe('the address of models', () => {
  it('comes from the environment', async () => {
    expect(await read(OPENAI, 'cheap')).toMatchObject({ key: 'sk', model: 'gpt-4.1-mini' })
    const own = { WINNOW_MODEL_URL: 'http://127.0.0.1:1/v1' }
    expect(await read(own, 'mine')).toMatchObject({ key: '', model: 'mine', price: null })
  })

  it('is never guessed', async () => {
    expect([hasModelUrl({}), hasModelUrl({ WINNOW_MODEL_URL: '' }), hasModelUrl(OPENAI)]).toEqual([
      false,
      false,
      true,
    ])
    await expect(read({ WINNOW_MODEL_KEY: 'sk' }, 'cheap')).rejects.toThrow('no address of a model is set')
  })
})

describe('the price of a model', () => {
  const priced = { ...OPENAI, WINNOW_MODEL_PRICE: '2/8.5' }

  it('is known from no memory', async () => {
    expect((await read(OPENAI, 'cheap')).price).toBeNull()
    expect((await read(OPENAI, 'gpt-4.1')).price).toBeNull()
  })

  it('comes from the spec, before the environment', async () => {
    const models = [{ id: 'gpt-4.1-mini', price: { input: 1, output: 0 } }, { id: 'other' }]
    expect((await read(priced, 'gpt-4.1-mini', models)).price).toEqual({ input: 1, output: 0 })
    expect((await read(priced, 'cheap', models)).price).toEqual({ input: 1, output: 0 })
    expect((await read(priced, 'other', models)).price).toEqual({ input: 2, output: 8.5 })
  })

  it.each(['free', '1', '1/', '-1/2', '1/2/3', '1,5/2'])('cannot be read from %s', async price => {
    const env = { ...OPENAI, WINNOW_MODEL_PRICE: price }
    await expect(read(env, 'cheap')).rejects.toThrow(`WINNOW_MODEL_PRICE is ${JSON.stringify(price)}`)
  })

  /** An endpoint that answers `GET /v1/models` with this. */
  async function listing(status: number, body: string) {
    const asked: unknown[] = []
    const server = createServer((request, response) => {
      asked.push([request.method, request.url, request.headers.authorization])
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
    const url = `http://127.0.0.1:${await listeningForTest(server)}/v1`
    return { env: { WINNOW_MODEL_URL: url, WINNOW_MODEL_KEY: 'sk' }, asked }
  }

  it('is the one that the endpoint lists, otherwise', async () => {
    const model = (id: string, pricing: unknown) => ({ id, object: 'model', pricing })
    const data = [
      { id: 'no-price', object: 'model' },
      model('a', { prompt: '0.0000004', completion: '0.0000016', request: '0', image: '0.1' }),
      model('per-request', { prompt: '0', completion: '0', request: '0.01' }),
      model('negative', { prompt: '-1', completion: '-1' }),
      model('blank', { prompt: '', completion: ' ' }),
      model('words', { prompt: 'cheap', completion: '1' }),
    ]
    const { env, asked } = await listing(200, JSON.stringify({ data }))
    const { price } = await read(env, 'a', [], fetch)
    expect([price?.input, price?.output]).toEqual([expect.closeTo(0.4), expect.closeTo(1.6)])
    expect(asked).toEqual([['GET', '/v1/models', 'Bearer sk']])
    for (const id of ['no-price', 'per-request', 'negative', 'blank', 'words', 'absent'])
      expect((await read(env, id, [], fetch)).price).toBeNull()
  })

  it.each([
    [500, 'broken'],
    [404, '{}'],
    [302, '{"data": []}'],
    [200, '<html>'],
    [200, '{"data": 3}'],
    [200, `{"data": ["${'x'.repeat(17 * 1024 * 1024)}"]}`],
  ])('stays unknown after an answer of %d', async (status, body) => {
    const { env } = await listing(status, body)
    expect((await read(env, 'a', [], fetch)).price).toBeNull()
  })
})
