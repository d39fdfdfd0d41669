import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeSignedDifference, type MetricDirection } from '../../../src/decide/evidence/rank-test.ts'
import { type EvidencePair, observePair } from '../../../src/decide/evidence/observe.ts'
import { computeReportedEffect } from '../../../src/decide/evidence/interval.ts'
import {
  type EvidenceOptions,
  type EvidenceState,
  evidenceStateSchema,
  startEvidence,
} from '../../../src/decide/evidence/state.ts'
import { computeEvidenceVerdict, getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'
import { UserError } from '../../../src/errors.ts'
import { begin, pairOf } from './a-comparison.ts'

type Values = Pick<EvidencePair, 'base' | 'candidate' | 'order'>

const value = fc.oneof(
  { weight: 9, arbitrary: fc.double({ min: 50, max: 200, noNaN: true }) },
  { weight: 1, arbitrary: fc.constantFrom(64, 128) },
)
const failing = fc.option(value, { freq: 12 })
const order = fc.constantFrom('base-first' as const, 'candidate-first' as const)
const sound: fc.Arbitrary<Values> = fc.record({ base: value, candidate: value, order })
const anyValues: fc.Arbitrary<Values> = fc.record({ base: failing, candidate: failing, order })
/** Mostly gains, so that screens, fresh runners and keeps come up as well as drops. */
const gains: fc.Arbitrary<Values> = sound.map(({ base, order: first }) => ({
  base,
  candidate: (base ?? 1) * 0.9,
  order: first,
}))
const story = fc.array(fc.oneof(sound, anyValues, gains, gains), { maxLength: 40 })
const options: EvidenceOptions = { direction: 'minimize', minEffect: 0.02, pairsPerJob: 4 }

/** Every state of an experiment, new jobs begun on new runners whenever they are asked for. */
function states(start: EvidenceState, pairs: readonly Values[], keep = (state: EvidenceState) => state) {
  const all = [start]
  let job = 0
  for (const pair of pairs) {
    const now = all.at(-1) ?? start
    const { status } = getEvidenceStatus(now)
    if (status === 'not-proven') break
    if (status === 'new-job') job += 1
    all.push(keep(observePair(now, { ...pair, job })))
  }
  return all
}

function frozen<T>(thing: T): T {
  if (typeof thing === 'object' && thing !== null) {
    Object.freeze(thing)
    for (const part of Object.values(thing)) frozen(part)
  }
  return thing
}

describe('the state', () => {
  test('is never changed by observing', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (pairs, hybrid) => {
        const start = startEvidence({ ...options, ...(hybrid ? { hybrid: { noise: 0.03 } } : {}) })
        expect(() => states(frozen(start), pairs, frozen)).not.toThrow()
      }),
      { seed: 21 },
    )
  })

  test('is plain JSON at every step, and gives the same verdicts after parsing', () => {
    fc.assert(
      fc.property(story, fc.boolean(), (pairs, hybrid) => {
        const start = startEvidence({ ...options, ...(hybrid ? { hybrid: { noise: 0.03 } } : {}) })
        const stored = states(start, pairs, state =>
          evidenceStateSchema.parse(JSON.parse(JSON.stringify(state))),
        )
        expect(stored.map(computeEvidenceVerdict)).toEqual(states(start, pairs).map(computeEvidenceVerdict))
      }),
      { seed: 22 },
    )
  })

  test('gives a verdict whose numbers are all finite, so that it can be stored too', () => {
    fc.assert(
      fc.property(story, pairs => {
        for (const now of states(startEvidence(options), pairs).map(computeEvidenceVerdict)) {
          expect(JSON.parse(JSON.stringify(now))).toEqual(now)
        }
      }),
      { seed: 23 },
    )
  })
})

function scaledBy(factor: number) {
  return ({ base, candidate, ...rest }: Values): Values => ({
    ...rest,
    base: base === null ? null : base * factor,
    candidate: candidate === null ? null : candidate * factor,
  })
}

function verdicts(direction: MetricDirection, pairs: readonly Values[]) {
  return states(startEvidence({ ...options, direction }), pairs).map(computeEvidenceVerdict)
}

describe('the verdict', () => {
  test('does not depend on the unit of the metric under log', () => {
    fc.assert(
      fc.property(story, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (pairs, unit) => {
        const [plain, scaled] = [verdicts('minimize', pairs), verdicts('minimize', pairs.map(scaledBy(unit)))]
        expect(scaled.map(({ status, reason, worse }) => [status, reason, worse])).toEqual(
          plain.map(({ status, reason, worse }) => [status, reason, worse]),
        )
      }),
      { seed: 24 },
    )
  })

  test('is the same for an inverted metric', () => {
    const sounds = fc.array(fc.oneof(sound, gains), { maxLength: 40 })
    fc.assert(
      fc.property(sounds, pairs => {
        const swapped = pairs.map(({ base, candidate, order: first }) => ({
          base: candidate,
          candidate: base,
          order: first,
        }))
        expect(verdicts('maximize', swapped)).toEqual(verdicts('minimize', pairs))
      }),
      { seed: 25 },
    )
  })

  test('with swapped labels sees the effect and the interval mirrored', () => {
    const measure = { direction: 'minimize', scale: 'log' } as const
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 14 }), values => {
        const one = computeReportedEffect(values.map(([a, b]) => computeSignedDifference(measure, a, b)))
        const other = computeReportedEffect(values.map(([a, b]) => computeSignedDifference(measure, b, a)))
        expect(other.effect).toBeCloseTo(0 - (one.effect ?? Number.NaN), 12)
        const [low = null, high = null] = one.interval ?? []
        const mirrored = low === null || high === null ? null : [0 - high, 0 - low]
        expect(other.interval).toEqual(mirrored)
      }),
      { seed: 26 },
    )
  })
})

describe('invalid options', () => {
  test.each([
    ['no minimal effect', { minEffect: 0 }],
    ['a minimal effect that is no number', { minEffect: Number.NaN }],
    ['a null effect as large as the minimal one', { nullEffect: 0.02 }],
    ['a negative null effect', { nullEffect: -0.01 }],
    ['a level of 0', { alpha: 0 }],
    ['a level of 1', { alpha: 1 }],
    ['a level that is no number', { alpha: Number.NaN }],
    ['a screen everybody passes', { screen: 1 }],
    ['jobs without pairs', { pairsPerJob: 0 }],
    ['half a pair', { pairsPerJob: 2.5 }],
    ['no job', { maxJobs: 0 }],
    ['fewer than no runners', { freshRunners: -1 }],
    ['no objective', { m: 0 }],
    ['a hybrid without noise', { hybrid: { noise: 0 } }],
  ])('%s', (_, wrong) => {
    expect(() => begin(wrong)).toThrow(UserError)
  })

  test('the level is divided among the required objectives', () => {
    expect(
      computeEvidenceVerdict(begin({ alpha: 0.02, m: 2, confirmed: false, freshRunners: 0 })).threshold,
    ).toBe(100)
  })
})

describe('invalid values', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY])('a value of %s: failures are null', wrong => {
    expect(() => observePair(begin(), pairOf(wrong))).toThrow(`value is ${wrong}`)
    expect(() => observePair(begin(), { ...pairOf(1), base: null, candidate: wrong })).toThrow(UserError)
  })
})
