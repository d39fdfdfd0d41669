import { describe, expect, it } from 'vitest'
import type { Execution } from '../../src/model/report.ts'
import {
  collectSuitePass,
  collectTaskResults,
  computeSuiteMean,
  describeWeakTasks,
  describeWorseTasks,
  renderSuitePass,
  renderTaskTable,
} from '../../src/report/tasks.ts'
import { aSpec, run } from '../decide/a-spec.ts'

const SPEC = aSpec({ metric: { primary: { type: 'loss', name: 'loss', direction: 'minimize' } } })

function taskRun(
  side: 'base' | 'exp-001',
  task: string,
  parts: Record<string, number>,
  error?: string,
): Execution {
  const loss = Object.values(parts).reduce((sum, part) => sum + part, 0)
  const named = Object.fromEntries(Object.entries(parts).map(([name, part]) => [`loss.${name}`, part]))
  return run(
    side,
    { ...named, loss },
    { task, tasks: { [task]: loss }, ...(error === undefined ? {} : { error }) },
  )
}

/** Section 13 of seed 000, with losses split in two. */
const BASE = [
  taskRun('base', 'octopi', { eval: 0.3038, status: 0.1 }),
  taskRun('base', 'neutron_stars', { eval: 0.475, status: 0.05 }),
  taskRun('base', 'silk_road', { eval: 0.261, status: 0.05 }),
]
const CANDIDATE = [
  taskRun('exp-001', 'octopi', { eval: 0.0454, status: 0 }),
  taskRun('exp-001', 'neutron_stars', { eval: 0.52, status: 0.1 }),
  taskRun('exp-001', 'silk_road', { eval: 0.265, status: 0.1 }),
]
const record = {
  decisive: [{ spec: SPEC }],
  executions: (side: 'base' | 'candidate') => (side === 'base' ? BASE : CANDIDATE),
}

describe('the table of tasks', () => {
  it('shows both sides and the parts of the loss, the most harmed first', () => {
    expect(renderTaskTable(collectTaskResults(record))).toEqual([
      '  task           base    candidate          eval    status',
      '  neutron_stars  0.525   0.62       worse   0.52    0.1',
      '  silk_road      0.311   0.365      worse   0.265   0.1',
      '  octopi         0.4038  0.0454     better  0.0454  0',
      '',
    ])
  })

  it('is empty where no task was printed', () => {
    const none = { decisive: [], executions: () => [run('base', { bytes: 1 })] }
    expect(renderTaskTable(collectTaskResults(none))).toEqual([])
  })
})

describe('one pass of a suite', () => {
  it('shows every task, its failures and the mean', () => {
    const failed = taskRun('base', 'octopi', { eval: 0.4, status: 0.1 }, 'ended with exit code 3')
    const pass = collectSuitePass(SPEC, { executions: [...BASE, failed] })
    expect(renderSuitePass('loss', pass)).toEqual([
      '  task           loss    eval    status',
      '  neutron_stars  0.525   0.475   0.05',
      '  octopi         0.4519  0.3519  0.1      1 of 2 runs failed: ended with exit code 3',
      '  silk_road      0.311   0.261   0.05',
      expect.stringMatching(/^ {2}mean +0\.4293 /),
    ])
    expect(computeSuiteMean(collectSuitePass(SPEC, { executions: BASE }))).toBeCloseTo(0.4133, 4)
  })

  it('has no mean without the score of every run', () => {
    const crashed = { ...taskRun('base', 'octopi', {}, 'ended with exit code 3'), metrics: {} }
    const pass = collectSuitePass(SPEC, { executions: [...BASE, crashed] })
    expect(pass.map(({ task, score }) => [task, score])).toContainEqual(['octopi', null])
    expect(computeSuiteMean(pass)).toBeNull()
  })
})

describe('tasks in a sentence', () => {
  const worst = [
    { task: 'a\u001b[31m\nb', base: 0.3, candidate: 0.4, direction: 'minimize' as const },
    { task: 'c', base: 0.3, candidate: null, direction: 'minimize' as const },
  ]

  it('are those that got worse', () => {
    expect(describeWorseTasks({ tasks: 9, better: 2, worse: 4, worst })).toBe(
      '4 of 9 tasks got worse: a b 0.3 -> 0.4, c 0.3 -> missing and 2 more',
    )
    expect(describeWorseTasks({ tasks: 9, better: 9, worse: 0, worst: [] })).toBeNull()
    expect(describeWorseTasks(null)).toBeNull()
  })

  it('or the weakest of the incumbent', () => {
    expect(describeWeakTasks({ a: 0.1, b: 0.9, c: 0.5 }, 'minimize', 2)).toBe('b 0.9, c 0.5 and 1 more')
  })
})
