import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { parseDecidePayload } from '../../src/decide/ce/assess.ts'
import { decideStability } from '../../src/decide/ce/stability.ts'
import { computeLnEvidence } from '../../src/decide/evidence/rank-test.ts'
import { evaluatePairs } from '../../src/decide/paired/evaluate.ts'
import type { TieComparison } from '../../src/decide/tie-breakers.ts'
import { anOrder, aReport, aSpec, run, sampled, withMetrics } from './a-spec.ts'
import { aCase, aJob, type Gains } from './paired/a-case.ts'

const POLICY = { tie_breakers: [{ lower: 'lines' }, { higher: 'score' }] }
const LABEL = 'exp-001'

type Shown = readonly [lines: TieComparison, score: TieComparison]

/** Values of the candidate, whose base has 100 of each. Null: not printed. */
const LINES = { better: 80, worse: 120, even: 100, missing: null }
const SCORE = { better: 120, worse: 80, even: 100, missing: null }

function measured([lines, score]: Shown): Record<string, number> {
  const values = { bytes: 100, lines: LINES[lines], score: SCORE[score] }
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
}

const BASE = { bytes: 100, lines: 100, score: 100 }

/** Each returns the tie-breaker that keeps a candidate whose primary did not change. */
const RULES: Record<string, (shown: Shown) => string | null> = {
  once: shown => {
    const runs = (role: 'sample' | 'repeat') => [
      run('base', BASE, { role }),
      run(LABEL, measured(shown), { role }),
    ]
    const { outcome, reason } = assessCandidate({
      spec: aSpec({ policy: POLICY }),
      order: anOrder({ rule: 'once', min_effect: 0, scale: 'linear' }),
      report: aReport([...runs('sample'), ...runs('repeat')]),
      label: LABEL,
      baseline: null,
    })
    return outcome === 'eligible' ? (/better on (\w+) \(tie-breaker\)/.exec(reason)?.[1] ?? '') : null
  },
  'a stored score': shown => decide({}, BASE, measured(shown)).tie_breaker,
  pairs: ([lines, score]) => {
    const gains = { better: 0.05, worse: -0.05, even: 0, missing: 0 }
    // More is better for the score, and a gain of these pairs is a lower value.
    return tied(jitter => ({
      ...(lines === 'missing' ? {} : { lines: gains[lines] + jitter }),
      ...(score === 'missing' ? {} : { score: -gains[score] + jitter }),
    })).tie
  },
}

/** A primary whose gain is ruled out late enough for the tie-breakers to have shown theirs. */
const FLAT = [2, -0.5, 2.5, -1, 3, 0, 2, -0.2, 1.8, -1.2, 2.2, 0.1, 1.5, -0.4, 1, 0]

function tied(
  give: (jitter: number, at: number) => NonNullable<Gains>,
  alpha = 0.01,
  policy: object = POLICY,
) {
  const all = FLAT.map((gain, at) => ({
    bytes: gain / 100,
    ...give(at % 2 === 0 ? 0.001 : -0.0012, at),
  }))
  const jobs = [aJob('1', all.slice(0, 8)), aJob('2', all.slice(8))].map(job => ({
    ...job,
    // Turns that do not explain the signs of the differences.
    pairs: job.pairs.map((pair, at) => ({ ...pair, first: at % 4 < 2 ? 'base' : 'candidate' }) as const),
  }))
  const metrics = ['bytes', 'lines', 'score']
  return evaluatePairs(aCase(jobs, { policy: { ...policy }, rule: { metrics }, terms: { alpha } }))
}

function decide(stability: object, baseline: Record<string, unknown>, candidate: Record<string, unknown>) {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  const spec = { metric: { primary }, measurement: { stability }, policy: POLICY }
  const given = parseDecidePayload(JSON.stringify({ spec, baseline: {}, candidate: {} }))
  return decideStability({
    ...given,
    baseline: withMetrics(baseline),
    candidate: withMetrics(candidate),
  })
}

describe.each(Object.keys(RULES))('tie-breakers of a comparison by %s', name => {
  it.each<[...Shown, string | null]>([
    ['better', 'even', 'lines'],
    ['better', 'worse', 'lines'],
    ['better', 'missing', 'lines'],
    ['even', 'better', 'score'],
    ['even', 'even', null],
    ['even', 'worse', null],
    ['even', 'missing', null],
    ['worse', 'better', null],
    ['missing', 'better', null],
  ])('%s, then %s: %s decides', (lines, score, winner) => {
    expect(RULES[name]?.([lines, score])).toBe(winner)
  })
})

describe('tie-breakers of pairs', () => {
  it('share the level: each is a further chance to be kept by luck', () => {
    const gain = (at: number) => [0.03, 0.02, 0.015, 0.04, -0.01, 0.05, 0.01, 0.03][at % 8] ?? 0
    const own = FLAT.map((_, at) => gain(at))
    const alpha = 1.5 / Math.exp(computeLnEvidence(own, 0))
    expect(alpha).toBeLessThan(0.05)
    const tie = (policy: object) =>
      tied((jitter, at) => ({ lines: gain(at), score: jitter }), alpha, policy).tie
    expect(tie({ tie_breakers: POLICY.tie_breakers.slice(0, 1) })).toBe('lines')
    expect(tie(POLICY)).toBeNull()
  })

  it('lose a pair in which the candidate alone has no value', () => {
    const gains = (printed: (at: number) => boolean) =>
      tied((jitter, at) => (printed(at) ? { lines: 0.05 + jitter } : {}), 0.01, {
        tie_breakers: [{ lower: 'lines' }],
      }).tie
    expect(gains(() => true)).toBe('lines')
    expect(gains(() => false)).toBeNull()
  })
})

