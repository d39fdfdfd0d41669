import { onTestFinished, describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import { openMeteredModels } from '../../src/judge/metered-models.ts'
import type { Report } from '../../src/model/report.ts'
import { completion, type EndpointReply, meteredEndpoint } from '../servers/metered-endpoint.ts'
import { type Experiment, laboratory } from './laboratory.ts'

/** Asks as often as src/asks says, whatever it is answered, and prints what it sees of its surroundings. */
const HARNESS = `import { readFileSync, writeFileSync } from 'node:fs'
const { OPENAI_BASE_URL, OPENAI_API_KEY, WINNOW_OUT_DIR } = process.env
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 10 })
const headers = { authorization: 'Bearer ' + OPENAI_API_KEY }
const asks = Number(readFileSync('src/asks', 'utf8'))
for (let at = 0; at < asks; at++) await fetch(OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })
console.log(JSON.stringify({ bytes: 100 }))
console.error(JSON.stringify(process.env))
`

async function measured(
  asks: { base: number; candidate: number },
  {
    reply = { body: completion([0, 100_000]) },
    ...terms
  }: { reply?: EndpointReply; capUsd?: number; executionCapUsd?: number } = {},
): Promise<{ report: Report; asked: number }> {
  const endpoint = await meteredEndpoint(() => reply)
  const models = await openMeteredModels({
    endpoint: parseEndpoint(endpoint.url, 'sk-real'),
    key: 'sk-real',
    prices: new Map([['m', { input: 1, output: 1 }]]),
    capUsd: null,
    before: { requests: 0, tokens: 0, usd: 0 },
    executionCapUsd: null,
    web: (url, options) => fetch(url, options),
    random: { hex: () => crypto.randomUUID(), fraction: () => 0 },
    record: () => {},
    ...terms,
  })
  onTestFinished(() => models.close())
  const experiment: Experiment = {
    files: { 'bench.mjs': HARNESS, 'src/asks': '0' },
    base: { 'src/asks': String(asks.base) },
    candidates: { 'exp-001': { 'src/asks': String(asks.candidate) } },
    spec: {
      models: [{ id: 'm' }],
      metric: { primary: { name: 'bytes', direction: 'minimize' } },
      measurement: { command: `exec ${process.execPath} bench.mjs`, models: 'metered' },
    },
    input: { models },
  }
  return { report: await (await laboratory()).measure(experiment), asked: endpoint.asked.length }
}

const costs = ({ executions }: Report) =>
  executions.map(({ side, status, metrics }) => [side, status, metrics['model_cost_usd']])

describe('a harness that asks models through winnow', () => {
  it('shows what each side spends, and never holds the key', async () => {
    const { report, asked } = await measured({ base: 1, candidate: 3 })
    expect(report.runner_error).toBeNull()
    expect(new Map(costs(report).map(([side, ...rest]) => [side, rest]))).toEqual(
      new Map<unknown, unknown>([
        ['base', ['ok', 0.1]],
        ['exp-001', ['ok', expect.closeTo(0.3)]],
      ]),
    )
    expect(report.executions[0]?.metrics['model_tokens']).toBeGreaterThan(0)
    expect(report.metered).toEqual({
      model: 'm',
      requests: asked,
      tokens: 100_000 * asked,
      usd: expect.closeTo(0.1 * asked),
    })
    expect(JSON.stringify(report)).not.toContain('sk-real')
  })

  it('is not blamed for money that is used up, nor for an endpoint that fails', async () => {
    const capped = (await measured({ base: 1, candidate: 9 }, { capUsd: 0.25 })).report
    expect(capped.runner_error).toContain('are spent that were set aside for its model calls')
    expect(costs(capped).every(([, status]) => status === 'ok')).toBe(true)
    const broken = await measured({ base: 1, candidate: 1 }, { reply: { status: 503, body: {} } })
    expect(broken.report.runner_error).toContain('answered 503 to a call of m')
    expect(broken.report.executions).toEqual([])
  })

  it('fails where one execution wants more than it may spend', async () => {
    const { report } = await measured({ base: 1, candidate: 9 }, { executionCapUsd: 0.25 })
    expect(report.runner_error).toBeNull()
    const failed = report.executions.find(({ side }) => side === 'exp-001')
    expect(failed).toMatchObject({
      status: 'crashed',
      error: expect.stringContaining('measurement.max_execution_cost_usd'),
    })
    expect(report.executions.find(({ side }) => side === 'base')?.status).toBe('ok')
  })
})
