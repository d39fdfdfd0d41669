import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { judgeHoldout } from '../../src/decide/holdout.ts'
import { buildPrompt, selectRubric } from '../../src/judge/ask-judges.ts'
import { buildJudgedReport } from '../../src/judge/judged-report.ts'
import { buildTaskBatches, type JudgingTask, prepareJudging } from '../../src/judge/judging-task.ts'
import { isCheckedWithLabels } from '../../src/judge/labels.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import { isFollowingCoins, isJudgedOrder, type Order } from '../../src/model/order.ts'
import { buildPairJob, type PairJob, toMeasuredRun } from '../../src/model/pairs.ts'
import { parseSpec } from '../../src/spec/load.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { order, printed, run } from './a-printed-order.ts'

const COST = { model: 'm', requests: 2, tokens: 30, usd: 0.1 }

function specWith(judge = '', more = ''): Spec {
  return parseSpec(
    `winnow: 1
metric:
  primary: { type: judge, name: quality, direction: maximize }
  degenerate_gates: [{ name: answers, check: '>= 4' }]
  judge:
    rubric: Score 1 to 5.
    scoring: { primary: quality }
    sample_size: 4
${judge}
measurement: { command: x }
scope: { mutable: [src/] }
${more}`,
    { file: '.winnow/a.yaml' },
  ).spec
}

type Printed = ReturnType<typeof printed>

function renamed(of: Printed, count = 8): Printed {
  const items = Array.from({ length: count }, (_, at) => ({
    id: `n${at}`,
    bucket: null,
    content: `other ${at}`,
  }))
  return { ...of, items: { ...of.items, 'exp-001': items } }
}

function taskOf(spec: Spec, of: Printed, about: Order = order()): JudgingTask {
  const task = prepareJudging({ order: about, spec }, of)
  if ('executions' in task) throw new Error(task.executions.map(({ error }) => error).join())
  return task
}

function score(task: JudgingTask, give: (side: string, item: string) => number | null): ScoreRecord[] {
  return buildTaskBatches(task).flatMap(({ judge, entries }) =>
    entries.map(({ item, side }): ScoreRecord => {
      const quality = give(side, item)
      return { judge, item, side, time: 1, scores: quality === null ? null : { quality } }
    }),
  )
}

describe('items with other ids on the other side', () => {
  const spec = specWith()

  it('are matched at random as two samples, which share no item between jobs', () => {
    const of = renamed(printed(8, 8))
    const first = taskOf(spec, of)
    expect(first.pairs).toHaveLength(4)
    expect(first.pairs.every(({ base, candidate }) => base.id !== candidate.id)).toBe(true)
    const job = { order: order().id, runner: 'r', complete: true, pairs: [] }
    const second = taskOf(spec, of, order({ id: 'e'.repeat(64), earlier_jobs: { 'exp-001': [job] } }))
    const ids = (task: JudgingTask) => task.pairs.flatMap(({ base, candidate }) => [base.id, candidate.id])
    expect(new Set([...ids(first), ...ids(second)]).size).toBe(16)
  })

  it('are compared like pairs, with the scores of both ids', () => {
    const of = renamed(printed(8, 8))
    const task = taskOf(spec, of)
    const records = score(task, side => (side === 'base' ? 2 : 4))
    const report = buildJudgedReport(order(), of, { ...task, records, cost: COST })
    expect(isFollowingCoins(order(), report)).toBe(true)
    const asked = { order: order().id, metrics: ['quality'], pairs: 4 }
    const { pairs } = buildPairJob(asked, toMeasuredRun(report), 'exp-001')
    expect(pairs.map(({ base, candidate }) => [base?.['quality'], candidate?.['quality']])).toEqual(
      Array(4).fill([2, 4]),
    )
    const names = report.executions.flatMap(({ side, tasks }) =>
      Object.keys(tasks ?? {}).map(id => side + id[0]),
    )
    expect(new Set(names)).toEqual(new Set(['baseq', 'exp-001n']))
  })

  it('break a candidate where the spec asks for the same items, or where it prints too few', () => {
    const reject = (judge: string, of: Printed) => {
      const task = prepareJudging({ order: order(), spec: specWith(judge) }, of)
      return 'executions' in task ? task.executions[1]?.error : null
    }
    expect(reject('    items: same', renamed(printed(8, 8)))).toContain(
      'both sides print 0 of the requested items',
    )
    expect(reject('', renamed(printed(8, 8), 3))).toContain('both sides print 3 of the requested items')
    // Items that are only left out are no others.
    expect(reject('', printed(8, 3))).toContain('both sides print 3 of the requested items')
    expect(taskOf(specWith('    items: own'), printed(8, 8)).pairs).toHaveLength(4)
  })
})

