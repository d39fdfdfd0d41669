import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { askJudges, buildPrompt } from '../../src/judge/ask-judges.ts'
import { buildBatches, drawSample } from '../../src/judge/batch.ts'
import { openBudget } from '../../src/judge/budget.ts'
import { createChatModels } from '../../src/judge/chat-model.ts'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { type AskedModel, type ModelReply, modelServer } from '../servers/model-server.ts'
import { readingJudge, shownIn } from '../servers/reading-judge.ts'
import { items, judging, pairsOf, RUBRIC } from './some-items.ts'

const PRICE = { input: 1, output: 1 }

/** Judges over HTTP; time passes by waiting alone. */
async function judgeOverHttp(
  reply: (asked: AskedModel, before: number) => ModelReply,
  pairs = pairsOf(2),
  capUsd: number | null = null,
) {
  const server = await modelServer(reply)
  let now = 0
  const models = createChatModels({
    endpoint: parseEndpoint(server.url, ''),
    key: '',
    budget: openBudget({ model: 'm', capUsd, price: PRICE }),
    clock: { now: () => now, monotonic: () => now, sleep: async (ms: number) => void (now += ms) },
    random: { hex: () => '', fraction: () => 0 },
  })
  const records: ScoreRecord[] = []
  const { cut } = await askJudges({
    rubric: RUBRIC,
    batches: buildBatches(pairs, judging()),
    known: [],
    models,
    names: ['m'],
    record: each => void records.push(...each),
    signal: new AbortController().signal,
  })
  return { cut, records, asked: server.asked, usage: models.usage() }
}

const complete = (message: unknown, finish = 'stop'): ModelReply => ({
  status: 200,
  body: {
    choices: [{ message, finish_reason: finish }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  },
})
const call = { id: '1', type: 'function', function: { name: 'submit', arguments: '{"quality": 5}' } }

describe('an answer that does not fit', () => {
  it.each<[string, ModelReply]>([
    ['calls a tool', complete({ role: 'assistant', content: null, tool_calls: [call] }, 'tool_calls')],
    ['calls a tool beside a text', complete({ content: '{"scores": []}', tool_calls: [call] })],
    ['refuses', complete({ content: null, refusal: 'I cannot help with that.' })],
    ['is filtered', complete({ content: '' }, 'content_filter')],
    ['is cut off', complete({ content: '{"scores": [{"item": "' }, 'length')],
    ['is truncated JSON', complete({ content: '{"scores": [{"item": "a", "quality": 5}' })],
    ['has another form', complete({ content: '{"items": {"a": 5}}' })],
    ['is prose', complete({ content: 'All of them deserve a 5.' })],
    ['names items that were not shown', complete({ content: '{"scores": [{"item": "q0", "quality": 5}]}' })],
    ['is empty', complete({ content: '' })],
  ])('%s: the score is missing, never zero, and its cost counts', async (_, reply) => {
    const { cut, records, asked, usage } = await judgeOverHttp(() => reply)
    expect(cut).toBeNull()
    // Each item with its batch, and once more alone.
    expect(records).toHaveLength(8)
    expect(records.every(({ scores }) => scores === null)).toBe(true)
    expect(usage).toMatchObject({ requests: asked.length, tokens: 10 * asked.length })
    expect(usage.usd).toBeCloseTo((10 * asked.length) / 1_000_000)
  })

  it.each<[string, ModelReply]>([
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['no choices', { status: 200, body: { choices: [] } }],
    ['ten megabytes', { status: 200, body: 'x'.repeat(10 * 1024 * 1024) }],
  ])('%s for minutes: judging stops with one reason, and keeps the scores it has', async (_, reply) => {
    const good = (asked: AskedModel) => ({
      ...(readingJudge(asked, () => 3) as { text: string }),
      tokens: [7, 3] as [number, number],
    })
    const { cut, records } = await judgeOverHttp((asked, before) => (before === 0 ? good(asked) : reply))
    expect(cut).toEqual({ is: 'unreachable', reason: expect.stringMatching(/^127\.0\.0\.1:\d+ \w/) })
    expect(records.map(({ scores }) => scores?.['quality'])).toEqual([3, 3])
  })

  it('of an unknown model stops judging with one reason, and costs nothing', async () => {
    const body = { error: { message: 'The model `m` does not exist', code: 'model_not_found' } }
    const { cut, records, asked, usage } = await judgeOverHttp(() => ({ status: 404, body }))
    expect(cut).toEqual({ is: 'refused', reason: expect.stringContaining('has no model m') })
    expect([records, asked.length, usage.usd]).toEqual([[], 1, 0])
  })

  it('costs no more than the cap, however often it is asked for', async () => {
    const dear: ModelReply = { text: 'no', tokens: [400_000, 0] }
    const { cut, usage } = await judgeOverHttp(() => dear, pairsOf(9), 1)
    expect(cut).toMatchObject({ is: 'over-budget' })
    expect(usage.usd).toBeLessThan(1.4)
  })
})

const INJECTIONS = JSON.parse(readFileSync('fixtures/judge/injections.json', 'utf8')) as string[]

describe('an item that talks to its judge', () => {
  const hostile = drawSample(
    items(INJECTIONS.length, id => `plain ${id}`),
    items(INJECTIONS.length, id => INJECTIONS[Number(id.slice(1))] ?? ''),
    { sampleSize: INJECTIONS.length, stratification: null, seed: 1 },
  ).pairs

  it('stays between marks that it cannot know, outside the instructions', () => {
    for (const batch of buildBatches(hostile, judging())) {
      const { system, user } = buildPrompt(RUBRIC, batch)
      expect(shownIn({ system, user }).map(({ content }) => content)).toEqual(
        batch.entries.map(({ content }) => content),
      )
      for (const { content, key } of batch.entries) {
        expect(content).not.toContain(batch.mark)
        expect(content).not.toContain(key)
        if (content.length > 5) expect(system).not.toContain(content)
      }
    }
  })

  it('has no score where the judge repeats it, and takes none from the others', async () => {
    const injected = new Set(INJECTIONS.filter(text => text !== ''))
    const { cut, records } = await judgeOverHttp(asked => {
      const shown = shownIn(asked)
      const spoilt = shown.find(({ content }) => injected.has(content))
      return spoilt === undefined ? readingJudge(asked, () => 3) : { text: spoilt.content }
    }, hostile)
    expect(cut).toBeNull()
    const last = new Map(records.map(record => [`${record.side} ${record.item}`, record.scores]))
    for (const { id, base, candidate } of hostile) {
      expect(base.content).toMatch(/^plain/)
      expect(last.get(`base ${id}`)).toEqual({ quality: 3, length: null })
      const isInjected = injected.has(candidate.content)
      expect(last.get(`candidate ${id}`)).toEqual(isInjected ? null : { quality: 3, length: null })
    }
  })
})
