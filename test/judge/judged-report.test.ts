import { describe, expect, it } from 'vitest'
import { buildJudgedReport } from '../../src/judge/judged-report.ts'
import { prepareJudging, type JudgingTask } from '../../src/judge/judging-task.ts'
import { isFollowingCoins, isJudgedOrder, type Order } from '../../src/model/order.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { buildPairJob, toMeasuredRun } from '../../src/model/pairs.ts'
import type { Report } from '../../src/model/report.ts'
import { order, printed, run, spec } from './a-printed-order.ts'

function due(of: ReturnType<typeof printed>, about: Order = order()): JudgingTask {
  const judged = prepareJudging({ order: about, spec }, of)
  if ('executions' in judged) throw new Error(judged.executions.map(({ error }) => error).join())
  return judged
}

const cost = { model: 'm', requests: 2, tokens: 30, usd: 0.1 }
const ids = ({ pairs }: JudgingTask) => pairs.map(({ id }) => id)
const job = (pairs: number) => [
  { order: 'd'.repeat(64), runner: 'r', complete: true, pairs: Array(pairs).fill(null) },
]

function scoresOf(judged: JudgingTask, score: (item: string, side: string) => number | null): ScoreRecord[] {
  return judged.pairs.flatMap(({ id }) =>
    (['base', 'candidate'] as const).map(side => {
      const quality = score(id, side)
      return {
        judge: 0,
        item: id,
        side,
        time: 1,
        scores: quality === null ? null : { quality, length: 1 },
      } as const
    }),
  )
}

describe('an order to judge', () => {
  it('is a comparison of two sides, under a spec with a judge', () => {
    expect(isJudgedOrder(order(), spec)).toBe(true)
    expect(isJudgedOrder(order({ stop: { rule: 'alone' } }), spec)).toBe(false)
    const hard = {
      ...spec,
      metric: { ...spec.metric, primary: { ...spec.metric.primary, type: 'hard' as const } },
    }
    expect(isJudgedOrder(order(), hard)).toBe(false)
  })

  it.each<[string, Partial<Report>]>([
    ['the runner failed', { runner_error: 'no disk' }],
    ['the base failed', { executions: [run('base', { status: 'crashed' }), run('exp-001')] }],
    ['the candidate failed', { executions: [run('base'), run('exp-001', { status: 'timeout' })] }],
    ['a gate does not hold', { executions: [run('base'), run('exp-001', { metrics: { answers: 3 } })] }],
    ['something was tampered with', { tampered: { during: 'exp-001', path: 'x' } }],
  ])('is not judged if %s: its report stays', (_, changes) => {
    const all = printed(8, 8, changes)
    expect(prepareJudging({ order: order(), spec }, all)).toBe(all.report)
  })

  it('is not judged if two samples would share items, or if the candidate prints other items', () => {
    const few = prepareJudging({ order: order(), spec }, printed(7, 8))
    expect('executions' in few && few.executions.map(({ status }) => status)).toEqual(['bad-output', 'ok'])
    const other = prepareJudging({ order: order(), spec }, printed(8, 3))
    expect('executions' in other && other.executions[1]).toMatchObject({
      status: 'bad-output',
      metrics: {},
      error: expect.stringContaining('both sides print 3 of the requested items'),
    })
  })

  it('is not judged if the metrics of a side are too large to repeat for each item', () => {
    const many = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, at) => [`m${at}-${'x'.repeat(120)}`, at]),
    )
    for (const side of ['base', 'exp-001'] as const) {
      const executions = (['base', 'exp-001'] as const).map(each =>
        run(each, { metrics: each === side ? { answers: 4, ...many } : { answers: 4 } }),
      )
      const judged = prepareJudging({ order: order(), spec }, printed(8, 8, { executions }))
      const broken = 'executions' in judged ? judged.executions.filter(({ status }) => status !== 'ok') : []
      expect(broken).toMatchObject([{ side, metrics: {}, error: expect.stringContaining('of 4 items') }])
    }
    // A few of them are nobody's harm.
    const metrics = Object.fromEntries([['answers', 4], ...Object.entries(many).slice(0, 50)])
    due(printed(8, 8, { executions: [run('base', { metrics }), run('exp-001', { metrics })] }))
  })

  it('has a new sample in every job of a comparison, and any sample in a measurement for reporting', () => {
    const first = ids(due(printed(8, 8)))
    const earlier_jobs = { 'exp-001': job(4) }
    const second = ids(due(printed(8, 8), order({ earlier_jobs })))
    expect([...first, ...second].toSorted()).toEqual(['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7'])
    const third = due(printed(8, 8), order({ earlier_jobs: { 'exp-001': [...job(4), ...job(4)] } }))
    expect(third.pairs).toEqual([])
    const effect = (coins: string) => ids(due(printed(8, 8), order({ purpose: 'effect', coins }))).join()
    expect(new Set(['1', '2', '3', '4'].map(digit => effect(digit.repeat(64)))).size).toBeGreaterThan(1)
  })
})

describe('the report of a judged order', () => {
  const all = printed(8, 8)
  const judged = due(all)
  const records = scoresOf(judged, (item, side) => (side === 'base' ? 2 : item === 'q0' ? 5 : 4))
  const report = buildJudgedReport(order(), all, { ...judged, records, cost })

  it('has a block for each item, with the turns and seeds of the order', () => {
    expect(isFollowingCoins(order(), report)).toBe(true)
    expect(report.executions).toHaveLength(8)
    expect(report.judging).toEqual(cost)
    const seconds = report.executions.reduce((sum, { wall_seconds }) => sum + wall_seconds, 0)
    expect(seconds).toBe(8)
  })

  it('is read as pairs of items', () => {
    const asked = { order: 'a'.repeat(64), metrics: ['quality'], pairs: 4 }
    const { pairs, complete } = buildPairJob(asked, toMeasuredRun(report), 'exp-001')
    expect(complete).toBe(true)
    expect(pairs.map(({ base }) => base?.['quality'])).toEqual([2, 2, 2, 2])
    expect(pairs.map(({ candidate }) => candidate?.['quality'])).toEqual(
      ids(judged).map(item => (item === 'q0' ? 5 : 4)),
    )
  })

  it('keeps the metrics for gates next to the scores', () => {
    for (const { metrics, tasks } of report.executions) {
      expect(metrics).toMatchObject({ answers: 4, quality: expect.any(Number), length: 1 })
      expect(Object.keys(tasks ?? {})).toHaveLength(1)
    }
  })

  it('has no metric if there is no score, or if no item was left', () => {
    const without = scoresOf(judged, (item, side) =>
      side === 'base' ? 2 : item === judged.pairs[0]?.id ? null : 4,
    )
    const lost = buildJudgedReport(order(), all, { ...judged, records: without, cost })
    const asked = { order: 'a'.repeat(64), metrics: ['quality'], pairs: 4 }
    expect(
      buildPairJob(asked, toMeasuredRun(lost), 'exp-001').pairs.filter(({ candidate }) => candidate === null),
    ).toHaveLength(1)
    const empty = buildJudgedReport(order(), all, { ...judged, pairs: [], records: [], cost })
    const none = buildPairJob(asked, toMeasuredRun(empty), 'exp-001')
    expect([none.complete, none.pairs.map(({ base }) => base)]).toEqual([true, [null, null, null, null]])
    expect(isFollowingCoins(order(), empty)).toBe(true)
  })
})