describe('singletons', () => {
  const spec = specWith('    singleton_sample: 2\n    singleton_rubric: Rate 1-3 whether it is alone.')
  const of = printed(8, 8)
  const kinds = ['a', 'b', 'c'].map(id => ({
    id,
    bucket: null,
    content: `alone ${id}`,
    kind: 'singleton' as const,
  }))
  const summary = { id: 'summaries', bucket: null, content: 'crash, dark mode', kind: 'summary' as const }
  for (const side of ['base', 'exp-001']) of.items[side] = [...(of.items[side] ?? []), ...kinds, summary]

  it('have batches of their own, with their rubric and the summaries', () => {
    const task = taskOf(spec, of)
    expect(task.pairs.every(({ base }) => base.kind === undefined)).toBe(true)
    const own = buildTaskBatches(task).filter(({ singletons }) => singletons !== undefined)
    expect(own.map(({ entries }) => entries.map(({ side }) => side))).toEqual([
      ['base-singleton', 'base-singleton'],
      ['candidate-singleton', 'candidate-singleton'],
    ])
    const [batch] = own
    if (batch === undefined) throw new Error('no singletons')
    const rubric = selectRubric(task, batch)
    expect(rubric).toMatchObject({ text: 'Rate 1-3 whether it is alone.', scale: [1, 3] })
    const { system, user } = buildPrompt(rubric, batch)
    expect(user).toContain(`BEGIN ${batch.mark} summaries\ncrash, dark mode\nEND ${batch.mark} summaries`)
    expect(system).toContain('"summaries" is no item')
  })

  it('are logged as a mean and decide nothing', () => {
    const task = taskOf(spec, of)
    const records = score(task, side => (side.endsWith('singleton') ? (side[0] === 'b' ? 1 : 3) : 2))
    const { executions } = buildJudgedReport(order(), of, { ...task, records, cost: COST })
    for (const { side, metrics } of executions)
      expect(metrics).toMatchObject({ quality: 2, singleton_quality: side === 'base' ? 1 : 3 })
  })
})

describe('labels of people', () => {
  const spec = specWith('    calibration: { labels: labels.json }')
  const about = order({
    purpose: 'calibration',
    candidates: [{ label: 'base-copy', head: '1'.repeat(40), tree: '3'.repeat(40) }],
  })
  const of = printed(8, 8, { executions: [run('base'), run('base-copy')] })
  of.items['base-copy'] = of.items['base'] ?? []
  const labels = [1, 2, 3, 4, 5].map(given => ({
    id: `l${given}`,
    bucket: null,
    content: `text ${given}`,
    score: given,
  }))

  it('are scored before the first idea, and the report has the agreement', () => {
    const job = { order: 'd'.repeat(64), runner: 'r', complete: true, pairs: [] }
    expect(isCheckedWithLabels({ order: about, spec })).toBe(true)
    expect(isCheckedWithLabels({ order: { ...about, earlier_jobs: { 'base-copy': [job] } }, spec })).toBe(
      false,
    )
    expect(isCheckedWithLabels({ order: order(), spec })).toBe(false)
    of.items['labels'] = labels
    const task = taskOf(spec, of, about)
    expect(buildTaskBatches(task)[0]?.entries.map(({ side }) => side)).toEqual(Array(5).fill('label'))
    const agree = (give: (item: string) => number | null) => {
      const records = score(task, (side, item) => (side === 'label' ? give(item) : 3))
      return buildJudgedReport(about, of, { ...task, records, cost: COST }).judging?.agreement
    }
    expect(agree(item => Number(item[1]))).toBe(1)
    expect(agree(() => 3)).toBeLessThan(0.2)
    expect(agree(() => null)).toBeLessThan(0)
  })

  it('break the base where they cannot be read', () => {
    const { labels: _, ...items } = of.items
    const task = prepareJudging({ order: about, spec }, { ...of, items })
    expect('executions' in task && task.executions[0]?.error).toContain('no labels were read')
  })
})

describe('metrics beside a judged one', () => {
  it('are measured by a run for each item, and each pair has its own', () => {
    const spec = specWith('', 'policy: { tie_breakers: [{ lower: tokens }] }\n')
    const executions = [0, 1, 2, 3].flatMap(seed => [
      run('base', { seed, metrics: { answers: 4, tokens: 100 + seed } }),
      run('exp-001', { seed, metrics: { answers: 4, tokens: 90 + seed } }),
    ])
    const of = printed(8, 8, { executions })
    const task = taskOf(spec, of)
    const records = score(task, () => 3)
    const report = buildJudgedReport(order(), of, { ...task, records, cost: COST })
    expect(isFollowingCoins(order(), report)).toBe(true)
    const asked = { order: order().id, metrics: ['quality', 'tokens'], pairs: 4 }
    const { pairs } = buildPairJob(asked, toMeasuredRun(report), 'exp-001')
    expect(pairs.map(({ base, candidate }) => [base, candidate])).toEqual(
      [0, 1, 2, 3].map(seed => [
        { quality: 3, tokens: 100 + seed },
        { quality: 3, tokens: 90 + seed },
      ]),
    )
  })
})

