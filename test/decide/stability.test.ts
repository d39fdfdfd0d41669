import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDecidePayload } from '../../src/decide/ce/assess.ts'
import { decideStability, type StabilityDecision } from '../../src/decide/ce/stability.ts'
import type { Snapshot } from '../../src/model/report.ts'
import { sampled, withMetrics } from './a-spec.ts'

type Raw = Record<string, unknown>

function decide(
  spec: { metric?: Raw; stability?: Raw },
  baseline: Snapshot,
  candidate: Snapshot,
): StabilityDecision {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  const text = JSON.stringify({
    spec: { metric: { primary, ...spec.metric }, measurement: { stability: spec.stability ?? {} } },
    baseline: {},
    candidate: {},
  })
  return decideStability({ ...parseDecidePayload(text), baseline, candidate })
}

const relative = { comparison: { method: 'relative' } }
const bytes = (value: unknown): Snapshot => withMetrics({ bytes: value })
const both = (value: number, seconds: number): Snapshot => withMetrics({ bytes: value, seconds })
const seconds = { name: 'seconds', direction: 'minimize' }

describe('objectives', () => {
  test('role defaults to required: any required gain without a violation is eligible', () => {
    const found = decide(
      { metric: { objectives: [seconds] }, stability: relative },
      both(100, 9),
      both(101, 5),
    )
    expect(found).toMatchObject({ decision: 'keep', eligible: true, improved_objectives: ['seconds'] })
  })

  test('a violated objective is a revert, however large the gain elsewhere', () => {
    const found = decide(
      { metric: { objectives: [seconds] }, stability: relative },
      both(100, 9),
      both(150, 1),
    )
    expect(found).toMatchObject({ decision: 'revert', eligible: false, violated_objectives: ['bytes'] })
  })

  test('some required inconclusive and nothing violated is inconclusive', () => {
    const tolerant = { ...seconds, max_regression: { type: 'relative', value: 0.5 } }
    const found = decide(
      { metric: { objectives: [tolerant] }, stability: relative },
      both(100, 9),
      both(99, 10),
    )
    expect(found).toMatchObject({ decision: 'inconclusive', eligible: false, violated_objectives: [] })
  })

  test('a tolerated regression with no gain elsewhere is a revert', () => {
    const listed = { name: 'bytes', direction: 'minimize', max_regression: { type: 'relative', value: 0.1 } }
    const found = decide({ metric: { objectives: [listed] }, stability: relative }, bytes(100), bytes(107))
    expect(found).toMatchObject({ decision: 'revert', violated_objectives: [] })
    expect(found.comparisons['bytes']?.verdict).toBe('regressed')
  })

  test('a guardrail can violate but cannot win', () => {
    const metric = { objectives: [{ ...seconds, role: 'guardrail' }] }
    expect(decide({ metric, stability: relative }, both(100, 9), both(80, 12)).violated_objectives).toEqual([
      'seconds',
    ])
    expect(decide({ metric, stability: relative }, both(100, 9), both(100, 1)).eligible).toBe(false)
  })

  test('a secondary objective is not judged, not even when it is missing', () => {
    const metric = { objectives: [{ ...seconds, role: 'secondary' }] }
    const found = decide({ metric, stability: relative }, bytes(100), bytes(80))
    expect(found.decision).toBe('keep')
    expect(Object.keys(found.comparisons)).toEqual(['bytes'])
  })
})

