import { describe, expect, test } from 'vitest'
import { buildSnapshot } from '../../src/decide/metrics.ts'
import { findFailure } from '../../src/decide/failures.ts'
import { refuseBooleans } from '../../src/measure/output/harness-output.ts'
import { aggregateMetrics, aggregateSnapshot, reportSchema } from '../../src/model/report.ts'
import { formatMetrics } from '../../src/report/metrics.ts'
import { aReport, aSpec, run } from '../decide/a-spec.ts'

const bytes = { type: 'hard', name: 'bytes', direction: 'minimize' } as const

function read(metrics: Record<string, number | boolean | null>, metric: object = {}) {
  return refuseBooleans({ metrics }, aSpec({ metric: { primary: bytes, ...metric } })).metrics
}

describe('a boolean', () => {
  test.each([true, false])('%s is no number of the primary', value => {
    expect(() => read({ bytes: value })).toThrow(`bytes is ${value}, but the spec needs a number`)
  })

  test.each([
    ['an objective', { objectives: [{ name: 'x', direction: 'minimize' }] }],
    ['a secondary objective', { objectives: [{ name: 'x', direction: 'minimize', role: 'secondary' }] }],
    ['a constraint with a number', { constraints: [{ metric: 'x', op: '<=', value: 5 }] }],
    ['a gate that asks for a share', { degenerate_gates: [{ name: 'x', check: '>= 0.95' }] }],
    ['a diagnostic', { diagnostics: [{ name: 'x' }] }],
  ])('is an error as %s', (_, metric) => {
    expect(() => read({ bytes: 1, x: true }, metric)).toThrow('x is true, but the spec needs a number')
  })

  test.each([
    ['a gate', { degenerate_gates: [{ name: 'x', check: '== true' }] }],
    ['a constraint with a boolean', { constraints: [{ metric: 'x', op: '==', value: true }] }],
    [
      'a gate that is logged as well',
      { degenerate_gates: [{ name: 'x', check: '!= 0' }], diagnostics: [{ name: 'x' }] },
    ],
    ['a metric that the spec does not name', {}],
  ])('is legal as %s', (_, metric) => {
    expect(read({ bytes: 1, x: true }, metric)).toEqual({ bytes: 1, x: true })
  })

  test('stays one in reports, snapshots and texts', () => {
    const spec = aSpec({ metric: { primary: bytes, degenerate_gates: [{ name: 'ok', check: '== true' }] } })
    const report = aReport([run('base', { bytes: 2, ok: true }), run('base', { bytes: 2, ok: true })])
    expect(reportSchema.parse(report).executions[0]?.metrics).toEqual({ bytes: 2, ok: true })
    expect(aggregateMetrics(report, 'base', 'median')).toEqual({ bytes: 2, ok: true })
    const snapshot = buildSnapshot(spec, report, 'base')
    expect(snapshot).toMatchObject({ gates: { ok: true }, metrics: { ok: { aggregate: true } } })
    expect(formatMetrics(aggregateSnapshot(snapshot), { objectives: ['bytes'] })).toBe('bytes 2, ok true')
  })

  test('fails its gate where it is false in one execution', () => {
    const spec = aSpec({
      metric: {
        primary: bytes,
        degenerate_gates: [{ name: 'ok', check: '== true' }],
        constraints: [{ metric: 'sections', op: '==', value: true }],
      },
    })
    const verdict = (...last: [boolean, boolean]) =>
      findFailure({
        spec,
        report: aReport([
          run('exp-001', { bytes: 1, ok: true, sections: true }),
          run('exp-001', { bytes: 1, ok: last[0], sections: last[1] }),
        ]),
        label: 'exp-001',
      })?.violated_objectives ?? []
    expect([verdict(true, true), verdict(false, true), verdict(true, false)]).toEqual([
      [],
      ['ok'],
      ['sections'],
    ])
  })
})
