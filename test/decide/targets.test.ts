import { describe, expect, test } from 'vitest'
import { targetsMet } from '../../src/decide/targets.ts'
import { aSpec, ceSpec, sampled, withMetrics } from './a-spec.ts'

const primary = { type: 'hard', name: 'bytes', direction: 'minimize', target: 90 }

describe('a stored snapshot meets its targets', () => {
  const spec = aSpec({
    metric: { primary, objectives: [{ name: 'depth', direction: 'maximize', target: 3 }] },
  })

  test.each([
    ['when all are met', { bytes: 90, depth: 3 }, true],
    ['not when one is missed', { bytes: 90, depth: 2 }, false],
    ['not when one is missing', { bytes: 90 }, false],
    ['not on a number that is not finite', { bytes: Number.NEGATIVE_INFINITY, depth: 3 }, false],
  ])('%s', (_, metrics, expected) => {
    expect(targetsMet(spec, withMetrics(metrics))).toBe(expected)
  })

  test('not when none is declared', () => {
    expect(targetsMet(aSpec(), withMetrics({ bytes: 0 }))).toBe(false)
  })

  test('by the aggregation of the spec', () => {
    const snapshot = withMetrics({ bytes: sampled(80, 85, 200) })
    expect(targetsMet(aSpec({ metric: { primary } }), snapshot)).toBe(true)
    expect(targetsMet(ceSpec({ aggregation: 'max' }, { primary }), snapshot)).toBe(false)
  })
})