describe('an objective listed under the primary name', () => {
  const spec = (primary: Raw, listed: Raw) => ({
    metric: { primary: { name: 'bytes', ...primary }, objectives: [{ name: 'bytes', ...listed }] },
    stability: relative,
  })

  test('supplies the direction the primary leaves unset', () => {
    const found = decide(spec({}, { direction: 'maximize' }), bytes(100), bytes(120))
    expect(found).toMatchObject({ decision: 'keep', primary_delta: 20 })
  })

  test('does not override what the primary says', () => {
    const found = decide(spec({ direction: 'minimize' }, { direction: 'maximize' }), bytes(100), bytes(120))
    expect(found.decision).toBe('revert')
  })

  test('supplies the target the primary leaves unset', () => {
    const listed = { direction: 'minimize', target: 90 }
    expect(decide(spec({ type: 'hard' }, listed), bytes(100), bytes(85)).target_reached).toBe(true)
    expect(decide(spec({ type: 'hard', target: 80 }, listed), bytes(100), bytes(85)).target_reached).toBe(
      false,
    )
  })

  test('its max_regression wins over the primary’s own', () => {
    const bound = (value: number) => ({ max_regression: { type: 'relative', value } })
    const primary = { direction: 'minimize', ...bound(0) }
    expect(
      decide(spec(primary, { direction: 'minimize', ...bound(0.5) }), bytes(100), bytes(120)),
    ).toMatchObject({ violated_objectives: [] })
    expect(decide(spec(primary, { direction: 'minimize' }), bytes(100), bytes(101))).toMatchObject({
      violated_objectives: ['bytes'],
    })
  })

  test('a secondary entry named like the primary is ignored', () => {
    const listed = {
      direction: 'maximize',
      role: 'secondary',
      target: 1,
      max_regression: { type: 'absolute', value: 99 },
    }
    const found = decide(spec({ type: 'hard', direction: 'minimize' }, listed), bytes(100), bytes(120))
    expect(found).toMatchObject({ decision: 'revert', violated_objectives: ['bytes'], target_reached: false })
  })
})

describe('failures of the candidate itself', () => {
  const gated = { metric: { degenerate_gates: [{ name: 'ok', check: '== 1' }] } }

  test('smoke_passed false is degenerate before anything else', () => {
    const found = decide(gated, {}, { smoke_passed: false, gates: { ok: 0 } })
    expect(found).toMatchObject({ decision: 'degenerate', violated_objectives: [] })
  })

  test('a failed gate is degenerate and named, even when the primary improved', () => {
    const found = decide(gated, bytes(100), withMetrics({ bytes: 1 }, { gates: { ok: 0 } }))
    expect(found).toMatchObject({
      decision: 'degenerate',
      violated_objectives: ['ok'],
      eligible: false,
      rank_score: 0,
      target_reached: false,
      primary_delta: null,
      next_measurement: 'none',
    })
  })

  test('gates are read from the candidate’s gates only', () => {
    const elsewhere = withMetrics({ bytes: 1, ok: 1 }, { diagnostics: { ok: 1 } })
    expect(decide(gated, withMetrics({ bytes: 9 }, { gates: { ok: 1 } }), elsewhere).decision).toBe(
      'degenerate',
    )
  })

  test.each([
    ['== true', true, 'keep'],
    ['== 1', true, 'keep'],
    ['== false', false, 'keep'],
    ['== 0', false, 'keep'],
    ['>= 1', true, 'keep'],
    ['== true', 1, 'keep'],
    ['== true', false, 'degenerate'],
    ['!= 0', Number.NaN, 'degenerate'],
    ['!= 0', Number.POSITIVE_INFINITY, 'degenerate'],
    ['!= 0', '1', 'degenerate'],
    ['!= 0', null, 'degenerate'],
    ['!= 0', undefined, 'degenerate'],
    ['>= 0', { aggregate: 1 }, 'degenerate'],
  ])('gate %j with value %j: %s', (check, value, expected) => {
    const metric = { degenerate_gates: [{ name: 'ok', check }] }
    const candidate = withMetrics({ bytes: 1 }, { gates: { ok: value } })
    expect(decide({ metric }, bytes(100), candidate).decision).toBe(expected)
  })

  test('a gate named like something every object has is still missing', () => {
    const metric = { degenerate_gates: [{ name: 'toString', check: '!= 0' }] }
    expect(decide({ metric }, bytes(2), withMetrics({ bytes: 1 }, { gates: {} })).decision).toBe('degenerate')
  })

  test('a constraint must hold in every sample', () => {
    const metric = { constraints: [{ metric: 'loss', op: '<=', value: 5 }] }
    const candidate = (...loss: unknown[]) => withMetrics({ bytes: 1, loss: sampled(...loss) })
    expect(decide({ metric }, bytes(100), candidate(1, 5)).decision).toBe('keep')
    expect(decide({ metric }, bytes(100), candidate(1, 6))).toMatchObject({
      decision: 'degenerate',
      violated_objectives: ['loss'],
    })
    expect(decide({ metric }, bytes(100), bytes(1)).decision).toBe('degenerate')
  })

  test.each([
    ['absent', undefined],
    ['null', null],
    ['NaN', Number.NaN],
    ['infinite', Number.NEGATIVE_INFINITY],
    ['text', '90'],
    ['a boolean', true],
    ['a list', [90]],
    ['an empty object', {}],
    ['an aggregate that is no number', { aggregate: '90' }],
    ['samples that are no list', { aggregate: 90, samples: 90 }],
    ['one sample that is not finite', { aggregate: 90, samples: [90, Number.NaN] }],
    ['one null sample', { aggregate: 90, samples: [90, null, 90] }],
  ])('a required metric that is %s is an error on either side', (_, value) => {
    const closed = {
      decision: 'error',
      eligible: false,
      rank_score: 0,
      target_reached: false,
      primary_delta: null,
    }
    expect(decide({}, bytes(100), bytes(value))).toMatchObject(closed)
    expect(decide({}, bytes(value), bytes(1))).toMatchObject(closed)
    expect(decide({}, bytes(100), bytes(value)).reason).toContain('bytes')
  })
})

