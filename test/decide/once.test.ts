import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { isRepeatNeeded } from '../../src/decide/once.ts'
import type { Execution } from '../../src/model/report.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { anOrder, aReport, aSpec, run } from './a-spec.ts'

type Values = Execution['metrics']
const label = 'exp-001'

function spec(metric: Record<string, unknown> = {}, rest: Record<string, unknown> = {}): Spec {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  return aSpec({ metric: { primary, ...metric }, ...rest })
}

function judge(
  base: Values,
  candidate: Values,
  options: {
    spec?: Spec
    minEffect?: number
    repeats?: readonly [(Values | undefined)?, (Values | undefined)?]
  } = {},
) {
  const [again, candidateAgain] = options.repeats ?? [base, candidate]
  const executions = [run('base', base), run(label, candidate)]
  if (again !== undefined) executions.push(run('base', again, { role: 'repeat' }))
  if (candidateAgain !== undefined) executions.push(run(label, candidateAgain, { role: 'repeat' }))
  return assessCandidate({
    spec: options.spec ?? spec(),
    order: anOrder({ rule: 'once', min_effect: options.minEffect ?? 0, scale: 'linear' }),
    report: aReport(executions),
    label,
    baseline: null,
  })
}

describe('a deterministic gain', () => {
  test('of any size is kept when its repeat is equal', () => {
    expect(judge({ bytes: 1200 }, { bytes: 1100 })).toEqual({
      outcome: 'eligible',
      retry: false,
      failure_class: null,
      worse: false,
      comparisons: { bytes: { verdict: 'improved', delta: 100, relative: 100 / 1200, violated: false } },
      improved_objectives: ['bytes'],
      violated_objectives: [],
      primary_delta: 100,
      rank_score: 100 / 1200,
      sometimes_slower: null,
      target_reached: false,
      next_measurement: 'none',
      determinism_lost: false,
      given_up: null,
      reason: 'bytes 1200 -> 1100 (-8.3 %), deterministic, identical when re-run',
      warnings: [],
    })
    expect(judge({ bytes: 1_000_001 }, { bytes: 1_000_000 }).outcome).toBe('eligible')
  })

  test('must reach min_effect, in metric units', () => {
    const outcome = (candidate: number) =>
      judge({ bytes: 100 }, { bytes: candidate }, { minEffect: 5 }).outcome
    expect([94, 95, 96].map(outcome)).toEqual(['eligible', 'eligible', 'dropped'])
  })

  test.each([
    ['the candidate', [{ bytes: 1200 }, { bytes: 1101 }], label],
    ['the base', [{ bytes: 1201 }, { bytes: 1100 }], 'base'],
  ] as const)('whose repeat differs on %s loses the deterministic status', (_, repeats, side) => {
    const found = judge({ bytes: 1200 }, { bytes: 1100 }, { repeats: [...repeats] })
    expect(found).toMatchObject({ outcome: 'inconclusive', determinism_lost: true })
    expect(found.reason).toBe(`bytes differs between runs of ${side}: not deterministic`)
  })

  test.each([
    ['both sides', []],
    ['the base', [undefined, { bytes: 1100 }]],
    ['the candidate', [{ bytes: 1200 }, undefined]],
  ] as const)('without a repeat of %s is no verdict: measured again', (_, repeats) => {
    const [base, candidate] = repeats
    const found = judge({ bytes: 1200 }, { bytes: 1100 }, { repeats: [base, candidate] })
    expect(found).toMatchObject({ outcome: 'error', retry: true })
  })

  test('whose repeat lacks the metric is not equal', () => {
    const found = judge({ bytes: 1200 }, { bytes: 1100 }, { repeats: [{ bytes: 1200 }, {}] })
    expect(found).toMatchObject({ outcome: 'inconclusive', determinism_lost: true })
  })

  test('metrics that decide nothing may differ', () => {
    const found = judge(
      { bytes: 2, wall_seconds: 1 },
      { bytes: 1, wall_seconds: 2 },
      {
        repeats: [
          { bytes: 2, wall_seconds: 3 },
          { bytes: 1, wall_seconds: 4 },
        ],
      },
    )
    expect(found.outcome).toBe('eligible')
  })

  test('reports that every target is reached', () => {
    const primary = { type: 'hard', name: 'bytes', direction: 'minimize', target: 1100 }
    expect(judge({ bytes: 1200 }, { bytes: 1100 }, { spec: spec({ primary }) }).target_reached).toBe(true)
    expect(judge({ bytes: 1200 }, { bytes: 1101 }, { spec: spec({ primary }) }).target_reached).toBe(false)
  })
})

