import { describe, expect, it } from 'vitest'
import { buildMachineKey } from '../../src/model/report.ts'
import { run } from '../decide/a-spec.ts'
import { HARNESS, SPEC, unprepared } from '../plan/a-campaign.ts'
import { MACHINE } from './a-machine.ts'

describe('the runs of a pass', () => {
  it('are those of the calibration where it is the first pass', () => {
    const { campaign } = unprepared(`${SPEC}epochs: { count: 2 }\n`).based()
    expect(campaign.epochs).toMatchObject([{ mean: 10, runs: [{ score: 10 }, { score: 10 }, { score: 10 }] }])
    expect(campaign.orders).toEqual({})
  })

  it('say why a task failed that has the worst loss', () => {
    const builder = unprepared(`winnow: 1
metric: { primary: { type: loss, name: loss, direction: minimize } }
measurement: { command: sh run-task.sh, suite: { advisory: true, tasks: [{ name: a, task: A. }, { name: b, task: B. }] } }
gates: [{ name: tests, command: sh bench/test }]
scope: { mutable: [prompts/] }
epochs: { count: 2 }
`)
    const order = builder.issue({ purpose: 'baseline', stop: { rule: 'alone' }, candidates: [] })
    const output = { failing: [], stdout: '', stderr: 'the notes are missing' }
    const failed = { exit_code: 1, error: 'ended with exit code 1', output, task: 'a', tasks: { a: 1 } }
    const executions = [
      run('base', { loss: 1 }, failed),
      run('base', { loss: 0.4 }, { task: 'b', tasks: { b: 0.4 } }),
    ]
    const report = builder.answer(order, { executions })
    const about = { cause: order.id, order: order.id }
    builder.add({ kind: 'measured', ...about, run_id: 'run-1', report })
    const snapshot = { metrics: { loss: { aggregate: 0.7, samples: [1, 0.4] } } }
    const { tree } = builder.campaign.incumbent
    const machine = buildMachineKey(MACHINE)
    builder.add({
      kind: 'baseline-measured',
      ...about,
      side: 'base',
      tree,
      machine,
      harness: HARNESS,
      snapshot,
    })
    expect(builder.campaign.epochs[0]?.runs).toMatchObject([
      { task: 'a', score: 1, error: 'ended with exit code 1 the notes are missing' },
      { task: 'b', score: 0.4, error: null },
    ])
  })
})
