import { describe, expect, it } from 'vitest'
import { computeScoringState, takePrintedOrder, type UnscoredOrders } from '../../src/engine/jobs/judging.ts'
import type { LiveOrder, OrderScores } from '../../src/model/campaign.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { order, printed, run, spec } from '../judge/a-printed-order.ts'
import { changed, parsed } from '../spec/problems-of.ts'

const SCORES: OrderScores = {
  records: [],
  model: 'm',
  requests: 3,
  tokens: 40,
  usd: 0.2,
  ended: null,
  ended_at: '2026-01-01T00:00:00Z',
  failures: 0,
}

function live(records: ScoreRecord[] | null = null): LiveOrder {
  const about = { order: order(), issued_at: '2026-01-01T00:00:00Z' }
  return { ...about, run_id: 'run-1', printed: null, report: null, scores: records && { ...SCORES, records } }
}

/** What is asked about these items, answered. */
function answered(of = printed(8, 8)): ScoreRecord[] {
  const scoring = computeScoringState(live(), spec, of)
  if ('report' in scoring) throw new Error('nothing is asked')
  return scoring.batches.flatMap(({ judge, entries }) =>
    entries.map(({ item, side }) => {
      const scores = { quality: side === 'base' ? 2 : 4, length: 1 }
      return { judge, item, side, time: 1 as const, scores }
    }),
  )
}

describe('a measured order without scores', () => {
  it('needs every score that is not recorded', () => {
    for (const records of [null, [], answered().slice(1)]) {
      const scoring = computeScoringState(live(records), spec, printed(8, 8))
      expect('batches' in scoring && scoring.batches.flatMap(({ entries }) => entries)).toHaveLength(8)
    }
  })

  it('is a report with its last score, in whatever order the scores came', () => {
    const records = answered()
    const [one, other] = [records, records.toReversed()].map(told =>
      computeScoringState(live(told), spec, printed(8, 8)),
    )
    expect(one).toEqual(other)
    expect(one).toMatchObject({
      report: { judging: { model: 'm', requests: 3, tokens: 40, usd: 0.2 }, run_id: 'run-1' },
    })
  })

  it('is a report without scores when it failed, or belongs to another order', () => {
    const failed = printed(8, 8, { executions: [run('base'), run('exp-001', { status: 'crashed' })] })
    const others = printed(8, 8, { trees: { base: '9'.repeat(40) } })
    for (const of of [failed, others, printed(8, 3)]) {
      const scoring = computeScoringState(live(), spec, of)
      expect('report' in scoring && scoring.report.judging).toBeUndefined()
      expect(scoring).toHaveProperty('report.run_id', 'run-1')
    }
  })
})

describe("an order of ce's rule without scores", () => {
  const ce = parsed(
    changed('ce-judge.yaml', { 'metric.degenerate_gates': [{ name: 'answers', check: '>= 4' }] }),
  )
  const of = printed(12, 0, { executions: [run('base')] })
  const about = order({ purpose: 'baseline', candidates: [], stop: { rule: 'alone' } })

  it('waits for the scores of its sample, and is a report with their mean', () => {
    const waiting = computeScoringState({ ...live(), order: about }, ce.spec, of)
    if ('report' in waiting) throw new Error('nothing is asked')
    const records = waiting.batches.flatMap(({ judge, entries }) =>
      entries.map(({ item, side }) => {
        return { judge, item, side, time: 1 as const, scores: { mean_score: 4, coverage: null } }
      }),
    )
    expect(records).toHaveLength(10)
    const scored = computeScoringState({ ...live(records), order: about }, ce.spec, of)
    expect(scored).toMatchObject({
      report: { executions: [{ metrics: { mean_score: 4, coverage: null, scored_items: 10 } }] },
    })
  })
})

describe('the orders that wait for scores', () => {
  it('are listed with their printed items until every score is recorded', () => {
    const waiting: UnscoredOrders = new Map()
    const digest = 'd'.repeat(64)
    const found = { printed: printed(8, 8), digest }
    const { id } = order()
    expect(takePrintedOrder(waiting, live(), spec, found)).toEqual({
      state: 'printed',
      runId: 'run-1',
      digest,
    })
    expect(waiting.get(id)?.printed).toEqual(printed(8, 8))
    expect(waiting.get(id)?.due.wanted).toBe(4)
    expect(takePrintedOrder(waiting, live(answered()), spec, found)).toMatchObject({
      state: 'reported',
      runId: 'run-1',
    })
    expect(waiting.size).toBe(0)
  })
})
