import { describe, expect, test } from 'vitest'
import { createSeededRandom, drawNormal } from '../../src/decide/evidence/planning.ts'
import { areTargetsMet, areTargetsShown } from '../../src/decide/stop-rules.ts'
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
    expect(areTargetsMet(spec, withMetrics(metrics))).toBe(expected)
  })

  test('not when none is declared', () => {
    expect(areTargetsMet(aSpec(), withMetrics({ bytes: 0 }))).toBe(false)
  })

  test('by the aggregation of the spec', () => {
    const snapshot = withMetrics({ bytes: sampled(80, 85, 200) })
    expect(areTargetsMet(aSpec({ metric: { primary } }), snapshot)).toBe(true)
    expect(areTargetsMet(ceSpec({ aggregation: 'max' }, { primary }), snapshot)).toBe(false)
  })
})

describe('numbers that vary meet a target', () => {
  const spec = aSpec({ metric: { primary } })
  const around = (...values: number[]) => areTargetsShown(spec, withMetrics({ bytes: sampled(...values) }))

  test('only when the cautious end of their median does', () => {
    expect(around(80, 82, 84, 86, 88, 89)).toBe(true)
    expect(around(80, 82, 84, 86, 88, 91)).toBe(false)
    expect(around(80, 80, 80, 80, 80, 80, 80, 80, 95)).toBe(true)
    expect(around(80, 80, 80, 80, 80, 80, 80, 94, 95)).toBe(false)
  })

  test('never from too few runs, nor from none', () => {
    expect(around(1, 1, 1, 1, 1)).toBe(false)
    expect(areTargetsShown(spec, withMetrics({ bytes: 1 }))).toBe(false)
    expect(areTargetsShown(spec, withMetrics({}))).toBe(false)
  })

  test('with the confidence they promise', () => {
    const random = createSeededRandom(7)
    const rounds = 4_000
    let wrong = 0
    for (let round = 0; round < rounds; round++) {
      const values = Array.from({ length: 8 + (round % 5) }, () => 90.0001 + drawNormal(random))
      if (around(...values)) wrong += 1
    }
    expect(wrong / rounds).toBeLessThan(0.025 + 4 * Math.sqrt((0.025 * 0.975) / rounds))
    expect(wrong).toBeGreaterThan(0)
  })
})
