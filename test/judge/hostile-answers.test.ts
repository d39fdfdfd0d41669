import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { askJudges, buildPrompt } from '../../src/judge/ask-judges.ts'
import { buildBatches, drawSample } from '../../src/judge/batch.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import type { AskedModel, ModelReply } from '../servers/model-server.ts'
import { readingJudge, shownIn } from '../servers/reading-judge.ts'
import { FAILING_REPLIES, httpModels, UNFIT_ANSWERS, UNKNOWN_MODEL } from './http-models.ts'
import { items, judging, pairsOf, RUBRIC } from './some-items.ts'

/** Judges over HTTP. */
async function judgeOverHttp(
  reply: (asked: AskedModel, before: number) => ModelReply,
  pairs = pairsOf(2),
  capUsd: number | null = null,
) {
  const { server, models } = await httpModels(reply, { capUsd })
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

describe('an answer that does not fit', () => {
  it.each<[string, ModelReply]>([
    ...UNFIT_ANSWERS,
    [
      'names items that were not shown',
      { text: '{"scores": [{"item": "q0", "quality": 5}]}', tokens: [7, 3] },
    ],
  ])('%s: the score is missing, never zero, and its cost counts', async (_, reply) => {
    const { cut, records, asked, usage } = await judgeOverHttp(() => reply)
    expect(cut).toBeNull()
    // Each item with its batch, and once more alone.
    expect(records).toHaveLength(8)
    expect(records.every(({ scores }) => scores === null)).toBe(true)
    expect(usage).toMatchObject({ requests: asked.length, tokens: 10 * asked.length })
    expect(usage.usd).toBeCloseTo((10 * asked.length) / 1_000_000)
  })

  it.each(FAILING_REPLIES)(
    '%s for minutes: judging stops with one reason, and keeps the scores it has',
    async (_, reply) => {
      const good = (asked: AskedModel) => ({
        ...(readingJudge(asked, () => 3) as { text: string }),
        tokens: [7, 3] as [number, number],
      })
      const { cut, records } = await judgeOverHttp((asked, before) => (before === 0 ? good(asked) : reply))
      expect(cut).toEqual({ is: 'unreachable', reason: expect.stringMatching(/^127\.0\.0\.1:\d+ \w/) })
      expect(records.map(({ scores }) => scores?.['quality'])).toEqual([3, 3])
    },
  )

  it('of an unknown model stops judging with one reason, and costs nothing', async () => {
    const { cut, records, asked, usage } = await judgeOverHttp(() => UNKNOWN_MODEL)
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
