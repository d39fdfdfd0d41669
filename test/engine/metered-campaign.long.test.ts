import { describe, expect, it } from 'vitest'
import type { LedgerEvent } from '../../src/model/event.ts'
import { completion, meteredEndpoint } from '../servers/metered-endpoint.ts'
import { createTestRepository, patchOf } from '../support/repository.ts'

const HARNESS = `import { readFileSync } from 'node:fs'
const content = readFileSync('src/prompt.txt', 'utf8')
const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], max_tokens: 10 })
const url = process.env.OPENAI_BASE_URL + '/chat/completions'
const answer = await fetch(url, { method: 'POST', headers, body })
if (!answer.ok) throw new Error(await answer.text())
console.log(JSON.stringify({ answered: (await answer.json()).choices.length }))
`
const PROMPT = `${'please answer '.repeat(10)}\n`
const SHORT = `${'please answer '.repeat(5)}\n`

/** A token is a byte of the prompt, and 10 000 tokens are a dollar. */
async function meteredCampaign(stopping: string) {
  const endpoint = await meteredEndpoint(({ body }) => {
    const [message] = body['messages'] as { content: string }[]
    return { body: completion([message?.content.length ?? 0, 0]) }
  })
  const site = await createTestRepository({
    name: 'prompt',
    files: {
      'bench/ask.mjs': HARNESS,
      'src/prompt.txt': PROMPT,
      'ideas/0.patch': patchOf({ 'src/prompt.txt': [PROMPT, SHORT] }, { hypothesis: 'shorter' }),
    },
    spec: `winnow: 1
metric:
  primary: { name: model_cost_usd }
  degenerate_gates: [{ name: answered, check: '== 1' }]
models: [{ id: m, price: { input: 100, output: 100 } }]
measurement: { command: exec ${process.execPath} bench/ask.mjs, models: metered, probes: off }
scope: { mutable: [src/] }
propose: [{ use: patch, dir: ideas }]
stopping: { ${stopping} }
`,
    env: { WINNOW_MODEL_URL: endpoint.url, WINNOW_MODEL_KEY: 'sk-of-the-harness' },
  })
  await site.start()
  return { site, endpoint }
}

const spentIn = (events: readonly LedgerEvent[]) =>
  events.flatMap(event => (event.kind === 'spent' ? [[event.what, event.usd] as const] : []))

describe('a campaign whose harness asks models', () => {
  it('keeps what costs less, and the ledger has the cost of every order and no key', async () => {
    const { site, endpoint } = await meteredCampaign('max_total_cost_usd: 5')
    expect(await site.run()).toMatchObject({ for: 'nothing' })
    expect(await site.outcomes()).toEqual({ shorter: 'kept' })
    const events = await site.events()
    const orders = events.flatMap(event => (event.kind === 'order-issued' ? [event] : []))
    expect(orders.map(({ may_cost_usd }) => (may_cost_usd ?? 0) > 0)).not.toContain(false)
    const sum = endpoint.asked.reduce((all, { body }) => {
      const [message] = body['messages'] as { content: string }[]
      return all + (message?.content.length ?? 0) / 10_000
    }, 0)
    const { spent } = await site.campaign()
    expect(spent).toMatchObject({ requests: endpoint.asked.length, usd: expect.closeTo(sum, 9) })
    expect(new Set(spentIn(events).map(([what]) => what))).toEqual(new Set(['measure']))
    expect(spent.usd_for['measure']).toBeCloseTo(sum, 9)
    for (const { headers } of endpoint.asked) expect(headers.authorization).toBe('Bearer sk-of-the-harness')
    expect(JSON.stringify(events)).not.toContain('sk-of-the-harness')
    await site.proven()
  }, 120_000)

  it('stops with one reason once its money is spent, and blames no idea', async () => {
    const { site, endpoint } = await meteredCampaign('max_total_cost_usd: 0.03')
    expect(await site.run()).toMatchObject({ for: 'nothing' })
    const { status_reason, spent, landings } = await site.campaign()
    expect(status_reason).toBe('0.03 USD spent on models (stopping.max_total_cost_usd)')
    expect(landings).toEqual([])
    expect(Object.values(await site.outcomes())).not.toContain('error')
    const one = PROMPT.length / 10_000
    expect(spent.usd).toBeLessThan(0.03 + one)
    const before = endpoint.asked.length
    await site.run()
    expect(endpoint.asked).toHaveLength(before)
    await site.proven()
  }, 120_000)
})