describe('a verdict beside other metrics', () => {
  const metrics = ['quality', 'tokens']
  const stop = {
    rule: 'paired',
    metrics,
    scale: 'linear',
    pairs: 12,
    min_effect: 0.3,
    null_effect: 0.15,
    screen: 20,
    fresh_runners: 1,
    single_machine: true,
    terms: {
      'exp-001': {
        as: 'idea',
        alpha: 0.01,
        alpha_share: 0.01,
        max_jobs: 3,
        give_up: 'early',
        variant: 0,
        touched: null,
      },
    },
  } as const satisfies Order['stop']
  const guarded = specWith('', '').metric
  const withSpec = (more: Partial<Spec['metric']>, policy?: Spec['policy']): Spec => {
    const spec = specWith('', '')
    const judge = spec.metric.judge && { ...spec.metric.judge, sample_size: 12 }
    return { ...spec, metric: { ...guarded, judge, ...more }, ...(policy === undefined ? {} : { policy }) }
  }

  /** Two jobs of twelve items and runs each; values by side, item and run. */
  function judgeTwoJobs(spec: Spec, give: (side: string, at: number) => { quality: number; tokens: number }) {
    const jobs: PairJob[] = []
    let found = null
    for (const id of ['a', 'e']) {
      const earlier_jobs = jobs.length === 0 ? {} : { 'exp-001': [...jobs] }
      const about = order({ id: id.repeat(64), stop, earlier_jobs })
      const executions = Array.from({ length: 12 }, (_, at) =>
        (['base', 'exp-001'] as const).map(side =>
          run(side, { metrics: { answers: 4, tokens: give(side, at).tokens } }),
        ),
      ).flat()
      const of = printed(24, 24, { order: about.id, executions })
      const task = taskOf(spec, of, about)
      const records = score(task, (side, item) => give(side, Number(item.slice(1))).quality)
      const report = buildJudgedReport(about, of, { ...task, records, cost: COST })
      found = assessCandidate({ spec, order: about, report, label: 'exp-001', baseline: null })
      jobs.push(buildPairJob({ order: about.id, metrics, pairs: 12 }, toMeasuredRun(report), 'exp-001'))
    }
    return found
  }

  const noisy = (at: number) => (at * 7) % 5
  const guardrail = {
    name: 'tokens',
    direction: 'minimize',
    role: 'guardrail',
    type: 'hard',
    target: null,
    max_regression: { type: 'relative', value: 0.1 },
  } as const

  it('keeps a gain that costs no more than the guardrail allows, and none that costs more', () => {
    const spec = withSpec({ objectives: [guardrail] })
    const give = (tokens: number) =>
      judgeTwoJobs(spec, (side, at) => ({
        quality: (side === 'base' ? 2 : 4) + noisy(at) / 10,
        tokens: (side === 'base' ? 100 : tokens) + noisy(at),
      }))
    expect(give(101)).toMatchObject({ outcome: 'eligible', improved_objectives: ['quality'] })
    expect(give(150)).toMatchObject({ outcome: 'dropped', violated_objectives: ['tokens'] })
  })

  it('keeps equal quality for a gain on the tie-breaker alone', () => {
    const { policy } = specWith('', 'policy: { tie_breakers: [{ lower: tokens }] }\n')
    const give = (tokens: number) =>
      judgeTwoJobs(withSpec({}, policy), (side, at) => ({
        quality: 3 + noisy(at + (side === 'base' ? 0 : 1)) / 100,
        tokens: (side === 'base' ? 100 : tokens) + noisy(at),
      }))
    expect(give(60)?.outcome).toBe('eligible')
    expect(give(100)?.outcome).not.toBe('eligible')
  })
})

describe('a holdout of items', () => {
  const spec = specWith()
  const stop = {
    rule: 'holdout',
    command: 'h',
    metrics: ['quality'],
    scale: 'linear',
    pairs: 6,
    margin: 0,
    exact: false,
    source: null,
  } as const satisfies Order['stop']
  const about = order({ purpose: 'holdout', stop })
  const of = printed(8, 8, {
    executions: [
      run('base', { role: 'holdout', metrics: {} }),
      run('exp-001', { role: 'holdout', metrics: {} }),
    ],
  })

  it.each<[string, number, number | null, string]>([
    ['passes that gains', 3, 4, 'passed'],
    ['passes that is equal', 3, 3, 'passed'],
    ['fails that loses', 4, 3, 'failed'],
    ['fails whose items get no score', 3, null, 'failed'],
  ])('%s', (_, base, candidate, is) => {
    expect(isJudgedOrder(about, spec)).toBe(true)
    const task = taskOf(spec, of, about)
    const records = score(task, side => (side === 'base' ? base : candidate))
    const report = buildJudgedReport(about, of, { ...task, records, cost: COST })
    expect(report.executions.filter(({ role }) => role === 'holdout')).toHaveLength(12)
    expect(judgeHoldout({ spec, stop, report, label: 'exp-001' }).is).toBe(is)
  })

  it('says nothing where the base gets no score', () => {
    const task = taskOf(spec, of, about)
    const report = buildJudgedReport(about, of, { ...task, records: score(task, () => null), cost: COST })
    expect(judgeHoldout({ spec, stop, report, label: 'exp-001' }).is).not.toBe('passed')
  })
})
