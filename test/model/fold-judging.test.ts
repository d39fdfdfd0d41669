import { describe, expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { EventDraft, LedgerEvent } from '../../src/model/event.ts'
import { applyEvent } from '../../src/model/fold/fold.ts'
import { findPendingJudging } from '../../src/model/fold/proposers.ts'
import type { JudgingEnd } from '../../src/model/event-schemas.ts'
import { order, printed } from '../judge/a-printed-order.ts'

const ORDER = order().id
const UNTIL = '2026-01-01T02:00:00Z'

/** A campaign with one order that was measured and is to be scored. */
function campaign() {
  const folded = createEmptyCampaign()
  const live = { issued_at: '2026-01-01T00:00:00Z', run_id: null, printed: null }
  folded.orders[ORDER] = { order: order(), ...live, report: null, scores: null }
  let seq = 0
  const add = (draft: EventDraft): void => {
    const at = new Date(Date.parse('2026-01-01T00:00:00Z') + seq * 60_000).toISOString()
    const by = { run_id: 'actions:7', attempt: 1, actor: 'ada' }
    const envelope = { seq, id: String(seq).padStart(64, '0'), at, by, prev: null }
    seq += 1
    applyEvent(folded, { ...envelope, ...draft } as LedgerEvent)
  }
  return {
    folded,
    add,
    ask: (key: string, about = ORDER) =>
      add({ kind: 'judging-requested', cause: key, key, order: about, until: UNTIL, may_cost_usd: 2 }),
    tell: (key: string, item: string, is: JudgingEnd | null = null, about = ORDER) =>
      add({
        kind: 'judged',
        cause: key,
        key,
        order: about,
        model: 'm',
        records: [{ judge: 0, item, side: 'base', time: 1, scores: { quality: 3 } }],
        requests: 2,
        tokens: 30,
        usd: 0.5,
        ended: is === null ? null : { is, reason: `it was ${is}` },
      }),
    lose: (key: string, about = ORDER) =>
      add({ kind: 'judging-lost', cause: key, key, order: about, reason: 'nobody told' }),
    scores: () => folded.orders[ORDER]?.scores,
  }
}

describe('an order that a separate job scores', () => {
  it('is pending for the run that requested scores until they arrive', () => {
    const { folded, ask, tell } = campaign()
    expect(findPendingJudging(folded, ORDER)).toBeNull()
    ask('k1')
    expect(findPendingJudging(folded, ORDER)).toMatchObject({
      key: 'k1',
      until: UNTIL,
      may_cost_usd: 2,
      run_id: 'actions:7',
    })
    expect(findPendingJudging(folded, 'f'.repeat(64))).toBeNull()
    tell('k1', 'q1')
    expect(findPendingJudging(folded, ORDER)).toBeNull()
  })

  it('collects the scores of all jobs and adds up their cost', () => {
    const { ask, tell, scores } = campaign()
    for (const [key, item] of [
      ['k1', 'q1'],
      ['k2', 'q2'],
    ] as const) {
      ask(key)
      tell(key, item, key === 'k1' ? 'set-aside' : null)
    }
    expect(scores()?.records.map(({ item }) => item)).toEqual(['q1', 'q2'])
    expect(scores()).toMatchObject({ model: 'm', requests: 4, tokens: 60, usd: 1, ended: null, failures: 0 })
  })

  it('counts consecutive jobs that reached no model, and resets after a success', () => {
    const { ask, tell, lose, scores } = campaign()
    const failures: (number | undefined)[] = []
    for (const is of ['refused', 'lost', 'unreachable', 'late', 'refused', null] as const) {
      ask(String(is))
      if (is === 'lost') lose('lost')
      else tell(String(is), `q of ${is}`, is)
      failures.push(scores()?.failures)
    }
    expect(failures).toEqual([1, 2, 3, 0, 1, 0])
  })

  it('keeps earlier scores when the next job is lost, with the reason', () => {
    const { ask, tell, lose, scores } = campaign()
    ask('k1')
    tell('k1', 'q1')
    ask('k2')
    lose('k2')
    expect(scores()).toMatchObject({ usd: 0.5, ended: { is: 'unreachable', reason: 'nobody told' } })
    expect(scores()?.records).toHaveLength(1)
  })

  it('ends the request of an order that was given up', () => {
    const gone = 'f'.repeat(64)
    const { folded, ask, tell, lose, scores } = campaign()
    ask('k1', gone)
    ask('k2', gone)
    tell('k1', 'q1', null, gone)
    lose('k2', gone)
    expect([folded.judging, scores(), folded.orders[gone]]).toEqual([{}, null, undefined])
  })

  it('drops its scores when the report arrives, and accepts none later', () => {
    const { folded, add, ask, tell, scores } = campaign()
    ask('k1')
    tell('k1', 'q1')
    ask('k2')
    add({ kind: 'measured', cause: ORDER, order: ORDER, run_id: 'r', report: printed(8, 8).report })
    expect(scores()).toBeNull()
    tell('k2', 'q2')
    expect([scores(), folded.judging]).toEqual([null, {}])
  })
})