describe('reading a metric', () => {
  test.each([
    ['median', 2],
    ['mean', 4],
    ['min', 1],
    ['max', 9],
  ])('samples are aggregated by %s, whatever aggregate they came with', (aggregation, value) => {
    const candidate = withMetrics({ bytes: { aggregate: 1000, samples: [1, 2, 9] } })
    expect(decide({ stability: { aggregation } }, bytes(100), candidate).primary_delta).toBe(100 - value)
  })

  test('the median of an even number of samples lies between the middle two', () => {
    expect(decide({}, bytes(100), bytes({ samples: [4, 1, 3, 2] })).primary_delta).toBe(97.5)
  })

  test('samples of null are no samples', () => {
    expect(decide({}, bytes(100), bytes({ aggregate: 90, samples: null })).primary_delta).toBe(10)
  })

  test('without samples the aggregate counts', () => {
    expect(decide({}, bytes(100), bytes({ aggregate: 90, samples: [] })).primary_delta).toBe(10)
  })

  const everywhere: Snapshot = {
    metrics: { bytes: 1 },
    judge: { bytes: 2 },
    diagnostics: { bytes: 3 },
    gates: { bytes: 4 },
  }
  test.each([
    ['hard', ['metrics', 'judge', 'diagnostics', 'gates']],
    ['judge', ['judge', 'metrics', 'diagnostics', 'gates']],
  ])('%s metrics are looked up in %j', (type, places) => {
    const metric = { primary: { type, name: 'bytes', direction: 'minimize' } }
    let candidate = { ...everywhere }
    for (const place of places) {
      const value = Number(Reflect.get(everywhere, place)['bytes'])
      expect(decide({ metric }, bytes(100), candidate).primary_delta).toBe(100 - value)
      candidate = { ...candidate, [place]: {} }
    }
    expect(decide({ metric }, bytes(100), candidate).decision).toBe('error')
  })

  test('the first place that names a metric is used, even without a number', () => {
    const candidate = withMetrics({ bytes: null }, { diagnostics: { bytes: 1 } })
    expect(decide({}, bytes(100), candidate).decision).toBe('error')
  })
})

