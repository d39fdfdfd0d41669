import { describe, expect, test } from 'vitest'
import { buildSnapshot } from '../../src/decide/metrics.ts'
import { aReport, aSpec, ceSpec, run } from './a-spec.ts'

const spec = ceSpec({ aggregation: 'mean' })

describe('a side’s snapshot', () => {
  test('keeps the samples in the order they were taken, and aggregates them as the spec says', () => {
    const report = aReport([5, 1, 9].map(bytes => run('exp-001', { bytes })))
    expect(buildSnapshot(spec, report, 'exp-001').metrics).toEqual({
      bytes: { aggregate: 5, samples: [5, 1, 9] },
    })
  })

  test('contains only samples of that side', () => {
    const report = aReport([
      run('exp-001', { bytes: 100 }, { role: 'warmup' }),
      run('exp-001', {}, { role: 'smoke' }),
      run('base', { bytes: 200 }),
      run('exp-001', { bytes: 1 }),
      run('exp-001', { bytes: 300 }, { role: 'repeat' }),
    ])
    const found = buildSnapshot(spec, report, 'exp-001')
    expect(found.metrics).toEqual({ bytes: { aggregate: 1, samples: [1] } })
    expect(found.sample_count).toBe(1)
  })

  test.each([
    ['printed no number', run('exp-001', { bytes: null })],
    ['did not print the metric', run('exp-001', {})],
    ['failed', run('exp-001', { bytes: 1 }, { status: 'crashed' })],
  ])('a sample that %s leaves a gap and no aggregate', (_, broken) => {
    const report = aReport([run('exp-001', { bytes: 5 }), broken])
    const { metrics } = buildSnapshot(spec, report, 'exp-001')
    expect(metrics).toEqual({ bytes: { aggregate: null, samples: [5, null] } })
  })

  test('adds up the seconds of all its runs', () => {
    const report = aReport([
      run('exp-001', {}, { role: 'warmup', wall_seconds: 2 }),
      run('exp-001', { bytes: 1 }, { wall_seconds: 3 }),
      run('base', { bytes: 1 }, { wall_seconds: 100 }),
    ])
    expect(buildSnapshot(spec, report, 'exp-001').elapsed_seconds).toBe(5)
  })

  test.each([
    ['was not run', [], null],
    ['passed', [run('exp-001', {}, { role: 'smoke' })], true],
    ['failed', [run('exp-001', {}, { role: 'smoke', status: 'smoke-failed' })], false],
  ] as const)('smoke_passed when the smoke command %s', (_, runs, expected) => {
    expect(buildSnapshot(spec, aReport([...runs]), 'exp-001').smoke_passed).toBe(expected)
  })

  test('a declared diagnostic is kept apart unless it is an objective too', () => {
    const watched = ceSpec({}, { diagnostics: [{ name: 'bytes' }, { name: 'depth' }] })
    const found = buildSnapshot(
      watched,
      aReport([run('exp-001', { bytes: 1, depth: 2, other: 3 })]),
      'exp-001',
    )
    expect(Object.keys(found.metrics ?? {})).toEqual(['bytes', 'other'])
    expect(Object.keys(found.diagnostics ?? {})).toEqual(['depth'])
  })
})

describe('a snapshot’s gates', () => {
  const metric = {
    primary: { type: 'hard', name: 'bytes', direction: 'minimize' },
    degenerate_gates: [{ name: 'ok', check: '>= 0.5' }],
  }
  const gated = aSpec({ metric })
  const gate = (...values: (number | null)[]) =>
    buildSnapshot(gated, aReport(values.map(ok => run('exp-001', { bytes: 1, ok }))), 'exp-001').gates?.['ok']

  test('contain the failing value, if there is one', () => {
    expect(gate(1, 0.2, 1)).toBe(0.2)
    expect(gate(1, 0.9)).toBe(0.9)
  })

  test.each([
    [[1, 0.9, 1], 1],
    [[0.9, 0.9, 1], 0.9],
    [[true, false, true], 1],
    [[true, true], true],
    [[1, null, 1], null],
  ] as const)('under ce stability hold the aggregate: %j is %j', (values, expected) => {
    const repeated = ceSpec({ mode: 'repeat' }, { degenerate_gates: [{ name: 'ok', check: '>= 1' }] })
    const report = aReport(values.map(ok => run('exp-001', { bytes: 1, ok })))
    expect(buildSnapshot(repeated, report, 'exp-001').gates).toEqual({ ok: expected })
  })

  test('a missing value stands for all', () => {
    expect(gate(1, null, 1)).toBeNull()
    expect(gate(0.2, null)).toBeNull()
    expect(gate()).toBeNull()
  })
})

test('without ce stability samples are aggregated by their median', () => {
  const report = aReport([1, 9, 2].map(bytes => run('base', { bytes })))
  expect(buildSnapshot(aSpec(), report, 'base').metrics).toMatchObject({ bytes: { aggregate: 2 } })
})
