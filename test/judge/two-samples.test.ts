import { describe, expect, it } from 'vitest'
import { computeEvidenceVerdict } from '../../src/decide/evidence/rules.ts'
import { createSeededRandom, drawNormal } from '../../src/decide/evidence/planning.ts'
import { drawRandomPairs, drawSideSample } from '../../src/judge/batch.ts'
import { computeJudgedEvidence } from '../../src/judge/evidence.ts'
import type { Item } from '../../src/measure/output/harness-output.ts'

const SAMPLE = 12
const LEVEL = 0.05

function cluster(name: string, count: number, bucket: (at: number) => string = () => 'all'): Item[] {
  return Array.from({ length: count }, (_, at) => ({
    id: `${name}-${at}`,
    bucket: bucket(at),
    content: `${name} ${at}`,
  }))
}

const draw = { sampleSize: SAMPLE, stratification: null, seed: '42:order' }

describe('two samples', () => {
  it('share no item with each other, and match items at random', () => {
    const [base, candidate] = [cluster('old', 24), cluster('new', 24)]
    const samples = [0, 1].map(sample => drawRandomPairs(base, candidate, { ...draw, sample }))
    for (const side of ['base', 'candidate'] as const) {
      const ids = samples.flat().map(pair => pair[side].id)
      expect(new Set(ids).size).toBe(24)
    }
    const places = samples.flat().filter(pair => pair.base.id.slice(4) === pair.candidate.id.slice(4))
    expect(places.length).toBeLessThan(8)
    expect(drawRandomPairs(base, candidate, { ...draw, sample: 2 })).toEqual([])
    const other = drawRandomPairs(base, candidate, { ...draw, seed: '42:another', sample: 0 })
    expect(other).not.toEqual(samples[0])
  })

  it('match within a bucket, and fill up where a bucket has too few', () => {
    const bucket = (at: number) => (at % 4 === 0 ? 'small' : 'large')
    const stratification = [
      { bucket: 'small', count: 8 },
      { bucket: 'large', count: 4 },
    ]
    const base = cluster('old', 40, bucket)
    const drawn = drawRandomPairs(base, cluster('new', 40, bucket), { ...draw, stratification, sample: 0 })
    expect(drawn).toHaveLength(SAMPLE)
    expect(drawn.every(pair => pair.base.bucket === pair.candidate.bucket)).toBe(true)
    const few = drawSideSample(cluster('new', 16, bucket), { ...draw, stratification })
    expect(few.filter(item => item.bucket === 'small')).toHaveLength(4)
    expect(few).toHaveLength(SAMPLE)
  })
})

/** One campaign's idea: both sides' items have a quality of their own, and a judge adds noise to each score. */
function isKept(run: number, gain: number): boolean {
  const random = createSeededRandom(run * 7919 + 13)
  const [base, candidate] = [cluster('old', 60), cluster('new', 60)]
  const score = (mean: number) =>
    Math.min(5, Math.max(1, Math.round(mean + 0.7 * drawNormal(random) + 0.3 * drawNormal(random))))
  const scores = new Map([
    ...base.map(({ id }) => [id, score(3)] as const),
    ...candidate.map(({ id }) => [id, score(3 + gain)] as const),
  ])
  const samples = [0, 1].map(sample => ({
    seed: sample,
    pairs: drawRandomPairs(base, candidate, { ...draw, sampleSize: 30, seed: `42:${run}`, sample }).map(
      pair => ({
        item: pair.id,
        first: random() < 0.5 ? ('base' as const) : ('candidate' as const),
        base: { quality: scores.get(pair.base.id) ?? 0 },
        candidate: { quality: scores.get(pair.candidate.id) ?? 0 },
      }),
    ),
  }))
  const terms = {
    judge: { minimum_improvement: 0.3, confirmation_seed: 7 },
    direction: 'maximize' as const,
    level: LEVEL,
    sampleSize: 30,
  }
  return computeEvidenceVerdict(computeJudgedEvidence(terms, 'quality', samples)).status === 'keep'
}

describe('the rule about two samples', () => {
  const RUNS = 200
  const count = (gain: number) =>
    Array.from({ length: RUNS }, (_, run) => isKept(run, gain)).filter(kept => kept).length

  it('keeps equal clusterings no more often than its level', () => {
    expect(count(0)).toBeLessThanOrEqual(LEVEL * RUNS)
  })

  it('keeps a clustering that is better by a grade', () => {
    expect(count(1)).toBeGreaterThanOrEqual(0.7 * RUNS)
  })
})
