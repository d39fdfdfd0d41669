import { describe, expect, test } from 'vitest'
import { findMoneyStop, findStopReason, type StopProgress } from '../../src/decide/stop-rules.ts'
import { RULE_VERSION } from '../../src/decide/assessment.ts'
import { aSpec } from './a-spec.ts'

const fresh: StopProgress = {
  ended: 0,
  uncounted: 0,
  endedSinceIncumbent: 0,
  failures: 0,
  hours: 0,
  runnerMinutes: 0,
  setAsideMinutes: 0,
  costUsd: 0,
  targetReached: false,
  backlogEmpty: false,
}

function stop(progress: Partial<StopProgress>, stopping: Record<string, unknown> = {}, propose?: unknown[]) {
  const spec = aSpec({ stopping, ...(propose === undefined ? {} : { propose }) })
  return findStopReason(spec, { ...fresh, ...progress })
}

describe('judging', () => {
  const judged = (max_total_cost_usd: number | null, type = 'judge') =>
    aSpec({
      metric: {
        primary: { type, name: 'q', direction: 'maximize' },
        degenerate_gates: [{ name: 'a', check: '> 0' }],
        judge: { rubric: 'Score 1 to 5.', scoring: { primary: 'q' }, max_total_cost_usd },
      },
    })

  test.each([
    [5, 4.99, null],
    [5, 5, '5 USD spent on judges (metric.judge.max_total_cost_usd)'],
    [5, Number.NaN, '5 USD spent on judges (metric.judge.max_total_cost_usd)'],
  ])('under a cap of %d, with %d spent: %s', (cap, spent, reason) => {
    const stop = findMoneyStop(judged(cap), { usd: 9, usd_for: { judge: spent, propose: 4 } })
    expect(stop?.reason ?? null).toBe(reason)
  })

  test('ends with the money of the whole campaign as well', () => {
    const spec = { ...judged(null), stopping: aSpec({ stopping: { max_total_cost_usd: 3 } }).stopping }
    for (const usd of [3, Number.NaN])
      expect(findMoneyStop(spec, { usd, usd_for: {} })).toEqual({
        code: 'max_total_cost_usd',
        reason: '3 USD spent on models (stopping.max_total_cost_usd)',
      })
    expect(findMoneyStop(spec, { usd: 2.9, usd_for: { judge: 2.9 } })).toBeNull()
  })

  test('does not stop a campaign with another metric', () => {
    expect(findMoneyStop(judged(5, 'hard'), { usd: 9, usd_for: { judge: 9 } })).toBeNull()
  })
})

describe('a campaign', () => {
  test('continues after its start', () => {
    expect(stop({})).toBeNull()
  })

  test.each([
    ['max_iterations', { ended: 99 }, { ended: 100 }, {}],
    ['max_hours', { hours: 7.9 }, { hours: 8 }, {}],
    ['plateau', { endedSinceIncumbent: 39 }, { endedSinceIncumbent: 40 }, {}],
    ['max_runner_minutes', { runnerMinutes: 59 }, { runnerMinutes: 60 }, { max_runner_minutes: 60 }],
    ['max_total_cost_usd', { costUsd: 4.99 }, { costUsd: 5 }, { max_total_cost_usd: 5 }],
    ['max_failures', { failures: 2 }, { failures: 3 }, { max_failures: 3 }],
  ] as const)('stops at %s, not before', (code, before, at, stopping) => {
    expect(stop(before, stopping)).toBeNull()
    expect(stop(at, stopping)?.code).toBe(code)
    expect(stop(at, stopping)?.reason).toContain(`(stopping.${code})`)
  })

  test.each(['max_hours', 'max_runner_minutes', 'max_total_cost_usd', 'max_failures'])(
    'null lifts %s',
    key => {
      const far = { hours: 1e9, runnerMinutes: 1e9, costUsd: 1e9, failures: 1e9 }
      const others = {
        max_hours: null,
        max_runner_minutes: null,
        max_total_cost_usd: null,
        max_failures: null,
      }
      expect(stop(far, others)).toBeNull()
      expect(stop(far, { ...others, [key]: 5 })?.code).toBe(key)
    },
  )

  test('stops at its target, unless told not to', () => {
    expect(stop({ targetReached: true })?.code).toBe('target_reached')
    expect(stop({ targetReached: true }, { target_reached: false })).toBeNull()
    expect(stop({ targetReached: true, ended: 100 })?.code).toBe('target_reached')
  })

  test('stops on an empty backlog only when no person can add ideas', () => {
    const sweep = { use: 'sweep' }
    expect(stop({ backlogEmpty: true })).toBeNull()
    expect(stop({ backlogEmpty: true }, {}, [sweep, { use: 'external' }])).toBeNull()
    expect(stop({ backlogEmpty: true }, {}, [sweep])?.code).toBe('empty_backlog')
    expect(stop({ backlogEmpty: false }, {}, [sweep])).toBeNull()
  })

  test('stops when spending is not a number', () => {
    expect(stop({ costUsd: Number.NaN }, { max_total_cost_usd: 5 })?.code).toBe('max_total_cost_usd')
  })
})

test('verdicts carry the version of these rules', () => {
  expect(RULE_VERSION).toBe('6')
})

test('names the experiments that max_iterations does not count', () => {
  const reason = (uncounted: number) => stop({ ended: 8, uncounted }, { max_iterations: 8 })?.reason
  expect(reason(0)).toBe('8 experiments ended (stopping.max_iterations)')
  expect(reason(2)).toBe('8 experiments ended, not counting 2 refused or withdrawn (stopping.max_iterations)')
})
