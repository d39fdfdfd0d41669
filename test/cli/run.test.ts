import { describe, expect, it } from 'vitest'
import { clonedProject, offer, project, proven, SHORT } from './project.ts'

describe.each([
  ['without a remote', project],
  ['with a remote', clonedProject],
])('a campaign %s', (_, make) => {
  it('runs, tells what happens, and waits for ideas', async () => {
    const person = make()
    const first = await person.winnow('run')
    expect(first.code).toBe(14)
    expect(first.err).toMatch(/^campaign size started at [0-9a-f]{12}$/m)
    expect(first.err).toMatch(/^calibrated: deterministic, /m)
    expect(first.out).toContain('Waiting for ideas: no idea is queued, and no proposer has another.')

    expect(await offer(person, SHORT)).toMatch(/^optimize-exp\/size\/50-bytes-[0-9a-f]{8}: 50 bytes$/m)
    const second = await person.winnow('run')
    expect(second.code).toBe(14)
    expect(second.err).toMatch(/^exp-001 opened \(external\): 50 bytes$/m)
    expect(second.err).toMatch(/^exp-001 Kept: bytes 100 -> 50 \(-50\.0 %\)/m)
    expect(second.err).toMatch(/^exp-001 landed as [0-9a-f]{12}$/m)
    expect(second.out).toContain('Since the baseline: bytes 100 -> 50 (-50.0 %).')

    const status = await person.json('status')
    expect(status).toMatchObject({
      campaign: 'size',
      state: 'running',
      verdicts: { kept: 1, 'no gain': 0 },
      baseline: { commit: person.git('rev-parse', 'main'), metrics: { bytes: 100 } },
      incumbent: { metrics: { bytes: 50 } },
      experiments: [{ id: 'exp-001', outcome: 'kept', verdict: 'kept', hypothesis: '50 bytes', pr: null }],
    })
    await proven(person)
  })
})
