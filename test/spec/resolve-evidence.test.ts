import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { resolveEvidence, resolvePairsPerJob } from '../../src/spec/spec-facts.ts'
import { winnowSpec } from './problems-of.ts'

const noisy = { singleMachine: false, scale: 'log', deterministic: false } as const
const linear = { ...noisy, scale: 'linear' } as const

describe('evidence, once calibrated', () => {
  it('looks for 2 %, and calls a quarter of it nothing', () => {
    expect(resolveEvidence(winnowSpec(), noisy)).toMatchObject({
      scale: 'log',
      min_effect: 0.02,
      null_effect: 0.005,
    })
  })

  it('calls half of it nothing on one machine, where the luck of a build is never averaged out', () => {
    expect(resolveEvidence(winnowSpec(), { ...noisy, singleMachine: true }).null_effect).toBe(0.01)
  })

  it('takes any strict gain of a deterministic metric', () => {
    const resolved = resolveEvidence(winnowSpec(), { ...noisy, deterministic: true })
    expect(resolved).toMatchObject({ min_effect: 0, null_effect: 0 })
  })

  it('keeps what the file says', () => {
    const spec = winnowSpec({ evidence: { min_effect: 0.1, null_effect: 0.01, max_jobs: 3 } })
    expect(resolveEvidence(spec, noisy)).toMatchObject({ min_effect: 0.1, null_effect: 0.01, max_jobs: 3 })
    expect(resolveEvidence(spec, { ...noisy, deterministic: true }).min_effect).toBe(0.1)
  })

  it('has no default effect on a linear scale', () => {
    expect(() => resolveEvidence(winnowSpec(), linear)).toThrow(/evidence.min_effect is not set/)
    expect(
      resolveEvidence(winnowSpec({ 'evidence.min_effect': 3, 'evidence.scale': 'linear' }), linear),
    ).toMatchObject({
      scale: 'linear',
      min_effect: 3,
      null_effect: 0.75,
    })
  })

  it('may compare differences of positive values, but not logarithms of others', () => {
    const chosen = winnowSpec({ evidence: { scale: 'linear', min_effect: 1 } })
    expect(resolveEvidence(chosen, noisy).scale).toBe('linear')
    expect(() => resolveEvidence(winnowSpec({ 'evidence.scale': 'log' }), linear)).toThrow(UserError)
  })

  it('refuses a nothing that is as large as something', () => {
    expect(() => resolveEvidence(winnowSpec({ 'evidence.null_effect': 0.05 }), noisy)).toThrow(
      /not below min_effect/,
    )
  })

  it('takes more pairs when an execution is short', () => {
    const { evidence } = winnowSpec()
    expect([resolvePairsPerJob(evidence, 19.9), resolvePairsPerJob(evidence, 20)]).toEqual([8, 4])
    expect(resolvePairsPerJob({ pairs_per_job: 3 }, 1)).toBe(3)
  })
})
