import { describe, expect, test } from 'vitest'
import { assessCandidate } from '../../../src/decide/assess.ts'
import { evaluatePairs, type PairedCase } from '../../../src/decide/paired/evaluate.ts'
import { renderEvidenceLine } from '../../../src/decide/paired/evidence-text.ts'
import type { PairJob } from '../../../src/model/pairs.ts'
import type { Spec } from '../../../src/spec/schema.ts'
import { aReport, aSpec, run } from '../a-spec.ts'
import { aRule, someTerms } from './a-case.ts'

const TASKS = ['octopi', 'neutron_stars', 'silk_road']
const LOSS = { type: 'loss', name: 'loss', direction: 'minimize' }

/** Jobs of one pass each; what the candidate gains in each task, a little different in every run. */
function passes(gains: Record<string, number>, jobs: number, seeds: number): PairJob[] {
  return Array.from({ length: jobs }, (_, job): PairJob => {
    const pairs = Object.entries(gains).flatMap(([task, gain], of) =>
      Array.from({ length: seeds }, (_, seed) => {
        const base = 0.5 + 0.05 * of + 0.003 * ((seed * 7 + job) % 5)
        return {
          first: (seed + of + job) % 2 === 0 ? ('base' as const) : ('candidate' as const),
          task,
          base: { loss: base },
          candidate: { loss: base - gain - 0.001 * ((seed * 3 + job) % 4) },
        }
      }),
    )
    return { order: String(job).repeat(64), runner: 'boot', complete: true, pairs }
  })
}

function caseOf(jobs: readonly PairJob[], metric: Record<string, unknown> = {}): PairedCase {
  const spec = aSpec({ metric: { primary: LOSS, ...metric } })
  const rule = aRule({
    metrics: ['loss'],
    scale: 'linear',
    pairs: jobs[0]?.pairs.length ?? 1,
    min_effect: 0.02,
    null_effect: 0.01,
    by_task: true,
  })
  return { spec, rule, terms: someTerms(), jobs }
}

describe('pairs of tasks', () => {
  test('keep a change that lowers the loss of every task', () => {
    const paired = caseOf(passes({ octopi: 0.1, neutron_stars: 0.08, silk_road: 0.12 }, 2, 6))
    expect(evaluatePairs(paired)).toMatchObject({ status: 'keep', improved: ['loss'], harmed: [] })
    expect(renderEvidenceLine(paired, evaluatePairs(paired))).toContain(
      '36 pairs of 3 tasks in 2 jobs on this machine',
    )
  })

  test('are read after whole passes', () => {
    const [first] = passes({ octopi: 0.1, neutron_stars: 0.08, silk_road: 0.12 }, 1, 6)
    if (first === undefined) throw new Error('no job')
    const cut = (count: number) =>
      evaluatePairs({
        ...caseOf([first]),
        jobs: [{ ...first, complete: false, pairs: first.pairs.slice(0, count) }],
      }).status
    expect([cut(6), cut(12), cut(17)]).toEqual(['continue', 'continue', 'continue'])
    expect(evaluatePairs(caseOf([first])).status).toBe('new-job')
  })

  test('a job may have more pairs than it needs, if one execution prints many tasks', () => {
    const jobs = passes({ octopi: 0.1, neutron_stars: 0.08, silk_road: 0.12 }, 2, 6)
    const { rule, ...paired } = caseOf(jobs)
    expect(evaluatePairs({ ...paired, rule: { ...rule, pairs: 8 } }).status).toBe('keep')
  })
})

