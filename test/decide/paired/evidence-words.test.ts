import { describe, expect, it } from 'vitest'
import { renderEvidenceBar } from '../../../src/decide/paired/effect-text.ts'
import {
  renderEvidenceLine,
  renderEvidenceSentence,
  traceEvidence,
} from '../../../src/decide/paired/evidence-text.ts'
import { evaluatePairs, type PairedCase } from '../../../src/decide/paired/evaluate.ts'
import { computeEvidenceVerdict } from '../../../src/decide/evidence/rules.ts'
import { aCase, aJob, GAINS } from './a-score-case.ts'

const said = (paired: PairedCase) => {
  const standing = evaluatePairs(paired)
  return { status: standing.status, sentence: renderEvidenceSentence(paired, standing) }
}
const line = (paired: PairedCase) => renderEvidenceLine(paired, evaluatePairs(paired))
const SCREENED = aJob('a', GAINS.slice(0, 6), { complete: false })
const CONFIRMED = [SCREENED, aJob('b', GAINS.slice(0, 6), { complete: false })]

describe('the sentence of a paired verdict', () => {
  it('states effect and interval of a kept change without "probably"', () => {
    const { status, sentence } = said(aCase(CONFIRMED))
    expect(status).toBe('keep')
    expect(sentence).toMatch(/^score 5\.\d % lower \(\d\.\d to \d\.\d %\)\.$/)
  })

  it('mentions a single machine', () => {
    expect(said(aCase(CONFIRMED, { rule: { single_machine: true } })).sentence).toMatch(
      / %\), on this machine\.$/,
    )
  })

  it('has "probably" and "so far" while a fresh runner is missing', () => {
    const { status, sentence } = said(aCase([SCREENED]))
    expect(status).toBe('new-job')
    expect(sentence).toMatch(/^score probably 5\.\d % lower.* so far\.$/)
  })

  it('distinguishes a ruled-out gain from shown harm', () => {
    const gains = [0.2, -0.3, 0.1, -0.6, -0.4, 0.3, -0.1]
    const none = said(aCase([aJob('a', gains, { complete: false })]))
    expect(none).toEqual({
      status: 'drop',
      sentence: 'score differs by less than 2 % (0.1 % higher, -0.3 to 0.6 %).',
    })
    const harm = said(
      aCase([
        aJob(
          'a',
          GAINS.map(gain => -gain),
        ),
      ]),
    )
    expect(harm.status).toBe('drop')
    expect(harm.sentence).toMatch(/^score 5\.\d % higher \(.*\)\.$/)
  })

  it('shows no interval with a gain beside harm', () => {
    const losses = [-50.7, 17.1, -31.5, -49.9, -26.1, -33.3, -24.5, 11.6, -71.6, -28.4]
    const harm = said(aCase([aJob('a', losses)]))
    expect(harm.status).toBe('drop')
    expect(harm.sentence).toMatch(/^score \d+\.\d % higher \(at least \d+\.\d % higher\)\.$/)
  })

  it('explains why measuring ended', () => {
    const idle = aJob('a', [8, -8, 6.5, -7, 7.5, -5, 5.5, -6])
    expect(said(aCase([idle])).sentence).toMatch(
      /stopped early: a gain looks unlikely after the first job\.$/,
    )
    const open = aJob('a', [3.3, -1, 2.4, -2.1, 1.9, 2.7, -1.5, 3])
    const unproven = said(aCase([open], { terms: { max_jobs: 1 } }))
    expect(unproven).toEqual({
      status: 'not-proven',
      sentence: expect.stringMatching(/ %\), but 18 runs were not enough to be sure\.$/),
    })
  })

  it('names open and harmed guardrails', () => {
    const metric = { objectives: [{ name: 'memory', direction: 'minimize', role: 'guardrail' }] }
    const withMemory = (candidate: (at: number) => number) =>
      CONFIRMED.map(job => ({
        ...job,
        pairs: job.pairs.map((pair, at) => ({
          ...pair,
          base: { score: 100, memory: 50 },
          candidate: { score: pair.candidate?.['score'] ?? 0, memory: candidate(at) },
        })),
      }))
    const open = said(
      aCase(
        withMemory(at => (at % 2 === 0 ? 40 + at : 62 - at)),
        { metric },
      ),
    )
    expect(open.sentence).toMatch(/so far; memory not proven harmless yet\.$/)
    const harmed = said(
      aCase(
        withMemory(at => 60 + at),
        { metric },
      ),
    )
    expect(harmed).toEqual({
      status: 'drop',
      sentence: expect.stringMatching(/; memory proven worse\.$/),
    })
  })

  it('is the same in any unit', () => {
    const scaled = CONFIRMED.map(job => ({
      ...job,
      pairs: job.pairs.map(pair => ({
        ...pair,
        base: { score: (pair.base?.['score'] ?? 0) * 1000 },
        candidate: { score: (pair.candidate?.['score'] ?? 0) * 1000 },
      })),
    }))
    expect(said(aCase(scaled))).toEqual(said(aCase(CONFIRMED)))
    expect(line(aCase(scaled))).toBe(line(aCase(CONFIRMED)))
  })
})