describe('no deterministic gain', () => {
  test('an equal value is dropped without a repeat, and is not worse', () => {
    expect(judge({ bytes: 100 }, { bytes: 100 }, { repeats: [] })).toMatchObject({
      outcome: 'dropped',
      worse: false,
      failure_class: 'hypothesis',
      reason: 'no gain: bytes 100 -> 100 (0.0 %), deterministic',
    })
  })

  test('a larger one is worse', () => {
    expect(judge({ bytes: 100 }, { bytes: 103 }, { repeats: [] })).toMatchObject({
      outcome: 'dropped',
      worse: true,
      violated_objectives: ['bytes'],
      reason: 'worse: bytes 100 -> 103 (+3.0 %), deterministic',
    })
  })

  test.each([
    ['missing', {}],
    ['not finite', { bytes: null }],
  ])('a metric that is %s is an error', (_, values) => {
    expect(judge({ bytes: 100 }, values)).toMatchObject({
      outcome: 'error',
      retry: false,
      failure_class: 'eval',
    })
    expect(judge(values, { bytes: 100 }).outcome).toBe('error')
  })

  test('a report without a sample is measured again', () => {
    const order = anOrder({ rule: 'once', min_effect: 0, scale: 'linear' })
    for (const executions of [[run('base', { bytes: 1 })], [run(label, { bytes: 1 })], []]) {
      const found = assessCandidate({
        spec: spec(),
        order,
        report: aReport(executions),
        label,
        baseline: null,
      })
      expect(found).toMatchObject({ outcome: 'error', retry: true })
    }
  })
})

describe('several required objectives', () => {
  const two = (bound?: Record<string, unknown>) =>
    spec({ objectives: [{ name: 'depth', direction: 'maximize', max_regression: bound ?? null }] })

  test('one gain without a loss is enough', () => {
    const found = judge({ bytes: 100, depth: 4 }, { bytes: 100, depth: 5 }, { spec: two() })
    expect(found).toMatchObject({ outcome: 'eligible', improved_objectives: ['depth'], rank_score: 0.25 })
    expect(found.reason).toBe('depth 4 -> 5 (+25.0 %), deterministic, identical when re-run')
  })

  test('any loss is a violation', () => {
    const found = judge({ bytes: 100, depth: 4 }, { bytes: 50, depth: 3.9 }, { spec: two() })
    expect(found).toMatchObject({ outcome: 'dropped', violated_objectives: ['depth'], worse: true })
  })

  test('unless max_regression allows it', () => {
    const found = (depth: number) =>
      judge({ bytes: 100, depth: 4 }, { bytes: 50, depth }, { spec: two({ type: 'relative', value: 0.25 }) })
        .outcome
    expect([3, 2.9].map(found)).toEqual(['eligible', 'dropped'])
  })
})

describe('a guardrail', () => {
  const guarded = (bound: Record<string, unknown> | null = null) =>
    spec({ objectives: [{ name: 'heap', direction: 'minimize', role: 'guardrail', max_regression: bound }] })
  const outcome = (heap: number, rules: Spec, minEffect = 0) =>
    judge({ bytes: 100, heap: 40 }, { bytes: 90, heap }, { spec: rules, minEffect }).outcome

  test('may be worse by min_effect, in metric units, unless it says otherwise', () => {
    expect([40, 41].map(heap => outcome(heap, guarded()))).toEqual(['eligible', 'dropped'])
    expect([42, 43].map(heap => outcome(heap, guarded(), 2))).toEqual(['eligible', 'dropped'])
  })

  test('may be worse by max_regression, absolute or relative', () => {
    const absolute = guarded({ type: 'absolute', value: 3 })
    expect([43, 44].map(heap => outcome(heap, absolute))).toEqual(['eligible', 'dropped'])
    const relative = guarded({ type: 'relative', value: 0.5 })
    expect([60, 61].map(heap => outcome(heap, relative))).toEqual(['eligible', 'dropped'])
  })

  test('violated is worse; missing is an error; better wins nothing', () => {
    expect(judge({ bytes: 100, heap: 40 }, { bytes: 90, heap: 50 }, { spec: guarded() })).toMatchObject({
      worse: true,
      violated_objectives: ['heap'],
    })
    expect(judge({ bytes: 100, heap: 40 }, { bytes: 90 }, { spec: guarded() }).outcome).toBe('error')
    expect(judge({ bytes: 100, heap: 40 }, { bytes: 100, heap: 1 }, { spec: guarded() }).outcome).toBe(
      'dropped',
    )
  })
})

