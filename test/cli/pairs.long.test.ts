import { describe, expect, it } from 'vitest'
import { FILES, offer, project, proven, SHORT } from './project.ts'
import { releaseTest } from '../support/cases.ts'

/** Bytes in thousandths, off by what the seed of the pair says: noisy, and never in doubt about a gain of half. */
const NOISY = `printf '{"bytes": %s}' "$(( $(wc -c < src/value) * 1000 + WINNOW_SEED % 251 ))"\n`

describe('an experiment that pairs decided', () => {
  it('is shown with its pairs, for people and for programs, long after it ended', async () => {
    const person = project({ ...FILES, 'bench/size.sh': NOISY })
    await person.winnow('run')
    await offer(person, SHORT)
    const { err, out } = await person.winnow('run')
    expect(err).toMatch(
      /^exp-001 Kept: bytes (49|50)\.\d % lower \(.*\), on this machine\. evidence \d+ \(needed to be sure: \d+\) ▕█+▏/m,
    )
    expect(out).toMatch(/^The kept change was measured on a single machine: /m)

    const shown = (await person.winnow('show', '1')).out.split('\n')
    expect(shown[0]).toMatch(/^exp-001 Kept: bytes .* on this machine\.$/)
    expect(shown[1]).toMatch(
      /^ {2}evidence \d+ \(needed to be sure: \d+\) ▕█{20}▏ \d+ pairs in \d+ jobs on this machine, \d+ executions$/,
    )
    expect(shown[2]).toMatch(/^ {2}Noise: the base differs from itself by /)
    const drawn = shown.slice(shown.findIndex(line => line.startsWith('Pairs of bytes')))
    const chart = drawn.slice(0, drawn.findIndex(line => line.startsWith('  cost: ')) + 1)
    expect(chart.filter(line => line.includes('▏')).length).toBeGreaterThan(8)
    expect(chart.filter(line => line.length > 80)).toEqual([])

    const view = await person.json('show', '1')
    const [pairs] = view['pairs'] as { jobs: { fresh: boolean; pairs: unknown[] }[] }[]
    expect(pairs?.jobs.map(({ fresh }) => fresh)).toEqual([false, true])
    expect(pairs?.jobs[0]?.pairs[0]).toMatchObject({
      first: expect.stringMatching(/^(base|candidate)$/),
      base: { bytes: expect.any(Number) },
      candidate: { bytes: expect.any(Number) },
      difference: expect.any(Number),
    })
    await proven(person)
  })

  releaseTest('has none to show where one run settled it', async () => {
    const person = project()
    await person.winnow('run')
    await offer(person, SHORT)
    await person.winnow('run')
    expect((await person.winnow('show', '1')).out).not.toContain('Pairs of')
    expect((await person.json('show', '1'))['pairs']).toEqual([])
  })
})
