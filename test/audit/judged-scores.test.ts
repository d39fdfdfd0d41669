import { describe, expect, it } from 'vitest'
import { computeScoringState } from '../../src/engine/jobs/judging.ts'
import { collectEvidence, createEvidence } from '../../src/engine/verify/evidence.ts'
import { createEmptyCampaign, type LiveOrder } from '../../src/model/campaign.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import type { Execution, Report } from '../../src/model/report.ts'
import { order, printed, spec } from '../judge/a-printed-order.ts'

const PRINTED = { run_id: 'run-1', digest: 'd'.repeat(64) }
const NO_COST = { model: 'm', requests: 3, tokens: 40, usd: 0, ended: null, ended_at: '', failures: 0 }
const ONE_SIDE = 'q1'

type Judged = Pick<LiveOrder, 'printed'> & { records: ScoreRecord[] | null }

function liveOrder({ records, printed: found }: Judged): LiveOrder {
  const scores = records && { ...NO_COST, records }
  const issued = { order: order(), issued_at: '2026-01-01T00:00:00Z' }
  return { ...issued, run_id: 'run-1', report: null, printed: found, scores }
}

/** Both sides print the same item q1, which judges see once. */
function printedItems(): ReturnType<typeof printed> {
  const all = printed(8, 8)
  const same = all.items['base']?.find(({ id }) => id === ONE_SIDE)?.content ?? ''
  for (const item of all.items['exp-001'] ?? []) if (item.id === ONE_SIDE) item.content = same
  return all
}

function judgeItems(judges: number): { records: ScoreRecord[]; report: Report; rules: typeof spec } {
  const { judge } = spec.metric
  const rules = { ...spec, metric: { ...spec.metric, judge: judge && { ...judge, judges } } }
  const asked = computeScoringState(liveOrder({ records: null, printed: null }), rules, printedItems())
  if ('report' in asked) throw new Error('no score is missing')
  const records = asked.batches.flatMap(({ judge: number, entries }) =>
    entries.map(({ item, side }): ScoreRecord => {
      const scores = { quality: (side === 'base' ? 2 : 4) - number / 3, length: 1 }
      return { judge: number, item, side, time: 1, scores }
    }),
  )
  const scored = computeScoringState(liveOrder({ records, printed: PRINTED }), rules, printedItems())
  if (!('report' in scored)) throw new Error('a score is missing')
  return { records, report: scored.report, rules }
}

function audit(judged: Judged, report: Report, rules = spec): string[] {
  const live = liveOrder(judged)
  const campaign = { ...createEmptyCampaign(), orders: { [live.order.id]: live } }
  const evidence = createEvidence()
  evidence.orders.set(live.order.id, { order: live.order, seq: 4, gaps: [], report: null })
  const event = { kind: 'measured', seq: 9, order: live.order.id, report } as LedgerEvent<'measured'>
  return collectEvidence(evidence, campaign, rules, event)
}

function change(report: Report, side: string, edit: (run: Execution) => Partial<Execution>): Report {
  const at = report.executions.findIndex(run => run.side === side)
  const executions = report.executions.map((run, index) => (index === at ? { ...run, ...edit(run) } : run))
  return { ...report, executions }
}

describe('the report of an order that judging jobs scored', () => {
  it.each([1, 2])('has the recorded answers of %i judges', judges => {
    const { records, report, rules } = judgeItems(judges)
    expect(report.executions.some(({ tasks = {} }) => Object.keys(tasks).join().includes(ONE_SIDE))).toBe(
      true,
    )
    expect(audit({ records, printed: PRINTED }, report, rules)).toEqual([])
  })

  const raise = (scores: Record<string, number | null>) =>
    Object.fromEntries(Object.keys(scores).map(name => [name, 5]))

  it.each<[string, (report: Report) => Report]>([
    ['a higher score', all => change(all, 'exp-001', run => ({ metrics: { ...run.metrics, quality: 5 } }))],
    [
      'a higher score for the item as well',
      all =>
        change(all, 'exp-001', ({ metrics, tasks = {} }) => ({
          metrics: { ...metrics, quality: 5 },
          tasks: raise(tasks),
        })),
    ],
    [
      'another secondary score',
      all => change(all, 'base', run => ({ metrics: { ...run.metrics, length: 9 } })),
    ],
    ['no item', all => change(all, 'exp-001', ({ metrics }) => ({ metrics, tasks: {} }))],
  ])('is a finding with %s', (_, forge) => {
    const { records, report } = judgeItems(1)
    const [gap = '', ...more] = audit({ records, printed: PRINTED }, forge(report))
    expect(gap).toMatch(/^its report \(event 9\) is not an answer to it: .*(recorded answer|names no item)/)
    expect(more).toEqual([])
  })

  it('is a finding when one item counts twice', () => {
    const { records, report } = judgeItems(1)
    const [first, second] = report.executions.filter(({ side }) => side === 'exp-001')
    const twice = report.executions.map(run =>
      run === second ? { ...run, metrics: first?.metrics ?? {}, tasks: first?.tasks ?? {} } : run,
    )
    expect(audit({ records, printed: PRINTED }, { ...report, executions: twice }).join()).toContain(
      'counts twice',
    )
  })

  it('is a finding when the ledger has no answer', () => {
    const { report } = judgeItems(1)
    expect(audit({ records: null, printed: PRINTED }, report)).toHaveLength(1)
  })

  it('is not compared where judges on this machine scored it: the ledger has their scores in the report alone', () => {
    expect(audit({ records: null, printed: null }, judgeItems(1).report)).toEqual([])
  })
})
