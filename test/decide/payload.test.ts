import { describe, expect, test } from 'vitest'
import { parseDecidePayload } from '../../src/decide/ce/assess.ts'
import { decideStability } from '../../src/decide/ce/stability.ts'
import { UserError } from '../../src/errors.ts'

const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }

function parse(spec: unknown, rest: object = {}) {
  return parseDecidePayload(JSON.stringify({ spec, baseline: {}, candidate: {}, ...rest }))
}

function refusal(act: () => unknown): UserError {
  try {
    act()
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a payload of winnow decide', () => {
  test('needs only the metric: everything else takes the schema’s defaults', () => {
    const { spec } = parse({ metric: { primary } })
    expect(spec.measurement.stability).toMatchObject({
      mode: 'stable',
      repeat_count: 5,
      aggregation: 'median',
      noise_threshold: 0.02,
      comparison: { method: 'absolute', relative_threshold: 0.05 },
      ladder: null,
    })
  })

  test('a whole spec is accepted; unread keys are ignored', () => {
    const spec = { name: 'x', metric: { primary }, scope: { mutable: [] }, stopping: 3 }
    expect(parse(spec).spec.metric.primary.name).toBe('bytes')
  })

  test('winnow: 1 brings winnow’s own primary', () => {
    expect(parse({ winnow: 1 }).spec.metric.primary).toMatchObject({ name: 'wall_seconds' })
  })

  test('a judge metric has minimum_improvement .3 unless the spec says otherwise', () => {
    const judged = { primary: { ...primary, type: 'judge' } }
    expect(parse({ metric: judged }).spec.metric.judge?.minimum_improvement).toBe(0.3)
    const own = { ...judged, judge: { minimum_improvement: 0.1 } }
    expect(parse({ metric: own }).spec.metric.judge?.minimum_improvement).toBe(0.1)
  })

  test('futility: {} means worse_factor 1.2', () => {
    const stability = { mode: 'ladder', ladder: { futility: {} } }
    const { spec } = parse({ metric: { primary }, measurement: { stability } })
    expect(spec.measurement.stability.ladder?.futility).toMatchObject({ worse_factor: 1.2 })
  })

  test.each([
    ['no primary', { metric: {} }, 'spec.metric.primary.'],
    [
      'an unknown direction',
      { metric: { primary: { ...primary, direction: 'up' } } },
      'spec.metric.primary.direction',
    ],
    [
      'a gate without a bound',
      { metric: { primary, degenerate_gates: [{ name: 'ok', check: '==' }] } },
      'spec.metric.degenerate_gates.0.check',
    ],
    ['a misspelt key', { metric: { primary, objectivs: [] } }, 'spec.metric'],
    [
      'an unknown method',
      { metric: { primary }, measurement: { stability: { comparison: { method: 'magic' } } } },
      'spec.measurement.stability.comparison.method',
    ],
    ['no spec at all', undefined, 'spec'],
  ])('%s is refused with its path', (_, spec, path) => {
    const error = refusal(() => parse(spec))
    expect(error.place.path).toContain(path)
    expect(error.message).toContain(path)
    expect(error.exitCode).toBe(2)
  })

  test('a snapshot key that does not exist is refused', () => {
    expect(refusal(() => parse({ metric: { primary } }, { candidate: { metric: {} } })).place.path).toBe(
      'candidate',
    )
  })

  test('text that is not JSON is refused', () => {
    expect(refusal(() => parseDecidePayload('{')).message).toContain('not JSON')
  })

  test('unusable metric values are accepted, and the rule treats them as missing', () => {
    const payload = parse(
      { metric: { primary } },
      { baseline: { metrics: { bytes: 1 } }, candidate: { metrics: { bytes: 'x' } } },
    )
    expect(decideStability(payload).decision).toBe('error')
  })
})