describe('tie-breakers of a comparison with a stored score', () => {
  const better = { ...BASE, lines: 80 }

  it('decide while the primary is as good as the stored one, by the threshold of the comparison', () => {
    const noise = { noise_threshold: 2 }
    expect(decide(noise, BASE, { ...better, bytes: 102 })).toMatchObject({
      decision: 'keep',
      eligible: true,
      improved_objectives: [],
      tie_breaker: 'lines',
      reason:
        'the difference is within the comparison threshold, and tie-breaker lines 100 -> 80 (-20.0 %) is better',
    })
    expect(decide(noise, BASE, { ...better, bytes: 102.5 })).toMatchObject({
      decision: 'revert',
      tie_breaker: null,
    })
    expect(decide(noise, BASE, { ...better, bytes: 97 })).toMatchObject({
      decision: 'keep',
      improved_objectives: ['bytes'],
      tie_breaker: null,
    })
  })

  it('need a difference of relative_threshold under every method, because noise_threshold is of another unit', () => {
    const lines = (value: number, stability: object = {}) =>
      decide(stability, BASE, { ...BASE, lines: value }).tie_breaker
    expect([lines(96), lines(94)]).toEqual([null, 'lines'])
    const strict = { comparison: { method: 'relative', relative_threshold: 0.1 } }
    expect([lines(94, strict), lines(89, strict)]).toEqual([null, 'lines'])
  })

  it('differ from a stored 0 by anything', () => {
    const none = { ...BASE, lines: 0 }
    expect(decide({}, none, { ...none, lines: 1, score: 200 })).toMatchObject({
      decision: 'inconclusive',
      reason: 'the difference is within the comparison threshold, and tie-breaker lines 0 -> 1 is worse',
    })
    expect(decide({}, none, { ...none, score: 200 }).tie_breaker).toBe('score')
  })

  it('read all samples, of which none may be missing', () => {
    const lines = (...values: (number | null)[]) => ({
      bytes: sampled(100, 100, 100),
      lines: sampled(...values),
      score: sampled(100, 100, 200),
    })
    const repeat = { mode: 'repeat', repeat_count: 3 }
    const stored = lines(100, 101, 99)
    expect(decide(repeat, stored, lines(120, 80, 81)).tie_breaker).toBe('lines')
    expect(decide(repeat, stored, lines(80, null, 80))).toMatchObject({
      decision: 'inconclusive',
      tie_breaker: null,
      reason: 'the difference is within the comparison threshold, and tie-breaker lines is missing',
    })
    const paired = { ...repeat, comparison: { method: 'paired' } }
    expect(decide(paired, stored, lines(80, 81, 120)).tie_breaker).toBeNull()
    expect(decide(paired, stored, lines(80, 81, 82)).tie_breaker).toBe('lines')
  })

  it('do not decide where the comparison says nothing about a loss', () => {
    const relative = { comparison: { method: 'relative' } }
    const free = { ...BASE, bytes: 0 }
    expect(decide(relative, free, { ...better, bytes: 50 })).toMatchObject({
      decision: 'inconclusive',
      tie_breaker: null,
    })
    const paired = { mode: 'repeat', repeat_count: 3, comparison: { method: 'paired' } }
    const samples = (...values: number[]) => ({ ...better, bytes: sampled(...values) })
    const stored = { ...BASE, bytes: sampled(100, 100, 100) }
    expect(decide(paired, stored, samples(99, 110, 120)).tie_breaker).toBeNull()
  })

  it('are too noisy where repeats of the base differ by more than that, and a warning says so', () => {
    const warnings = (...lines: number[]) => {
      const baseline = withMetrics({ bytes: sampled(100, 100, 100), lines: sampled(...lines) })
      const spec = aSpec({ policy: POLICY, measurement: { stability: { mode: 'repeat', repeat_count: 3 } } })
      const report = aReport([1, 2, 3].map(seed => run(LABEL, BASE, { seed })))
      const order = anOrder({ rule: 'stability', baseline })
      return assessCandidate({ spec, order, report, label: LABEL, baseline: null }).warnings.join()
    }
    expect(warnings(100, 104, 98)).toContain("the baseline's repeats of lines differ by 6, more than the 5")
    expect(warnings(100, 101, 98)).not.toContain('lines')
  })

  it('ask for the same confirmation as a gain', () => {
    const ladder = { mode: 'ladder', ladder: { exploratory_pairs: 1, confirmation_repeats: 2 } }
    const samples = (count: number, lines: number) => ({
      bytes: sampled(...Array.from({ length: count }, () => 100)),
      lines: sampled(...Array.from({ length: count }, () => lines)),
    })
    const step = (count: number) => decide(ladder, samples(2, 100), samples(count, 80))
    expect(step(1)).toMatchObject({ decision: 'promising', next_measurement: 'confirm' })
    expect(step(2)).toMatchObject({ decision: 'keep', next_measurement: 'none' })
  })
})
