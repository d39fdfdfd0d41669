import { describe, expect, it } from 'vitest'
import { computeLoss } from '../src/decide/loss.ts'
import { describeEffect, removeMetricName } from '../src/decide/paired/effect-text.ts'
import { collectMetricPairs } from '../src/decide/paired/evaluate.ts'
import { computeBenchmarkMetrics } from '../src/measure/output/benchmarks.ts'
import { parseResultObject } from '../src/measure/output/result-object.ts'
import { goTest } from '../src/measure/output/text-benchmarks.ts'
import { createEmptyCampaign } from '../src/model/campaign.ts'
import { recordAnswerOutcome } from '../src/model/fold/proposers.ts'
import { buildPairJob } from '../src/model/pairs.ts'
import { aggregateMetrics } from '../src/model/report.ts'
import { compareTasks } from '../src/model/tasks.ts'
import { formatChanges } from '../src/report/metrics.ts'
import { renderSuitePass } from '../src/report/tasks.ts'
import { run } from './decide/a-spec.ts'
import { refusals } from './spec/problems-of.ts'

/** Every object inherits members of these names. A spec, a harness or a benchmark may use them too. */
describe.each(['constructor', 'toString', 'valueOf'])('%s', name => {
  it('is a task that a side lacks unless it printed it', () => {
    const lacking = { a: 1 }
    const printing = { a: 1, [name]: 2 }
    expect(compareTasks([{ tasks: printing }], [{ tasks: lacking }], 'minimize')[1]).toEqual({
      task: name,
      base: 2,
      candidate: null,
      direction: 'minimize',
    })
    expect(compareTasks([{ tasks: lacking }], [{ tasks: printing }], 'minimize')[1]).toMatchObject({
      base: null,
      candidate: 2,
    })
    const executions = [
      run('base', { score: 1 }, { tasks: printing }),
      run('exp-001', { score: 1 }, { tasks: lacking }),
    ]
    const request = { order: 'a'.repeat(64), metrics: ['score'], pairs: 2, byTask: true }
    const { pairs } = buildPairJob(request, { executions, runner: 'boot' }, 'exp-001')
    expect(pairs.find(({ task }) => task === name)).toMatchObject({
      base: { score: 2 },
      candidate: { score: null },
    })
  })

  it('is a metric that a run lacks unless it printed it', () => {
    const pair = { first: 'base', base: { a: 1 }, candidate: { a: 1, [name]: 2 } } as const
    const job = { order: 'a'.repeat(64), runner: 'boot', complete: true, pairs: [pair] }
    expect(collectMetricPairs([job], name)).toMatchObject([{ base: null, candidate: 2 }])
    const executions = [run('base', { [name]: 2 }), run('base', {})]
    expect(aggregateMetrics({ executions }, 'base', 'median')).toEqual({ [name]: null })
    expect(formatChanges({}, { [name]: 2 }, { objectives: [name] })).toBe(`${name} 2`)
    expect(removeMetricName(`${name} 2.0 % lower`, name)).toBe(`${name} 2.0 % lower`)
    const measured = { name, direction: 'minimize', scale: 'log' } as const
    expect(describeEffect(0.02, null, measured)).toMatchObject({ word: 'lower' })
  })

  it('is a component of a loss that is missing unless a run reports it', () => {
    const terms = { weights: { [name]: 1 }, maxRejections: 3, missing: 'error' } as const
    expect(computeLoss({ numbers: {}, status: 'complete' }, terms)).toEqual({ missing: [name] })
    const results = [{ task: 'a', score: 0.5, parts: { [name]: 0.5 }, runs: 1, failures: [] }]
    const other = { task: 'b', score: 0.5, parts: {}, runs: 1, failures: [] }
    expect(renderSuitePass('loss', [...results, other]).join('\n')).not.toContain('function')
  })

  it('is a proposer like any other', () => {
    const campaign = createEmptyCampaign()
    recordAnswerOutcome(campaign, name, { ok: false, seq: 7 })
    expect(campaign.proposers).toEqual({
      [name]: { asked: 7, failures: 1, disabled: false, since_kept: null },
    })
  })

  it('is a unit of a benchmark', () => {
    const text = `BenchmarkA-8  100  5 ns/op  3 ${name}\nBenchmarkB-8  100  5 ns/op\nPASS\n`
    const { metrics } = computeBenchmarkMetrics(goTest.read(text), goTest)
    expect(metrics[`geomean_${name}`]).toBeUndefined()
    expect(Object.keys(metrics).filter(key => key.endsWith(`.${name}`))).toHaveLength(1)
  })
})

describe('__proto__', () => {
  it('is no name: no schema reads a member of that name', () => {
    expect(() => parseResultObject('{"a": 1, "tasks": {"__proto__": 1, "b": 2}}')).toThrow(
      '"tasks": no task can be called __proto__',
    )
    const suite = { 'measurement.suite.tasks': [{ name: '__proto__' }] }
    expect(refusals('winnow-suite.yaml', suite).join()).toContain('__proto__')
    const metric = { 'metric.primary': { name: '__proto__', direction: 'minimize' } }
    expect(refusals('winnow-smallest.yaml', metric).join()).toContain('metric.primary.name: "__proto__"')
  })
})
