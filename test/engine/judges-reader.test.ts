import { describe, expect, it } from 'vitest'
import { takePrintedOrder, type UnscoredOrders } from '../../src/engine/jobs/judging.ts'
import { createAnswerReader, listItemsToJudge } from '../../src/engine/jobs/read-answers.ts'
import {
  type Campaign,
  createEmptyCampaign,
  type LiveOrder,
  type PendingJudging,
} from '../../src/model/campaign.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { learningSpec, order, printed, run, spec } from '../judge/a-printed-order.ts'

const RUN = 'actions:7'
const ORDER = order()
const STARTED = 'e'.repeat(64)
const live: LiveOrder = {
  order: ORDER,
  issued_at: '2026-01-01T00:00:00Z',
  run_id: 'run-1',
  printed: null,
  report: null,
  scores: null,
}

function asking(key: string, changes: Partial<PendingJudging> = {}): PendingJudging {
  const times = { until: '2026-01-01T02:00:00Z', asked_at: '2026-01-01T00:00:00Z' }
  return { key, order: ORDER.id, ...times, may_cost_usd: 1, run_id: RUN, ...changes }
}

function campaign(...askings: PendingJudging[]): Campaign {
  const judging = Object.fromEntries(askings.map(each => [each.key, each]))
  return { ...createEmptyCampaign(), name: 'a', started: STARTED, orders: { [ORDER.id]: live }, judging }
}

/** The settling job of this run: what measuring left is found, or is not any more. */
function scene({ found = true } = {}) {
  const said: string[] = []
  const unscored: UnscoredOrders = new Map()
  if (found) takePrintedOrder(unscored, live, spec, { printed: printed(8, 8), digest: 'd'.repeat(64) })
  const place = {
    by: { run_id: RUN, attempt: 1, actor: 'ada' },
    progress: { say: (line: string) => void said.push(line) },
    clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
    repository: null as never,
  }
  const lookAt = async () => null
  async function facts(about: Campaign, scores: unknown) {
    const bytes = new TextEncoder().encode(JSON.stringify(scores))
    const ended = {
      measured: new Map(),
      proposed: null,
      judged: { status: 'success', digest: 'd'.repeat(64) },
    }
    const artifacts = { fetch: async () => ({ ok: true, bytes }) as const }
    const role = { does: 'settle', ended, artifacts } as const
    const reader = createAnswerReader(place, unscored, { role, lookAt })
    await reader.read(about)
    return await reader.read(about)
  }
  return { said, unscored, place, lookAt, facts }
}

const told = (key: string, records: unknown[], changes: object = {}) => ({
  key,
  order: ORDER.id,
  model: 'm',
  records,
  requests: 1,
  tokens: 2,
  usd: 0.5,
  ended: null,
  ...changes,
})
const handed = (entries: unknown[], changes: object = {}) => ({
  winnow: 1,
  content: 'scores',
  run: `${RUN}/1`,
  entries,
  ...changes,
})

/** One that was asked for. */
function record(changes: Partial<ScoreRecord> = {}): ScoreRecord {
  const { unscored } = scene()
  const [entry] = unscored.get(ORDER.id)?.batches[0]?.entries ?? []
  if (entry === undefined) throw new Error('nothing is asked')
  const { item, side } = entry
  return { judge: 0, item, side, time: 1, scores: { quality: 3, length: 9_000 }, ...changes }
}