describe('tie-breakers', () => {
  const tied = spec({}, { policy: { tie_breakers: [{ lower: 'lines' }, { higher: 'score' }] } })
  const outcome = (base: Values, candidate: Values, minEffect = 0) =>
    judge(base, candidate, { spec: tied, minEffect }).outcome

  test('decide when the primary is level and they are strictly better', () => {
    expect(outcome({ bytes: 5, lines: 9, score: 1 }, { bytes: 5, lines: 8, score: 1 })).toBe('eligible')
    expect(outcome({ bytes: 5, lines: 9, score: 1 }, { bytes: 5, lines: 9, score: 1 })).toBe('dropped')
    expect(outcome({ bytes: 5, lines: 9, score: 1 }, { bytes: 5, lines: 10, score: 1 })).toBe('dropped')
  })

  test('are checked in order: a later one never outweighs an earlier one', () => {
    expect(outcome({ bytes: 5, lines: 9, score: 1 }, { bytes: 5, lines: 9, score: 2 })).toBe('eligible')
    expect(outcome({ bytes: 5, lines: 9, score: 1 }, { bytes: 5, lines: 10, score: 2 })).toBe('dropped')
  })

  test('a missing one decides nothing', () => {
    expect(outcome({ bytes: 5, score: 1 }, { bytes: 5, lines: 1, score: 2 })).toBe('dropped')
  })

  test('count while the primary gained less than min_effect, never when it lost', () => {
    expect(outcome({ bytes: 5, lines: 9 }, { bytes: 4, lines: 8 }, 3)).toBe('eligible')
    expect(outcome({ bytes: 5, lines: 9 }, { bytes: 6, lines: 8 }, 3)).toBe('dropped')
  })

  test('must repeat exactly as well', () => {
    const values = [
      { bytes: 5, lines: 9 },
      { bytes: 5, lines: 8 },
    ] as const
    const repeats: [Values, Values] = [values[0], { bytes: 5, lines: 7 }]
    expect(judge(...values, { spec: tied, repeats })).toMatchObject({ determinism_lost: true })
    expect(judge(...values, { spec: tied, repeats: [] })).toMatchObject({ outcome: 'error', retry: true })
  })

  test('are named in the reason', () => {
    expect(judge({ bytes: 5, lines: 9 }, { bytes: 5, lines: 8 }, { spec: tied }).reason).toBe(
      'bytes 5 -> 5 (0.0 %), better on lines (tie-breaker), deterministic, identical when re-run',
    )
  })
})

