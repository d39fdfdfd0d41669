import { describe, expect, test } from 'vitest'
import { parseDecidePayload } from '../../src/decide/ce/assess.ts'
import { decideStability } from '../../src/decide/ce/stability.ts'
import type { Snapshot } from '../../src/model/report.ts'

type Raw = Record<string, unknown>
type Case = {
  ladder?: Raw
  stability?: Raw
  metric?: Raw
  base?: number
  candidate: Snapshot
  baseline?: Snapshot
}

function decide({ ladder, stability, metric, base = 100, candidate, baseline }: Case) {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  const rules = { mode: 'ladder', comparison: { method: 'relative' }, ladder: ladder ?? {}, ...stability }
  const spec = { metric: { primary, ...metric }, measurement: { stability: rules } }
  const old = baseline ?? { metrics: { bytes: { aggregate: base, samples: [base] } } }
  return decideStability(parseDecidePayload(JSON.stringify({ spec, baseline: old, candidate })))
}

function samples(value: number, count: number, rest: Snapshot = {}): Snapshot {
  const taken = Array.from({ length: count }, () => value)
  return { metrics: { bytes: { aggregate: value, samples: taken } }, ...rest }
}

const better = 90
const same = 100
const worse = 110

describe('a ladder', () => {
  test.each([
    ['a keep below exploratory_pairs', better, 1, 'promising', 'exploratory'],
    ['a keep at exploratory_pairs', better, 2, 'promising', 'confirm'],
    ['a keep below confirmation_repeats', better, 3, 'promising', 'confirm'],
    ['a keep at confirmation_repeats', better, 4, 'keep', 'none'],
    ['inconclusive below exploratory_pairs', same, 1, 'inconclusive', 'exploratory'],
    ['inconclusive at exploratory_pairs', same, 2, 'inconclusive', 'add_sample'],
    ['inconclusive past its one added sample', same, 3, 'inconclusive', 'none'],
    ['a revert', worse, 1, 'revert', 'none'],
  ] as const)('%s', (_, value, count, decision, next) => {
    const ladder = { exploratory_pairs: 2, confirmation_repeats: 4 }
    const found = decide({ ladder, candidate: samples(value, count) })
    expect(found).toMatchObject({ decision, next_measurement: next })
  })

  test('what is promising stays eligible', () => {
    expect(decide({ candidate: samples(better, 1) })).toMatchObject({ decision: 'promising', eligible: true })
  })

  test('confirmation is confirmation_repeats, else repeat_count, else 5', () => {
    const confirmed = (count: number, ladder: Raw, stability: Raw) =>
      decide({ ladder, stability, candidate: samples(better, count) }).decision === 'keep'
    expect([2, 3].map(count => confirmed(count, { confirmation_repeats: 3 }, { repeat_count: 9 }))).toEqual([
      false,
      true,
    ])
    expect([3, 4].map(count => confirmed(count, {}, { repeat_count: 4 }))).toEqual([false, true])
    expect([4, 5].map(count => confirmed(count, {}, {}))).toEqual([false, true])
  })

  test('confirmation is never below exploratory_pairs', () => {
    const ladder = { exploratory_pairs: 4, confirmation_repeats: 2 }
    expect(decide({ ladder, candidate: samples(better, 3) })).toMatchObject({
      decision: 'promising',
      next_measurement: 'exploratory',
    })
    expect(decide({ ladder, candidate: samples(better, 4) }).decision).toBe('keep')
    expect(decide({ ladder, candidate: samples(same, 4) }).next_measurement).toBe('none')
  })

  test('with ladder left out, one exploratory pair and repeat_count confirmations', () => {
    const stability = { ladder: undefined }
    expect(decide({ stability, candidate: samples(better, 1) }).next_measurement).toBe('confirm')
    expect(decide({ stability, candidate: samples(better, 5) }).decision).toBe('keep')
  })

  test('only mode ladder has steps', () => {
    const stability = { mode: 'repeat' }
    expect(decide({ stability, candidate: samples(better, 1) })).toMatchObject({
      decision: 'keep',
      next_measurement: 'none',
    })
  })
})

describe('the smoke command of a ladder', () => {
  const ladder = { smoke_command: 'npm run smoke' }
  test.each([
    ['a keep', better, 'keep'],
    ['an inconclusive', same, 'inconclusive'],
    ['a revert', worse, 'revert'],
  ] as const)('without a result is asked for next; %s keeps its word', (_, value, decision) => {
    const found = decide({ ladder, candidate: samples(value, 1) })
    expect(found).toMatchObject({ decision, next_measurement: 'smoke' })
  })

  test('with a result the samples count', () => {
    const found = decide({ ladder, candidate: samples(better, 1, { smoke_passed: true }) })
    expect(found).toMatchObject({ decision: 'promising', next_measurement: 'confirm' })
  })

  test('a failed one is degenerate', () => {
    expect(decide({ ladder, candidate: samples(better, 1, { smoke_passed: false }) }).decision).toBe(
      'degenerate',
    )
  })
})

