import { describe, expect, it } from 'vitest'
import { seededRandom, normal } from '../../src/decide/evidence/seeded-random.ts'
import { verdict } from '../../src/decide/evidence/verdict.ts'
import { judgedEvidence, judgedOptions, type JudgedTerms } from '../../src/judge/item-evidence.ts'
import type { JudgedPair } from '../../src/judge/item-pairs.ts'

const TERMS: JudgedTerms = {
  judge: { minimum_improvement: 0.3, confirmation_seed: null },
  direction: 'maximize',
  level: 0.01,
  sampleSize: 30,
}
const CONFIRMED = { ...TERMS, judge: { minimum_improvement: 0.3, confirmation_seed: 7 } }

function pair(item: string, base: number | null, candidate: number | null): JudgedPair {
  const scores = (quality: number | null) => (quality === null ? null : { quality })
  return { item, first: 'base', base: scores(base), candidate: scores(candidate) }
}

/** Scores from 1 to 5 in whole numbers, of a judge who is seldom quite sure. */
function sample(gain: number, seed: number, size = TERMS.sampleSize): JudgedPair[] {
  const random = seededRandom(seed)
  const score = (mean: number) => Math.min(5, Math.max(1, Math.round(mean + 0.7 * normal(random))))
  return Array.from({ length: size }, (_, index) => {
    const good = 2 + 1.5 * random()
    return pair(`q${index}`, score(good), score(good + gain))
  })
}

const statusOf = (terms: JudgedTerms, ...samples: JudgedPair[][]) =>
  verdict(
    judgedEvidence(
      terms,
      'quality',
      samples.map((pairs, seed) => ({ seed, pairs })),
    ),
  ).status

describe('evidence of judged items', () => {
  it('keeps what scores higher, drops what does not', () => {
    expect(statusOf(TERMS, sample(1.2, 1))).toBe('keep')
    expect(statusOf(TERMS, sample(0, 2))).toBe('drop')
    expect(statusOf(TERMS, sample(-1, 3))).toBe('drop')
    expect(statusOf({ ...TERMS, direction: 'minimize' }, sample(-1.2, 4))).toBe('keep')
  })

  it('keeps equal candidates no more often than its level allows', () => {
    let kept = 0
    const level = 0.05
    for (let seed = 0; seed < 1_000; seed++)
      if (statusOf({ ...TERMS, level }, sample(0, 100 + seed)) === 'keep') kept += 1
    expect(kept / 1_000).toBeLessThanOrEqual(level)
  })

  it('asks for another sample before it keeps, where there is one', () => {
    const first = sample(1.2, 1)
    expect(statusOf(CONFIRMED, first)).toBe('new-job')
    expect(statusOf(CONFIRMED, first, sample(1.2, 5))).toBe('keep')
    expect(statusOf(CONFIRMED, first, sample(0, 6))).not.toBe('keep')
  })

  it('takes a candidate without scores for one that has lost, a base without for no pair', () => {
    const failing = sample(1.2, 1).map((each, index) => (index < 2 ? { ...each, candidate: null } : each))
    expect(verdict(judgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: failing }]))).toMatchObject({
      status: 'drop',
      reason: 'broken',
    })
    const voided = sample(1.2, 1).map(each => ({ ...each, base: null }))
    expect(verdict(judgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: voided }]))).toMatchObject({
      status: 'park',
      pairs: 0,
      effect: null,
    })
    expect(statusOf(TERMS)).toBe('new-job')
  })

  it('takes a metric that was not scored for missing', () => {
    const other = judgedEvidence(TERMS, 'other', [{ seed: 1, pairs: sample(1.2, 1) }])
    expect(verdict(other)).toMatchObject({ pairs: 0, effect: null })
  })

  it('goes by differences of scores, and by minimum_improvement', () => {
    const equal = Array.from({ length: 30 }, (_, index) => pair(`q${index}`, 3, 3))
    expect(verdict(judgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: equal }]))).toMatchObject({
      status: 'drop',
      effect: 0,
    })
    const [options, none] = [TERMS, { ...TERMS, judge: { ...TERMS.judge, minimum_improvement: 0 } }].map(
      judgedOptions,
    )
    expect(options).toMatchObject({ scale: 'linear', minEffect: 0.3, maxJobs: 1, freshRunners: 0 })
    expect(none?.minEffect).toBeGreaterThan(0)
    expect(statusOf({ ...TERMS, judge: { ...TERMS.judge, minimum_improvement: 0 } }, sample(1.2, 1))).toBe(
      'keep',
    )
  })
})