describe('laws', () => {
  const value = fc.integer({ min: -1000, max: 1000 })
  const effect = fc.integer({ min: 0, max: 50 })

  test('the runner repeats exactly when the verdict needs it', () => {
    fc.assert(
      fc.property(value, value, effect, (base, candidate, minEffect) => {
        const executions = [run('base', { bytes: base }), run(label, { bytes: candidate })]
        const asked = isRepeatNeeded({ spec: spec(), minEffect, scale: 'linear' }, { executions }, label)
        const outcome = judge({ bytes: base }, { bytes: candidate }, { minEffect }).outcome
        expect(asked).toBe(outcome === 'eligible')
        expect(asked).toBe(base > candidate && base - candidate >= minEffect)
      }),
    )
  })

  test('under log min_effect is a fraction of the base, under linear it is in its units', () => {
    const executions = [run('base', { bytes: 100 }), run(label, { bytes: 97 })]
    const asked = (minEffect: number, scale: 'log' | 'linear') =>
      isRepeatNeeded({ spec: spec(), minEffect, scale }, { executions }, label)
    expect([asked(0.02, 'log'), asked(0.04, 'log')]).toEqual([true, false])
    expect([asked(2, 'linear'), asked(4, 'linear')]).toEqual([true, false])
  })

  test('without both samples there is nothing to repeat', () => {
    for (const executions of [[], [run('base', { bytes: 2 })], [run(label, { bytes: 1 })]]) {
      expect(isRepeatNeeded({ spec: spec(), minEffect: 0, scale: 'linear' }, { executions }, label)).toBe(
        false,
      )
    }
  })

  test('at most one of two versions beats the other', () => {
    fc.assert(
      fc.property(value, value, effect, (one, other, minEffect) => {
        const outcomes = [
          judge({ bytes: one }, { bytes: other }, { minEffect }),
          judge({ bytes: other }, { bytes: one }, { minEffect }),
        ]
        expect(outcomes.filter(found => found.outcome === 'eligible').length).toBeLessThanOrEqual(1)
        expect(outcomes[0]?.primary_delta).toBe(0 - (outcomes[1]?.primary_delta ?? Number.NaN))
      }),
    )
  })

  test('nothing with a missing number is eligible', () => {
    const maybe = fc.oneof(value, fc.constant(null))
    fc.assert(
      fc.property(
        fc.array(maybe, { minLength: 4, maxLength: 4 }),
        ([a = null, b = null, c = null, d = null]) => {
          const found = judge({ bytes: a }, { bytes: b }, { repeats: [{ bytes: c }, { bytes: d }] })
          if ([a, b, c, d].includes(null)) expect(found.outcome).not.toBe('eligible')
        },
      ),
    )
  })
})

describe('counts that differ a little between runs of the same code', () => {
  const counted = spec({ primary: { type: 'hard', name: 'instructions', direction: 'minimize' } })
  const assess = (base: [number, number], candidate: [number, number], tolerance = 1e-5) => {
    const counts = (value: number) => ({ instructions: value })
    const executions = [
      run('base', counts(base[0])),
      run(label, counts(candidate[0])),
      run('base', counts(base[1]), { role: 'repeat' }),
      run(label, counts(candidate[1]), { role: 'repeat' }),
    ]
    const order = anOrder({ rule: 'once', min_effect: 0, scale: 'log', tolerance })
    return assessCandidate({ spec: counted, order, report: aReport(executions), label, baseline: null })
  }

  test('a gain beyond the tolerance is kept, and the reason says how near the runs are', () => {
    const found = assess([1_000_000, 1_000_005], [900_000, 900_004])
    expect([found.outcome, found.reason]).toEqual([
      'eligible',
      'instructions 1000000 -> 900000 (-10.0 %), deterministic within 0.001 %, confirmed when re-run',
    ])
  })

  test('a difference within it is neither a gain nor a loss', () => {
    expect(assess([1_000_000, 1_000_000], [999_995, 999_995])).toMatchObject({
      outcome: 'dropped',
      worse: false,
    })
    expect(assess([1_000_000, 1_000_000], [1_000_005, 1_000_005])).toMatchObject({
      outcome: 'dropped',
      worse: false,
    })
    expect(assess([1_000_000, 1_000_000], [1_000_050, 1_000_050])).toMatchObject({
      outcome: 'dropped',
      worse: true,
    })
  })

  test('a tie-breaker within it does not break the tie', () => {
    const tied = spec({}, { policy: { tie_breakers: [{ lower: 'instructions' }] } })
    const judgeTied = (instructions: number) => {
      const sides = [
        run('base', { bytes: 9, instructions: 1_000_000 }),
        run(label, { bytes: 9, instructions }),
      ]
      const executions = [...sides, ...sides.map(each => ({ ...each, role: 'repeat' as const }))]
      const order = anOrder({ rule: 'once', min_effect: 0, scale: 'log', tolerance: 1e-5 })
      return assessCandidate({ spec: tied, order, report: aReport(executions), label, baseline: null })
        .outcome
    }
    expect([999_995, 999_900].map(judgeTied)).toEqual(['dropped', 'eligible'])
  })

  test('a gain that the second run does not show is none', () => {
    expect(assess([1_000_000, 999_990], [999_975, 999_975], 2e-5).outcome).toBe('dropped')
  })

  test('runs that differ by more have lost their determinism', () => {
    expect(assess([1_000_000, 1_000_100], [900_000, 900_000])).toMatchObject({ determinism_lost: true })
  })
})