describe('the scores of a job of the same run', () => {
  it('answer its own requests, each by its key', async () => {
    const { facts, said } = scene()
    const scores = handed([told('k1', [record()]), told('k9', [record()])])
    const { scores: taken, lost: untold } = await facts(campaign(asking('k1')), scores)
    expect([taken, untold, said]).toEqual([[told('k1', [record()])], [], []])
  })

  it('may all be unreadable, and answer the request nonetheless', async () => {
    const { facts } = scene()
    const none = record({ scores: null, time: 2 })
    expect((await facts(campaign(asking('k1')), handed([told('k1', [none])]))).scores).toHaveLength(1)
  })

  it('do not answer the request of another run, which is not lost', async () => {
    const { facts } = scene()
    const others = campaign(asking('k1', { run_id: 'actions:8' }))
    expect(await facts(others, handed([told('k1', [record()])]))).toMatchObject({ scores: [], lost: [] })
  })

  it.each<[string, unknown, string]>([
    ['are of another run', handed([told('k1', [record()])], { run: 'actions:8/1' }), 'from run actions:8/1'],
    ['are not among them', handed([told('k2', [record()])]), 'its job gave no answer'],
    [
      'are of another order',
      handed([told('k1', [], { order: 'f'.repeat(64) })]),
      'the scores are of order ffffffffffff',
    ],
    ['are no scores', { verdict: 'kept' }, ': '],
  ])('are not taken where they %s, and the asking is at its end', async (_, scores, why) => {
    const { facts, said } = scene()
    const { scores: taken, lost: untold } = await facts(campaign(asking('k1')), scores)
    expect(taken).toEqual([])
    expect(untold).toEqual([{ key: 'k1', reason: expect.stringContaining(why) }])
    // However often it is looked at.
    expect(said).toEqual([expect.stringContaining('Lost the answer to k1: ')])
  })

  it.each<[string, Partial<Omit<ScoreRecord, 'side'>> & { side?: string }]>([
    ['an item that was not asked about', { item: 'q99' }],
    ['a judge who is not there', { judge: 1 }],
    ['a label', { side: 'label' }],
    ['a score above the scale', { scores: { quality: 5.01, length: 1 } }],
    ['a score below it', { scores: { quality: 0.99, length: 1 } }],
    ['no number', { scores: { quality: null, length: 1 } }],
    ['a field too few', { scores: { quality: 3 } }],
    ['a field too many', { scores: { quality: 3, length: 1, more: 1 } }],
    ['other fields', { scores: { quality: 3, toString: 1 } }],
    ['words that were not asked for', { feedback: 'it is short' }],
    ['words about no score', { scores: null, feedback: 'it is short' }],
  ])('are rejected with %s among them', async (_, changes) => {
    const { facts } = scene()
    const scores = handed([told('k1', [record(), { ...record(), ...changes }])])
    const { scores: taken, lost: untold } = await facts(campaign(asking('k1')), scores)
    expect(taken).toEqual([])
    expect(untold).toMatchObject([{ reason: expect.stringMatching(/^a score was not requested: \[\d,"/) }])
  })

  it('of a pass may have words about each item', async () => {
    const { facts, unscored } = scene({ found: false })
    const pass = { ...live, order: order({ purpose: 'baseline', candidates: [], stop: { rule: 'alone' } }) }
    const items = printed(100, 0, { executions: [run('base')] })
    takePrintedOrder(unscored, pass, learningSpec, { printed: items, digest: 'd'.repeat(64) })
    const [entry] = unscored.get(pass.order.id)?.batches[0]?.entries ?? []
    const written = record({ item: entry?.item ?? '', side: 'base', feedback: 'it is short' })
    const { scores } = await facts(campaign(asking('k1')), handed([told('k1', [written])]))
    expect(scores).toEqual([told('k1', [written])])
  })

  it('record their cost when no order waits for them, and are dropped', async () => {
    const { facts } = scene({ found: false })
    const { scores: taken } = await facts(
      campaign(asking('k1')),
      handed([told('k1', [record({ item: 'x' })])]),
    )
    expect(taken).toEqual([told('k1', [])])
  })

  it('are not read in a job that does not settle', async () => {
    const { place, unscored, lookAt } = scene()
    const reader = createAnswerReader(place, unscored, { role: { does: 'start' }, lookAt })
    expect(await reader.read(campaign(asking('k1')))).toEqual({ answers: [], scores: [], lost: [] })
  })
})

describe('the items for the judge job', () => {
  it('are those of its own requests, with the printed outputs', () => {
    const { place, unscored } = scene()
    const all = campaign(
      asking('k1'),
      asking('k2', { run_id: 'actions:8' }),
      asking('k3', { order: 'f'.repeat(64) }),
    )
    expect(listItemsToJudge(place, all, unscored)).toEqual({
      run: `${RUN}/1`,
      entries: [{ key: 'k1', order: ORDER.id, printed: printed(8, 8) }],
    })
  })

  it('are absent without a request', () => {
    const { place, unscored } = scene()
    expect(listItemsToJudge(place, campaign(), unscored)).toBeNull()
    expect(listItemsToJudge(place, campaign(asking('k1', { run_id: 'actions:8' })), unscored)).toBeNull()
    expect(listItemsToJudge(place, campaign(asking('k1')), scene({ found: false }).unscored)).toBeNull()
  })
})
