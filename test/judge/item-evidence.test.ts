import { describe, expect, it } from 'vitest'
import { createSeededRandom, drawNormal } from '../../src/decide/evidence/planning.ts'
import { computeEvidenceVerdict } from '../../src/decide/evidence/rules.ts'
import {
  buildJudgedOptions,
  computeJudgedEvidence,
  type JudgedPair,
  type JudgedTerms,
} from '../../src/judge/evidence.ts'

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
  const random = createSeededRandom(seed)
  const score = (mean: number) => Math.min(5, Math.max(1, Math.round(mean + 0.7 * drawNormal(random))))
  return Array.from({ length: size }, (_, index) => {
    const good = 2 + 1.5 * random()
    return pair(`q${index}`, score(good), score(good + gain))
  })
}

const statusOf = (terms: JudgedTerms, ...samples: JudgedPair[][]) =>
  computeEvidenceVerdict(
    computeJudgedEvidence(
      terms,
      'quality',
      samples.map((pairs, seed) => ({ seed, pairs })),
    ),
  ).status

/** So many items better by 2 or 3 grades, so many worse by as much, and ties among them. */
function graded(size: number, better: number, worse = 0): JudgedPair[] {
  return Array.from({ length: size }, (_, index) => {
    const rank = (index * 37) % size
    const grades = 2 + (index % 2)
    if (rank < better) return pair(`q${index}`, 2, 2 + grades)
    return rank < better + worse ? pair(`q${index}`, 2 + grades, 2) : pair(`q${index}`, 3, 3)
  })
}

describe('items that mostly tie', () => {
  const first = { ...CONFIRMED, level: 0.001 }

  it('are kept if 19 of 105 are better and none is worse', () => {
    const seen = graded(105, 19)
    const state = computeJudgedEvidence({ ...TERMS, sampleSize: 105 }, 'quality', [{ seed: 1, pairs: seen }])
    expect(computeEvidenceVerdict(state)).toMatchObject({ status: 'keep', effect: expect.closeTo(0.457, 1) })
    expect(computeEvidenceVerdict(state).interval?.[0]).toBeGreaterThan(0)
  })

  it('are kept in two samples at the level of the first idea of a hundred', () => {
    const terms = { ...first, sampleSize: 52 }
    expect(statusOf(terms, graded(52, 10))).toBe('new-job')
    expect(statusOf(terms, graded(52, 10), graded(52, 9))).toBe('keep')
  })

  it('are not kept for less than minimum_improvement, nor where losses outweigh the gains', () => {
    expect(statusOf({ ...TERMS, sampleSize: 105 }, graded(105, 10))).not.toBe('keep')
    expect(statusOf({ ...TERMS, sampleSize: 105 }, graded(105, 19, 12))).not.toBe('keep')
    const rare = graded(105, 30).map((each, index) => (index % 13 === 0 ? pair(each.item, 5, 1) : each))
    expect(statusOf({ ...TERMS, sampleSize: 105 }, rare)).not.toBe('keep')
  })

  it('are worse if that is proven, and not proven if neither is', () => {
    expect(statusOf({ ...TERMS, sampleSize: 105 }, graded(105, 0, 19))).toBe('drop')
    expect(statusOf({ ...TERMS, sampleSize: 40 }, graded(40, 4, 3))).toBe('not-proven')
  })

  it('carry no evidence: the same items without their ties have as much', () => {
    const evidenceOf = (pairs: JudgedPair[]) =>
      computeEvidenceVerdict(
        computeJudgedEvidence({ ...TERMS, sampleSize: 105 }, 'quality', [{ seed: 1, pairs }]),
      ).evidence
    const seen = graded(105, 19, 3)
    const untied = seen.filter(({ base, candidate }) => base?.['quality'] !== candidate?.['quality'])
    expect(evidenceOf(untied)).toBeCloseTo(evidenceOf(seen), 9)
  })
})

describe('evidence of judged items', () => {
  it('keeps what scores higher, drops what scores lower, and nothing else', () => {
    expect(statusOf(TERMS, sample(1.2, 1))).toBe('keep')
    expect(statusOf(TERMS, sample(0, 2))).toBe('not-proven')
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

  it('needs a second sample before it keeps, if one is set', () => {
    const first = sample(1.2, 1)
    expect(statusOf(CONFIRMED, first)).toBe('new-job')
    expect(statusOf(CONFIRMED, first, sample(1.2, 5))).toBe('keep')
    expect(statusOf(CONFIRMED, first, sample(0, 6))).not.toBe('keep')
  })

  it('counts a candidate without scores as lost, and drops the pair of a base without scores', () => {
    const failing = sample(1.2, 1).map((each, index) => (index < 2 ? { ...each, candidate: null } : each))
    expect(
      computeEvidenceVerdict(computeJudgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: failing }])),
    ).toMatchObject({
      status: 'drop',
      reason: 'broken',
    })
    const voided = sample(1.2, 1).map(each => ({ ...each, base: null }))
    expect(
      computeEvidenceVerdict(computeJudgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: voided }])),
    ).toMatchObject({
      status: 'not-proven',
      pairs: 0,
      effect: null,
    })
    expect(statusOf(TERMS)).toBe('new-job')
  })

  it('counts a metric without scores as missing', () => {
    const other = computeJudgedEvidence(TERMS, 'other', [{ seed: 1, pairs: sample(1.2, 1) }])
    expect(computeEvidenceVerdict(other)).toMatchObject({ pairs: 0, effect: null })
  })

  it('compares differences of scores with minimum_improvement', () => {
    const equal = Array.from({ length: 30 }, (_, index) => pair(`q${index}`, 3, 3))
    expect(
      computeEvidenceVerdict(computeJudgedEvidence(TERMS, 'quality', [{ seed: 1, pairs: equal }])),
    ).toMatchObject({
      status: 'drop',
      effect: 0,
    })
    const [options, none] = [TERMS, { ...TERMS, judge: { ...TERMS.judge, minimum_improvement: 0 } }].map(
      buildJudgedOptions,
    )
    expect(options).toMatchObject({ scale: 'linear', minEffect: 0.3, maxJobs: 1, freshRunners: 0 })
    expect(none?.minEffect).toBeGreaterThan(0)
    expect(statusOf({ ...TERMS, judge: { ...TERMS.judge, minimum_improvement: 0 } }, sample(1.2, 1))).toBe(
      'keep',
    )
  })
})
