import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  computeLoss,
  computeWorstLoss,
  type LossTerms,
  mergeSignals,
  readRunSignals,
  selectLossTerms,
  splitPrintedSignals,
  toLossMetrics,
} from '../../src/decide/loss.ts'
import { parsed, fixture } from '../spec/problems-of.ts'

const WEIGHTS = { eval: 0.4, critique: 0.3, gate_rejections: 0.15, budget: 0.05, status: 0.1 }
const NEUTRAL: LossTerms = { weights: WEIGHTS, maxRejections: 2, missing: 'neutral' }

function total(loss: ReturnType<typeof computeLoss>): number {
  if ('missing' in loss) throw new Error(`missing: ${loss.missing.join(', ')}`)
  return loss.total
}

const completion = (fields: object) => ({
  status: 'complete',
  eval: { score: 1 },
  critique: { score: 1 },
  final_budget: { budget_remaining_pct: 100 },
  ...fields,
})

describe('the loss of section 6', () => {
  test('is the weighted sum of its components', () => {
    const signals = readRunSignals(
      completion({
        status: 'partial',
        eval: { score: 0.8 },
        critique: { score: 0.6 },
        config_used: { max_rejected_completions: 2 },
        final_budget: { budget_remaining_pct: 40 },
      }),
      [
        { kind: 'metric.gate', verdict: 'rejected' },
        { kind: 'metric.gate', verdict: 'passed' },
      ],
    )
    const loss = computeLoss(signals, NEUTRAL)
    expect(loss).toEqual({
      total: expect.closeTo(0.355, 9),
      parts: {
        eval: expect.closeTo(0.08, 9),
        critique: expect.closeTo(0.12, 9),
        gate_rejections: expect.closeTo(0.075, 9),
        budget: expect.closeTo(0.03, 9),
        status: expect.closeTo(0.05, 9),
      },
    })
  })

  test.each([
    ['complete', 0],
    ['partial', 0.05],
    ['failed', 0.1],
    ['aborted', 0.1],
  ])('status %s costs %s', (status, cost) => {
    expect(total(computeLoss(readRunSignals(completion({ status }), []), NEUTRAL))).toBeCloseTo(cost, 9)
  })

  test('each component is clamped by itself', () => {
    const signals = readRunSignals(
      completion({
        eval: { score: 2 },
        critique: { score: -0.5 },
        final_budget: { budget_remaining_pct: 200 },
      }),
      Array.from({ length: 9 }, () => ({ kind: 'metric.gate', verdict: 'rejected' })),
    )
    expect(total(computeLoss(signals, NEUTRAL))).toBeCloseTo(0.3 + 0.15, 9)
  })

  test('what is missing is neutral: 0.5', () => {
    expect(total(computeLoss(readRunSignals({ status: 'complete' }, null), NEUTRAL))).toBeCloseTo(0.45, 9)
    expect(total(computeLoss(readRunSignals({}, []), NEUTRAL))).toBeCloseTo(0.425, 9)
    expect(total(computeLoss(readRunSignals(completion({ status: 'odd' }), []), NEUTRAL))).toBeCloseTo(
      0.05,
      9,
    )
  })

  test('a missing component is an error unless the suite is imported', () => {
    const signals = readRunSignals({ status: 'complete', eval: { score: 1 } }, [])
    expect(computeLoss(signals, { ...NEUTRAL, missing: 'error' })).toEqual({
      missing: ['critique', 'budget'],
    })
    expect(total(computeLoss(signals, NEUTRAL))).toBeCloseTo(0.3 * 0.5 + 0.05 * 0.5, 9)
  })

  test('a component without weight may be missing', () => {
    const terms: LossTerms = { weights: { eval: 1, critique: 0 }, maxRejections: 3, missing: 'error' }
    expect(total(computeLoss(readRunSignals({ eval: { score: 0.5 } }, null), terms))).toBe(0.5)
  })

  test('a limit of rejections that is no limit is replaced by that of the spec', () => {
    const terms: LossTerms = { weights: { gate_rejections: 1 }, maxRejections: 4, missing: 'error' }
    const losses = [0, -1].map(max_rejections =>
      computeLoss({ numbers: { gate_rejections: 1, max_rejections }, status: 'complete' }, terms),
    )
    expect(losses.map(total)).toEqual([0.25, 0.25])
  })

  test('scores come from metrics.jsonl where run_completion.json has none', () => {
    const signals = readRunSignals({ status: 'complete' }, [
      { kind: 'metric.eval', score: 0.4 },
      { kind: 'metric.eval', score: 0.8 },
      { kind: 'metric.critique', score: 0.5 },
      'not an object',
    ])
    expect(signals.numbers['eval']).toBeCloseTo(0.6, 9)
    expect(signals.numbers['critique']).toBe(0.5)
    expect(signals.numbers['gate_rejections']).toBe(0)
  })
})