describe('max_task_regression', () => {
  const bound = { max_task_regression: { type: 'absolute', value: 0.05 } }

  test('keeps a change once every task is shown to lose no more than that', () => {
    const gains = { octopi: 0.1, neutron_stars: 0.08, silk_road: 0 }
    expect(evaluatePairs(caseOf(passes(gains, 2, 6), bound))).toMatchObject({ status: 'keep', open: [] })
  })

  test('does not keep a change while too few pairs show it', () => {
    const paired = caseOf(passes({ octopi: 0.1, neutron_stars: 0.08, silk_road: 0.06, t4: 0.1 }, 5, 1), bound)
    expect(evaluatePairs({ ...paired, spec: caseOf([]).spec })).toMatchObject({ status: 'keep' })
    const { status, open } = evaluatePairs(paired)
    expect([status, open.length]).toEqual(['new-job', 4])
  })

  test('refuses a change that makes one task worse, though the mean gains', () => {
    const gains = { octopi: 0.3, neutron_stars: 0.3, t4: 0.3, t5: 0.3, silk_road: -0.15 }
    const { status, harmed } = evaluatePairs(caseOf(passes(gains, 2, 6), bound))
    expect([status, harmed]).toEqual(['drop', ['task silk_road']])
    expect(evaluatePairs(caseOf(passes(gains, 2, 6))).harmed).toEqual([])
  })

  test('allows a loss within the bound', () => {
    const gains = { octopi: 0.1, neutron_stars: 0.08, silk_road: -0.02 }
    expect(evaluatePairs(caseOf(passes(gains, 2, 6), bound)).status).toBe('keep')
  })
})

describe('runs that are compared as numbers', () => {
  const stability = { mode: 'repeat', repeat_count: 3, aggregation: 'mean', noise_threshold: 0.02 }
  const assess = (candidate: Record<string, number>, metric: Record<string, unknown> = {}) => {
    const spec: Spec = aSpec({
      metric: { primary: LOSS, ...metric },
      measurement: {
        stability,
        suite: { advisory: true, tasks: TASKS.map(name => ({ name, task: 't' })) },
      },
    })
    const base = { octopi: 0.4038, neutron_stars: 0.525, silk_road: 0.311 }
    const runs = (side: 'base' | 'exp-001', losses: Record<string, number>) =>
      Object.entries(losses).map(([task, loss]) => run(side, { loss }, { task, tasks: { [task]: loss } }))
    const report = aReport([...runs('base', base), ...runs('exp-001', candidate)])
    const order = {
      id: 'a'.repeat(64),
      stop: { rule: 'stability' as const, baseline: null },
      earlier_jobs: {},
    }
    return assessCandidate({ spec, order, report, label: 'exp-001', baseline: null })
  }
  const seed = { octopi: 0.0454, neutron_stars: 0.62, silk_road: 0.365 }

  test('compare means over the tasks: those of section 13 of the seed', () => {
    const { outcome, reason, warnings } = assess(seed)
    expect(outcome).toBe('eligible')
    expect(reason).toContain('loss 0.413267 -> 0.343467 (-16.9 %)')
    expect(warnings).toEqual(['compared with one base run in the same job; not noise-proof'])
  })

  test('max_task_regression refuses what two of its three tasks lost', () => {
    const bound = (value: number, type = 'absolute') => assess(seed, { max_task_regression: { type, value } })
    expect(bound(0.1)).toMatchObject({ outcome: 'eligible' })
    expect(bound(0.2, 'relative')).toMatchObject({ outcome: 'eligible' })
    expect(bound(0.1, 'relative')).toMatchObject({
      outcome: 'dropped',
      worse: true,
      violated_objectives: ['task neutron_stars', 'task silk_road'],
      reason: expect.stringContaining(
        'task neutron_stars 0.525 -> 0.62 and 1 other task: worse by more than max_task_regression allows (10 %)',
      ),
    })
  })

  test('a suite of which every task failed was not measured', () => {
    const spec = aSpec({ metric: { primary: LOSS }, measurement: { stability } })
    const failed = TASKS.map(task =>
      run('base', { loss: 1 }, { task, tasks: { [task]: 1 }, error: 'ended with exit code 127' }),
    )
    const order = { id: 'a'.repeat(64), stop: { rule: 'alone' as const }, earlier_jobs: {} }
    const assess = (executions: typeof failed) =>
      assessCandidate({ spec, order, report: aReport(executions), label: 'base', baseline: null })
    expect(assess(failed)).toMatchObject({
      outcome: 'error',
      reason: 'every task failed: the first ended with exit code 127',
    })
    expect(assess([...failed, run('base', { loss: 0.4 }, { task: 'd', tasks: { d: 0.4 } })]).outcome).toBe(
      'eligible',
    )
  })
})