describe('the evidence line', () => {
  it('has evidence, threshold, pairs, machines and cost', () => {
    expect(line(aCase(CONFIRMED))).toMatch(
      /^evidence \d+ \(needed to be sure: 100\) ▕█{20}▏ 12 pairs in 2 jobs on 2 runners, 28 executions$/,
    )
    expect(line(aCase([aJob('a', GAINS.slice(0, 2))], { rule: { single_machine: true } }))).toMatch(
      /^evidence 3\.\d \(needed to measure more: 20\) ▕█+.·+▏ 2 pairs in 1 job on this machine, 6 executions$/,
    )
  })

  it('counts the same runner once', () => {
    const again = CONFIRMED.map(job => ({ ...job, runner: 'the same' }))
    expect(line(aCase(again))).toContain('2 jobs on 1 runner, ')
  })
})

describe("the evidence of a gain that is not the primary's", () => {
  it('belongs to the objective that gained, by name', () => {
    const metric = { objectives: [{ name: 'memory', direction: 'minimize', role: 'required' }] }
    const jobs = CONFIRMED.map(job => ({
      ...job,
      pairs: job.pairs.map((pair, at) => ({
        ...pair,
        base: { score: 100, memory: 50 },
        candidate: { score: 100.1 - (at % 2) / 5, memory: 45 - at / 7 },
      })),
    }))
    const paired = aCase(jobs, { metric, terms: { alpha: 0.02 } })
    const standing = evaluatePairs(paired)
    expect(standing.improved).toEqual(['memory'])
    expect(renderEvidenceLine(paired, standing)).toMatch(
      /^evidence \d+ for memory \(needed to be sure: 100\) ▕█{20}▏ /,
    )
  })
})

describe('the bar', () => {
  it('is empty at 1, half full half way on a log scale, and full at the threshold', () => {
    expect(renderEvidenceBar(1, 100, 4)).toBe('····')
    expect(renderEvidenceBar(0.02, 100, 4)).toBe('····')
    expect(renderEvidenceBar(10, 100, 4)).toBe('██··')
    expect(renderEvidenceBar(99.9999, 100, 4)).toBe('███▉')
    expect(renderEvidenceBar(100, 100, 4)).toBe('████')
    expect(renderEvidenceBar(1e9, 100, 4)).toBe('████')
  })
})

describe('the evidence after every pair', () => {
  it('ends at the verdict, and marks jobs that could confirm', () => {
    const paired = aCase(CONFIRMED)
    const path = traceEvidence(paired)
    expect(path.map(({ fresh, screened }) => ({ fresh, screened }))).toEqual([
      { fresh: false, screened: true },
      { fresh: true, screened: false },
    ])
    expect(path[1]?.pairs.at(-1)?.evidence).toBe(
      computeEvidenceVerdict(evaluatePairs(paired).primary).evidence,
    )
    expect(path[0]?.pairs[0]).toMatchObject({ first: 'base', base: 100, candidate: 95 })
    expect(path[0]?.pairs[0]?.difference).toBeCloseTo(-Math.log(0.95), 9)
  })

  it('marks no fresh runner when the same machine ran twice', () => {
    const same = CONFIRMED.map(job => ({ ...job, runner: 'the same' }))
    expect(traceEvidence(aCase(same))[1]?.fresh).toBe(false)
    expect(traceEvidence(aCase(same, { rule: { single_machine: true } }))[1]?.fresh).toBe(true)
    const [first, ...others] = CONFIRMED.map((job, at) => ({ ...job, runner: `m${at}` }))
    const resumed = first === undefined ? [] : [{ ...first, also_on: ['m1'] }, ...others]
    expect(traceEvidence(aCase(resumed))[1]?.fresh).toBe(false)
  })

  it('shows a failed side as a pair without a difference', () => {
    const path = traceEvidence(aCase([aJob('a', [5, null], { complete: false })]))
    expect(path[0]?.pairs[1]).toMatchObject({ candidate: null, difference: null })
  })
})