describe('weights', () => {
  const { spec } = parsed(fixture('winnow-suite.yaml'))

  test('those of a task replace those of the spec one by one', () => {
    const task = spec.measurement.suite?.tasks[1] ?? null
    expect(selectLossTerms(spec, null).weights).toEqual({ eval: 0.6, critique: 0.4 })
    expect(selectLossTerms(spec, task).weights).toEqual({ eval: 1, critique: 0.4 })
  })

  test('a component of another name is a metric that the harness prints', () => {
    const terms: LossTerms = { weights: { length: 0.5, eval: 0.5 }, maxRejections: 3, missing: 'error' }
    const { signals, metrics } = splitPrintedSignals(
      { length: 0.2, eval: 0.9, status: 'complete', cost_usd: 0.1 },
      terms,
    )
    expect(metrics).toEqual({ cost_usd: 0.1 })
    const loss = computeLoss(signals, terms)
    expect(total(loss)).toBeCloseTo(0.1 + 0.05, 9)
    expect('parts' in loss && toLossMetrics('loss', loss)).toEqual({
      loss: expect.closeTo(0.15, 9),
      'loss.length': expect.closeTo(0.1, 9),
      'loss.eval': expect.closeTo(0.05, 9),
    })
  })

  test('what the harness prints wins over the files of the run', () => {
    const files = readRunSignals({ status: 'complete', eval: { score: 0.1 }, critique: { score: 0.2 } }, null)
    const { signals } = splitPrintedSignals({ eval: 0.9 }, { weights: WEIGHTS })
    expect(mergeSignals(files, signals)).toEqual({
      numbers: { eval: 0.9, critique: 0.2 },
      status: 'complete',
    })
  })
})

describe('a failed run', () => {
  const score = fc.double({ min: -0.5, max: 1.5, noNaN: true })
  const known = fc.record(
    {
      eval: score,
      critique: score,
      gate_rejections: fc.nat(9),
      budget_remaining_pct: fc.double({ min: -10, max: 110, noNaN: true }),
    },
    { requiredKeys: [] },
  )
  const terms = fc.record({
    weights: fc.record({
      eval: fc.double({ min: 0, max: 1, noNaN: true }),
      critique: fc.double({ min: 0, max: 1, noNaN: true }),
      gate_rejections: fc.double({ min: 0, max: 1, noNaN: true }),
      budget: fc.double({ min: 0, max: 1, noNaN: true }),
      status: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    maxRejections: fc.integer({ min: 1, max: 5 }),
    missing: fc.constant('neutral' as const),
  })

  test('is never better than a completed one that scored as badly, or in which less is missing', () => {
    fc.assert(
      fc.property(known, known, terms, (numbers, more, rule) => {
        const failed = total(computeLoss({ numbers, status: 'failed' }, rule))
        const completed = total(computeLoss({ numbers: { ...more, ...numbers }, status: 'complete' }, rule))
        expect(failed).toBeGreaterThanOrEqual(completed - 1e-12)
      }),
    )
  })

  test('is also one that says nothing about itself', () => {
    expect(total(computeLoss(readRunSignals(null, null), NEUTRAL))).toBeCloseTo(1, 9)
    expect(computeLoss(readRunSignals(null, null), { ...NEUTRAL, missing: 'error' })).toEqual({
      missing: Object.keys(WEIGHTS),
    })
  })

  test('that crashed has the worst loss of all', () => {
    fc.assert(
      fc.property(
        known,
        fc.constantFrom('complete', 'partial', 'failed', null),
        terms,
        (numbers, status, rule) => {
          expect(computeWorstLoss(rule).total).toBeGreaterThanOrEqual(
            total(computeLoss({ numbers, status }, rule)) - 1e-12,
          )
        },
      ),
    )
    expect(computeWorstLoss({ weights: WEIGHTS }).total).toBeCloseTo(1, 9)
  })
})