describe('samples counted', () => {
  const metric = { objectives: [{ name: 'seconds', direction: 'minimize' }] }
  const ladder = { confirmation_repeats: 3 }
  const baseline = { metrics: { bytes: 100, seconds: 10 } }
  const count = (bytes: unknown, seconds: unknown, sample_count?: number) => {
    const candidate = { metrics: { bytes, seconds }, ...(sample_count === undefined ? {} : { sample_count }) }
    return decide({ metric, ladder, baseline, candidate }).decision
  }
  const three = { samples: [90, 90, 90] }

  test('are the fewest over the required objectives', () => {
    expect(count(three, { samples: [9, 9, 9] })).toBe('keep')
    expect(count(three, { samples: [9, 9] })).toBe('promising')
  })

  test('are sample_count without samples, else 1', () => {
    expect(count(90, 9, 3)).toBe('keep')
    expect(count(three, 9, 2)).toBe('promising')
    expect(count(90, 9)).toBe('promising')
    expect(count(90, 9, 0)).toBe('promising')
    expect(count(90, 9, 3.5)).toBe('promising')
  })
})

describe('futility', () => {
  test('needs ladder.futility', () => {
    expect(decide({ ladder: {}, candidate: samples(500, 1) }).decision).toBe('revert')
  })

  test('needs mode ladder', () => {
    const found = decide({
      ladder: { futility: {} },
      stability: { mode: 'repeat' },
      candidate: samples(500, 1),
    })
    expect(found.decision).toBe('revert')
  })

  test.each([
    [119, 'revert'],
    [120, 'censored'],
    [500, 'censored'],
  ])('futility: {} means worse_factor 1.2: 100 -> %d is %s', (value, decision) => {
    expect(decide({ ladder: { futility: {} }, candidate: samples(value, 1) }).decision).toBe(decision)
  })

  test.each([
    [84, 'revert'],
    [80, 'censored'],
  ])('a maximised metric is divided by the factor: 100 -> %d is %s', (value, decision) => {
    const metric = { primary: { type: 'hard', name: 'bytes', direction: 'maximize' } }
    const ladder = { futility: { worse_factor: 1.25 } }
    expect(decide({ metric, ladder, candidate: samples(value, 1) }).decision).toBe(decision)
  })

  test('the factor applies only up to exploratory_pairs samples', () => {
    const ladder = { exploratory_pairs: 2, futility: {} }
    expect(decide({ ladder, candidate: samples(500, 2) }).decision).toBe('censored')
    expect(decide({ ladder, candidate: samples(500, 3) }).decision).toBe('revert')
  })

  test('a factor of 1 or less, or a base that is not positive, bounds nothing', () => {
    expect(decide({ ladder: { futility: { worse_factor: 1 } }, candidate: samples(500, 1) }).decision).toBe(
      'revert',
    )
    expect(decide({ ladder: { futility: {} }, base: -100, candidate: samples(500, 1) }).decision).toBe(
      'revert',
    )
  })

  test('a base of 0 bounds nothing either', () => {
    const stability = { comparison: { method: 'absolute' } }
    const found = decide({ ladder: { futility: {} }, stability, base: 0, candidate: samples(500, 1) })
    expect(found.decision).toBe('revert')
  })

  test('after_elapsed_seconds ends what is not better by then', () => {
    const ladder = { futility: { worse_factor: 9, after_elapsed_seconds: 60 } }
    const after = (seconds: number, value: number, count = 3) =>
      decide({ ladder, candidate: samples(value, count, { elapsed_seconds: seconds }) }).decision
    expect(after(59, worse)).toBe('revert')
    expect(after(60, worse)).toBe('censored')
    expect(after(60, better, 5)).toBe('keep')
    expect(decide({ ladder, candidate: samples(worse, 3) }).decision).toBe('revert')
  })

  test('nothing inconclusive is given up', () => {
    const metric = { objectives: [{ name: 'seconds', direction: 'minimize' }] }
    const baseline = { metrics: { bytes: 100, seconds: 10 } }
    const candidate = (seconds: number) => ({ metrics: { bytes: 500, seconds } })
    const ladder = { futility: {} }
    expect(decide({ metric, ladder, baseline, candidate: candidate(10) }).decision).toBe('revert')
    expect(decide({ metric, ladder, baseline, candidate: candidate(1) }).decision).toBe('censored')
  })

  test('nothing eligible is given up', () => {
    const listed = { name: 'bytes', direction: 'minimize', max_regression: { type: 'relative', value: 9 } }
    const metric = { objectives: [listed, { name: 'seconds', direction: 'minimize' }] }
    const baseline = { metrics: { bytes: 100, seconds: 10 } }
    const found = decide({
      metric,
      ladder: { futility: {} },
      baseline,
      candidate: { metrics: { bytes: 500, seconds: 1 } },
    })
    expect(found).toMatchObject({ decision: 'promising', eligible: true })
  })

  test('censored keeps its lists and primary_delta, and claims nothing', () => {
    const metric = { primary: { type: 'hard', name: 'bytes', direction: 'minimize', target: 9999 } }
    const found = decide({ metric, ladder: { futility: {} }, candidate: samples(500, 1) })
    expect(found).toMatchObject({
      decision: 'censored',
      eligible: false,
      rank_score: 0,
      target_reached: false,
      primary_delta: -400,
      violated_objectives: ['bytes'],
      next_measurement: 'none',
    })
    expect(found.comparisons['bytes']?.delta).toBe(-400)
  })
})
