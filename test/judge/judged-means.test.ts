import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { buildSnapshot } from '../../src/decide/metrics.ts'
import { buildJudgedReport, explainUnrecordedScores } from '../../src/judge/judged-report.ts'
import { buildTaskBatches, prepareJudging, type PrintedOrder } from '../../src/judge/judging-task.ts'
import { toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { isFollowingCoins, isJudgedOrder, type Order } from '../../src/model/order.ts'
import type { Report } from '../../src/model/report.ts'
import { changed, parsed } from '../spec/problems-of.ts'
import { learningSpec, order, printed, run } from './a-printed-order.ts'

const COST = { model: 'm', requests: 2, tokens: 30, usd: 0.1 }
type Score = (item: string, side: string, judge: number) => number | null

function specOf(changes: Record<string, unknown> = {}) {
  return parsed(
    changed('ce-judge.yaml', {
      'metric.degenerate_gates': [{ name: 'answers', check: '>= 4' }],
      'metric.judge.sample_size': 4,
      ...changes,
    }),
  ).spec
}

const BASE = order({ purpose: 'baseline', candidates: [], stop: { rule: 'alone' } })

function judgeOrder(spec: ReturnType<typeof specOf>, about: Order, of: PrintedOrder, score: Score) {
  const task = prepareJudging({ order: about, spec }, of)
  if ('executions' in task) return { report: task, records: [], shown: [] }
  const batches = buildTaskBatches(task)
  const records = batches.flatMap(({ judge, entries }) =>
    entries.map(({ item, side }): ScoreRecord => {
      const primary = score(item, side, judge)
      return {
        judge,
        item,
        side,
        time: 1,
        scores: primary === null ? null : { mean_score: primary, coverage: 1 },
      }
    }),
  )
  const shown = batches.flatMap(({ entries }) => entries)
  return { report: buildJudgedReport(about, of, { ...task, records, cost: COST }), records, shown }
}

/** The stored score of a base, and what the candidate's order says by it. */
function compare(score: Score, changes: Record<string, unknown> = {}, [before, after] = [12, 12]) {
  const spec = specOf(changes)
  const base = judgeOrder(spec, BASE, printed(before, 0, { executions: [run('base')] }), score)
  const stop = { rule: 'stability', baseline: buildSnapshot(spec, base.report, 'base') } as const
  const about = order({ stop })
  const candidate = judgeOrder(spec, about, printed(0, after, { executions: [run('exp-001')] }), score)
  const { report } = candidate
  const found = assessCandidate({ spec, order: about, report, label: 'exp-001', baseline: null })
  return { spec, base, candidate, found, about }
}

const gaining: Score = (_, side) => (side.startsWith('base') ? 3 : 4)

describe("ce's rule about scores", () => {
  it('compares the mean of a seeded sample with the stored one', () => {
    const { base, candidate, found, spec } = compare(gaining)
    expect(isJudgedOrder(BASE, spec)).toBe(true)
    expect(base.report.executions[0]?.metrics).toEqual({
      answers: 4,
      mean_score: 3,
      coverage: 1,
      scored_items: 4,
    })
    // The same ids on both sides, because the seed draws them.
    expect(base.shown.map(({ item }) => item).toSorted()).toEqual(
      candidate.shown.map(({ item }) => item).toSorted(),
    )
    expect(found).toMatchObject({ outcome: 'eligible', primary_delta: 1 })
    expect(found.warnings).toContainEqual(expect.stringContaining('not noise-proof'))
  })

  it.each<[string, number, string]>([
    ['more than minimum_improvement', 3.5, 'eligible'],
    ['no more than minimum_improvement', 3.25, 'inconclusive'],
    ['as much less', 2.5, 'dropped'],
  ])('asks for %s', (_, after, outcome) => {
    const score: Score = (_item, side) => (side === 'base' ? 3 : after)
    const quarter = { 'metric.judge.minimum_improvement': 0.25 }
    expect(compare(score, quarter).found.outcome).toBe(outcome)
  })

  it('judges all that a side prints, and refuses a mean over fewer items than that of the base', () => {
    expect(compare(gaining, {}, [3, 3]).found.outcome).toBe('eligible')
    const { found } = compare(gaining, {}, [12, 3])
    expect(found).toMatchObject({
      outcome: 'error',
      reason: 'it prints 3 items, and the mean of the base is over 4',
    })
    expect(compare(gaining, {}, [12, 0]).found).toMatchObject({ outcome: 'error', retry: false })
  })

  it('has no mean without every score: silence about an item is no gain', () => {
    const [spared] = compare(gaining).candidate.shown
    const silent: Score = (item, side) =>
      side === 'candidate' && item === spared?.item ? null : gaining(item, side, 0)
    const { found, candidate } = compare(silent)
    expect(candidate.report.executions[0]?.metrics['mean_score']).toBeNull()
    expect(found).toMatchObject({ outcome: 'error', reason: `item ${spared?.item} has no score` })
  })

  it('confirms a gain by a second sample of other items, where a seed for it is set', () => {
    const confirming = { 'metric.judge.confirmation_seed': 7 }
    expect(compare(gaining, confirming).found.outcome).toBe('eligible')
    const first = new Set(compare(gaining).candidate.shown.map(({ item }) => item))
    const lucky: Score = (item, side) => (side === 'candidate' && first.has(item) ? 4 : 3)
    const { found, candidate } = compare(lucky, confirming)
    expect(candidate.shown).toHaveLength(8)
    expect(found.outcome).toBe('inconclusive')
    expect(found.reason).toContain('a second sample of other items does not confirm it: 3 to 3')
  })

  describe('with tie-breakers', () => {
    const tied = { 'policy.tie_breakers': [{ lower: 'tokens' }, { higher: 'coverage' }] }
    const level: Score = () => 3
    const assess = (
      tokens: number | null,
      { score = level, changes = {} }: { score?: Score; changes?: Record<string, unknown> } = {},
    ) => {
      const spec = specOf({ ...tied, ...changes })
      const runOf = (side: 'base' | 'exp-001', own: number | null) =>
        run(side, { metrics: { answers: 4, ...(own === null ? {} : { tokens: own }) } })
      const base = judgeOrder(spec, BASE, printed(12, 0, { executions: [runOf('base', 100)] }), score)
      const stop = { rule: 'stability', baseline: buildSnapshot(spec, base.report, 'base') } as const
      const about = order({ stop })
      const of = printed(0, 12, { executions: [runOf('exp-001', tokens)] })
      const { report } = judgeOrder(spec, about, of, score)
      return assessCandidate({ spec, order: about, report, label: 'exp-001', baseline: null })
    }

    it('keeps equal scores for a metric of the harness, compared with its stored value', () => {
      expect(assess(60)).toMatchObject({
        outcome: 'eligible',
        reason:
          'mean_score 3 -> 3 (0.0 %), 1 sample: the difference is within the comparison threshold, and tie-breaker tokens 100 -> 60 (-40.0 %) is better',
      })
      for (const tokens of [100, 140, null]) expect(assess(tokens).outcome).toBe('inconclusive')
    })

    it('asks a second sample whether the scores are as good', () => {
      const changes = { 'metric.judge.confirmation_seed': 7 }
      expect(assess(60, { changes }).outcome).toBe('eligible')
      const first = new Set(compare(level).candidate.shown.map(({ item }) => item))
      const score: Score = (item, side) => (side === 'candidate' && !first.has(item) ? 2 : 3)
      expect(assess(60, { changes, score })).toMatchObject({
        outcome: 'inconclusive',
        reason: expect.stringContaining('a second sample of other items does not confirm it: 3 to 2'),
      })
    })

    it('needs a second score of every item, where that one decides', () => {
      const spec = specOf(tied)
      const [spared] = compare(level).candidate.shown
      const task = prepareJudging({ order: BASE, spec }, printed(12, 0, { executions: [run('base')] }))
      if ('executions' in task) throw new Error('it is not judged')
      const records = buildTaskBatches(task).flatMap(({ judge, entries }) =>
        entries.map(({ item, side }): ScoreRecord => {
          const coverage = item === spared?.item ? null : 1
          return { judge, item, side, time: 1, scores: { mean_score: 3, coverage } }
        }),
      )
      const coverage = (deciding: string[]) => {
        const of = printed(12, 0, { executions: [run('base')] })
        const report = buildJudgedReport(BASE, of, { ...task, deciding, records, cost: COST })
        return report.executions[0]?.metrics['coverage']
      }
      expect([coverage(task.deciding), coverage(['mean_score'])]).toEqual([null, 1])
    })
  })

  it('takes the mean of several models, and no score from one alone', () => {
    const models = { 'metric.judge.models': ['a', 'b'], 'metric.judge.judges': 2 }
    const split: Score = (_, side, judge) => (side === 'base' ? 3 : judge % 2 === 0 ? 5 : 3)
    const { base, candidate, found } = compare(split, models)
    expect(base.records).toHaveLength(4 * 4)
    expect(candidate.report.executions[0]?.metrics['mean_score']).toBe(4)
    expect(found.outcome).toBe('eligible')
    const mute: Score = (item, side, judge) => (judge === 3 ? null : split(item, side, judge))
    expect(compare(mute, models).base.report.executions[0]?.metrics['mean_score']).toBeNull()
  })

  it('runs as often as the mode says, with the score beside every run', () => {
    const spec = specOf({ 'measurement.stability': { mode: 'repeat', repeat_count: 3 } })
    const executions = [1, 2, 3].map(seed => run('base', { seed }))
    const { report } = judgeOrder(spec, BASE, printed(12, 0, { executions }), gaining)
    expect(report.executions.map(({ metrics }) => metrics['mean_score'])).toEqual([3, 3, 3])
    expect(report.executions.filter(({ tasks }) => tasks !== undefined)).toHaveLength(1)
  })

  it('is not reached by a candidate that fails a gate, and is open to hard metrics beside it', () => {
    const spec = specOf()
    const degenerate = printed(0, 12, { executions: [run('exp-001', { metrics: { answers: 1 } })] })
    const about = order({ stop: { rule: 'stability', baseline: {} } })
    expect(judgeOrder(spec, about, degenerate, gaining).shown).toEqual([])
    const guarded = { 'metric.objectives': [{ name: 'answers', direction: 'maximize' }] }
    expect(compare(gaining, guarded).found.outcome).toBe('eligible')
  })
})

describe('a pass of an epoch', () => {
  const spec = learningSpec
  const pass = (coins: string) => ({ ...BASE, coins: coins.repeat(64) })
  const of = printed(100, 0, { executions: [run('base')] })
  const prepare = (order: Order) => {
    const task = prepareJudging({ order, spec }, of)
    if ('executions' in task) throw new Error('it is not judged')
    return task
  }
  const shownItems = (order: Order) => prepare(order).samples.map(([side]) => side?.items.map(({ id }) => id))

  it('is judged, unlike the order of a sync, and every pass scores the same items once', () => {
    expect(isJudgedOrder(BASE, spec)).toBe(true)
    expect(isJudgedOrder({ ...BASE, purpose: 'sync' }, spec)).toBe(false)
    expect(shownItems(pass('1'))).toEqual(shownItems(pass('2')))
    expect(shownItems(pass('1')).map(items => items?.length)).toEqual([40])
  })

  it('asks what is wrong with an item, and its report holds that for the lowest scored items', () => {
    const task = prepare(BASE)
    expect(task.rubric.asksFeedback).toBe(true)
    const comparing = prepareJudging({ order: order(), spec }, printed(100, 100))
    expect('executions' in comparing || comparing.rubric.asksFeedback).toBe(false)
    const batches = buildTaskBatches(task)
    const records = batches.flatMap(({ judge, entries }) =>
      entries.map(({ item, side }, at): ScoreRecord => {
        const feedback = `${item} is short`
        return { judge, item, side, time: 1, scores: { quality: at === 0 ? 5 : 2, length: 1 }, feedback }
      }),
    )
    const report = buildJudgedReport(BASE, of, { ...task, records, cost: COST })
    const [first] = report.executions
    const told = Object.entries(first?.feedback ?? {})
    expect(told).toHaveLength(30)
    for (const [item, text] of told) expect([first?.tasks?.[item], text]).toEqual([2, `${item} is short`])
    const fields = ['quality', 'length']
    const own = {
      primary: 'quality',
      direction: 'maximize',
      fields,
      deciding: ['quality'],
      judges: 1,
    } as const
    expect(explainUnrecordedScores(BASE, report, records, own)).toBeNull()
    const [item = ''] = told[0] ?? []
    const changed = report.executions.map(each => ({ ...each, feedback: { ...each.feedback, [item]: 'x' } }))
    expect(explainUnrecordedScores(BASE, { ...report, executions: changed }, records, own)).toContain(
      'are not the recorded answers',
    )
  })
})

describe('recorded answers', () => {
  const rules = {
    primary: 'mean_score',
    direction: 'maximize',
    fields: ['mean_score', 'coverage'],
    deciding: ['mean_score'],
    judges: 1,
  } as const

  it('give the same mean in the order in which the ledger keeps the items', () => {
    const fractions: Score = item => 1 + Number(item.replace(/\D/g, '')) / 10
    const { about, candidate } = compare(fractions, { 'metric.judge.sample_size': 12 })
    const { report, records } = candidate
    const kept = JSON.parse(toCanonicalJson(report)) as Report
    expect(explainUnrecordedScores(about, kept, records, rules)).toBeNull()
  })

  it('are what the means of a report come from', () => {
    const { about, candidate } = compare(gaining, { 'metric.judge.confirmation_seed': 7 })
    const { report, records } = candidate
    const explain = (changed: Report) => explainUnrecordedScores(about, changed, records, rules)
    expect(explain(report)).toBeNull()
    const forged = report.executions.map(each => ({ ...each, metrics: { ...each.metrics, mean_score: 5 } }))
    expect(explain({ ...report, executions: forged })).toContain('are not the recorded answers')
    const [first] = report.executions
    if (first === undefined) throw new Error('no run')
    const [dropped = ''] = Object.keys(first.tasks ?? {})
    const { [dropped]: _, ...tasks } = first.tasks ?? {}
    expect(explain({ ...report, executions: [{ ...first, tasks }] })).toContain(
      'are not the recorded answers',
    )
  })

  it('of a printed order keep the coins of its runs', () => {
    const { about, candidate } = compare(gaining)
    const executions = candidate.report.executions
    expect(isFollowingCoins(about, { ...candidate.report, executions })).toBe(
      isFollowingCoins(about, printed(0, 12, { executions: [run('exp-001')] }).report),
    )
  })
})
