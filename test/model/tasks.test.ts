import { describe, expect, test } from 'vitest'
import { drawSeed, drawTask, isFollowingCoins } from '../../src/model/order.ts'
import { buildPairJob, listTaskReadings } from '../../src/model/pairs.ts'
import { aggregateTasks, type Execution } from '../../src/model/report.ts'
import { compareTasks, sortWeakestFirst, summarizeTasks } from '../../src/model/tasks.ts'
import { anOrder } from './an-order.ts'

function run(side: string, fields: Partial<Execution> = {}): Execution {
  return {
    side: side as Execution['side'],
    role: 'sample',
    build: 0,
    seed: 1,
    status: 'ok',
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
    metrics: {},
    ...fields,
  }
}

describe('tasks on both sides', () => {
  test('are compared by their means', () => {
    const base = [{ tasks: { a: 0.4, b: 0.2 } }, { tasks: { a: 0.6 } }]
    const candidate = [{ tasks: { a: 0.3, b: 0.4, c: 1 } }]
    expect(compareTasks(base, candidate, 'minimize')).toEqual([
      { task: 'a', base: 0.5, candidate: 0.3, direction: 'minimize' },
      { task: 'b', base: 0.2, candidate: 0.4, direction: 'minimize' },
      { task: 'c', base: null, candidate: 1, direction: 'minimize' },
    ])
  })

  test('keep their own direction', () => {
    const base = [{ tasks: { a: 1 }, tasks_meta: { a: { direction: 'maximize' as const } } }]
    expect(compareTasks(base, [{ tasks: { a: 2 } }], 'minimize')).toMatchObject([{ direction: 'maximize' }])
  })

  test('a task without a score in one run has no mean, and one that is lost is worst', () => {
    const changes = compareTasks(
      [{ tasks: { a: 1, b: 1, c: 1 } }],
      [{ tasks: { a: null, b: 0.5, c: 3 } }],
      'minimize',
    )
    expect(summarizeTasks(changes)).toEqual({
      tasks: 3,
      better: 1,
      worse: 2,
      worst: [
        { task: 'a', base: 1, candidate: null, direction: 'minimize' },
        { task: 'c', base: 1, candidate: 3, direction: 'minimize' },
      ],
    })
  })

  test('the weakest comes first', () => {
    const tasks = { a: 0.2, b: null, c: 0.9 }
    expect(sortWeakestFirst(tasks, 'minimize').map(([task]) => task)).toEqual(['b', 'c', 'a'])
    expect(sortWeakestFirst(tasks, 'maximize').map(([task]) => task)).toEqual(['b', 'a', 'c'])
  })

  test('no task is no summary', () => {
    expect(summarizeTasks([])).toBeNull()
    expect(aggregateTasks({ executions: [run('base')] }, 'base')).toBeUndefined()
  })
})

describe('pairs of tasks', () => {
  const request = { order: 'a'.repeat(64), metrics: ['score', 'cost'], pairs: 4, byTask: true }
  const executions = [
    run('exp-001', { metrics: { score: 0.6, cost: 2 }, tasks: { a: 0.5, b: 0.7 } }),
    run('base', { metrics: { score: 0.5, cost: 1 }, tasks: { b: 0.6, a: 0.4 } }),
    run('base', { metrics: { score: 0.5, cost: 1 }, tasks: { a: 0.3, b: 0.5 } }),
    run('exp-001', { metrics: { score: 0.6, cost: 2 }, tasks: { a: 0.2 } }),
  ]

  test('one for each task and seed, and the other metrics once for each execution', () => {
    const job = buildPairJob(request, { executions, runner: 'm' }, 'exp-001')
    expect(job.complete).toBe(true)
    expect(job.pairs).toEqual([
      { first: 'candidate', task: 'a', base: { score: 0.4, cost: 1 }, candidate: { score: 0.5, cost: 2 } },
      { first: 'candidate', task: 'b', base: { score: 0.6 }, candidate: { score: 0.7 } },
      { first: 'base', task: 'a', base: { score: 0.3, cost: 1 }, candidate: { score: 0.2, cost: 2 } },
      { first: 'base', task: 'b', base: { score: 0.5 }, candidate: { score: null } },
    ])
    expect(listTaskReadings([job], 'candidate', 'score').map(({ tasks }) => tasks)).toEqual([
      { a: 0.5 },
      { b: 0.7 },
      { a: 0.2 },
      { b: null },
    ])
  })

  test('a run that failed is one pair', () => {
    const crashed = [executions[1], run('exp-001', { status: 'crashed' })].filter(each => each !== undefined)
    const { pairs } = buildPairJob(request, { executions: crashed, runner: 'm' }, 'exp-001')
    expect(pairs).toEqual([{ first: 'base', base: { score: 0.5, cost: 1 }, candidate: null }])
  })

  test('a block that was interrupted is lost as a whole', () => {
    const measured = {
      executions: executions.slice(0, 3),
      runner: 'm',
      begun: { block: 1, sides: ['base', 'exp-001'] },
    }
    const { pairs } = buildPairJob(request, measured as Parameters<typeof buildPairJob>[1], 'exp-001')
    expect(pairs.map(({ task, lost }) => task ?? lost)).toEqual(['a', 'b', true])
  })
})

const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

describe('the task of a block', () => {
  const order = anOrder({ suite: { tasks: ['a', 'b', 'c'], seeds: 2 } })

  test('every pass runs each task as often as it has seeds, in an order of its own', () => {
    const passes = [0, 1, 2].map(pass => Array.from({ length: 6 }, (_, at) => drawTask(order, 6 * pass + at)))
    for (const pass of passes)
      expect(pass.map(String).toSorted(byName)).toEqual(['a', 'a', 'b', 'b', 'c', 'c'])
    expect(new Set(passes.map(pass => pass.join(' '))).size).toBeGreaterThan(1)
    expect(drawTask(anOrder(), 0)).toBeUndefined()
  })

  test('a report with another task does not follow the coins', () => {
    const pairs = anOrder({
      suite: { tasks: ['a', 'b'], seeds: 1 },
      stop: { rule: 'pairs', metrics: ['loss'], scale: 'linear', pairs: 2, by_task: true },
      candidates: [],
    })
    const task = drawTask(pairs, 0)
    const report = (drawn: string | undefined) => ({
      setups: [],
      executions: [
        run('base', { seed: drawSeed(pairs, 0), ...(drawn === undefined ? {} : { task: drawn }) }),
      ],
    })
    const follows = (drawn: string | undefined) =>
      isFollowingCoins(pairs, report(drawn) as unknown as Parameters<typeof isFollowingCoins>[1])
    expect(follows(task)).toBe(true)
    expect(follows(task === 'a' ? 'b' : 'a')).toBe(false)
    expect(follows(undefined)).toBe(false)
  })
})