test('a judge metric whose spec has no judge cannot improve', () => {
  const primary = { type: 'judge', name: 'score', direction: 'maximize' }
  const text = JSON.stringify({ spec: { metric: { primary } }, baseline: {}, candidate: {} })
  const { spec } = parseDecidePayload(text)
  const unjudged = { ...spec, metric: { ...spec.metric, judge: null } }
  const [baseline, candidate] = [{ judge: { score: 1 } }, { judge: { score: 5 } }]
  expect(decideStability({ spec, baseline, candidate }).decision).toBe('keep')
  expect(decideStability({ spec: unjudged, baseline, candidate }).decision).toBe('inconclusive')
})

describe('rank_score', () => {
  const metric = { objectives: [seconds] }
  test.each([
    ['the primary’s relative gain if it improved', both(90, 1), 0.1],
    ['else the best relative gain among improved', both(98, 5), 0.5],
    ['else the primary’s relative gain', both(98, 10), 0.02],
  ])('is %s', (_, candidate, expected) => {
    const found = decide({ metric, stability: relative }, both(100, 10), candidate)
    expect(found.rank_score).toBeCloseTo(expected, 12)
  })
})

describe('target_reached', () => {
  const metric = (...targets: (number | null)[]) => ({
    primary: { type: 'hard', name: 'bytes', direction: 'minimize', target: targets[0] },
    objectives: [{ ...seconds, target: targets[1] }],
  })
  test.each([
    ['no target is declared', [null, null], false],
    ['the only target is met', [95, null], true],
    ['a target is met exactly', [90, null], true],
    ['one of two is missed', [95, 1], false],
    ['all of several are met', [95, 9], true],
  ])('when %s', (_, targets, expected) => {
    const found = decide({ metric: metric(...targets) }, both(100, 10), both(90, 8))
    expect(found.target_reached).toBe(expected)
  })

  test('may be true while the decision is inconclusive', () => {
    const found = decide({ metric: metric(200, null), stability: relative }, both(100, 10), both(99, 10))
    expect(found).toMatchObject({ decision: 'inconclusive', target_reached: true })
  })

  test('a guardrail’s target does not count', () => {
    const guarded = { objectives: [{ ...seconds, role: 'guardrail', target: 99 }] }
    expect(decide({ metric: guarded }, both(100, 10), both(90, 10)).target_reached).toBe(false)
  })
})

describe('laws of a decision', () => {
  const value = fc.oneof(
    fc.double({ min: 1, max: 1000, noNaN: true }),
    fc.constantFrom<unknown>(null, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, true, {}),
  )
  const snapshots = fc.record({ bytes: value, seconds: value })
  const isNumber = (raw: unknown) => typeof raw === 'number' && Number.isFinite(raw)

  test('nothing is eligible while a required metric is missing', () => {
    fc.assert(
      fc.property(snapshots, snapshots, (base, candidate) => {
        const metric = { objectives: [seconds] }
        const found = decide({ metric }, withMetrics(base), withMetrics(candidate))
        const complete = [base, candidate].every(side => isNumber(side.bytes) && isNumber(side.seconds))
        expect(found.decision === 'error').toBe(!complete)
        if (!complete) expect(found).toMatchObject({ eligible: false, rank_score: 0, target_reached: false })
      }),
    )
  })

  test('a gate never passes on what is not a finite number or a boolean', () => {
    const check = fc.constantFrom('!= 0', '>= -1e9', '<= 1e9', '== 0', '!= true')
    const odd = fc.constantFrom<unknown>(null, undefined, Number.NaN, Infinity, -Infinity, '1', '', [], {})
    fc.assert(
      fc.property(check, odd, (drawn, gate) => {
        const metric = { degenerate_gates: [{ name: 'ok', check: drawn }] }
        const candidate = withMetrics({ bytes: 1 }, { gates: { ok: gate } })
        expect(decide({ metric }, bytes(100), candidate).decision).toBe('degenerate')
      }),
    )
  })

  test('every decision survives JSON unchanged', () => {
    fc.assert(
      fc.property(snapshots, snapshots, (base, candidate) => {
        const found = decide({ stability: relative }, withMetrics(base), withMetrics(candidate))
        expect(JSON.parse(JSON.stringify(found))).toEqual(found)
      }),
    )
  })
})
