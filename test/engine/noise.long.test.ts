import { describe, expect, it } from 'vitest'
import { letters, SIZE_FILES, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, type TestRepository } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

/** A number that is lower by chance: always, or only once a file says so. */
function noisy(when: string): Record<string, string> {
  const harness = `#!/bin/sh
noise=0
${when} && noise=-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + noise ))"
`
  return { ...SIZE_FILES, 'bench/size.sh': harness }
}

describe('a noisy metric', () => {
  releaseTest('that can be negative needs a minimum gain before the first experiment', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { files: noisy('true') })
    await site.start()
    const waiting = await site.run()
    expect(waiting).toEqual({
      for: 'person',
      what: expect.stringMatching(
        /^the campaign is paused: evidence\.min_effect is not set, and bytes is compared on a linear scale/,
      ),
    })
    expect(await site.outcomes()).toEqual({})
    expect(site.bare('rev-parse', 'optimize/size')).toBe(site.bare('rev-parse', 'main'))
    await site.proven()
  })

  it('that is a time is compared with itself first, and no unchanged experiment is kept', async () => {
    const idle = patchOf(
      { 'src/a.txt': [letters('a', 15), letters('z', 15)] },
      { hypothesis: 'does nothing' },
    )
    const site = await createSizeRepository([idle], {
      spec: text =>
        `${text.replace('name: bytes', 'name: wall_seconds')}evidence: { pairs_per_job: 4, max_jobs: 2 }\n`,
    })
    await site.start()
    await site.run()
    const { calibration } = await site.campaign()
    expect(calibration).toMatchObject({
      deterministic: false,
      scale: 'log',
      noise: { pair_sd: expect.any(Number) },
    })
    expect((await site.outcomes())['does nothing']).not.toBe('kept')
    await site.proven()
  })

  it('that turns noisy after a change is decided by pairs from then on', async () => {
    const change = patchOf({ 'src/a.txt': [letters('a', 15), 'n\n'] }, { hypothesis: 'depends on chance' })
    const site = await createSizeRepository([change, shorter('b', 3)], {
      files: noisy('grep -q n src/a.txt'),
    })
    await site.start()
    await site.run()
    const { calibration } = await site.campaign()
    expect(calibration).toMatchObject({ deterministic: false, noise: { pair_sd: 0, jobs: 2 } })
    expect(calibration?.reason).toMatch(
      /^bytes differs between runs of exp-001: not deterministic; pairs of the base/,
    )
    expect(await site.outcomes()).toEqual({ 'depends on chance': 'inconclusive', b3: 'kept' })
    const landing = site.bare('log', '-1', '--format=%B', 'optimize/size')
    expect(landing).toMatch(
      /^Kept: bytes 25\.0 % lower \(.*\), on this machine\.\nevidence \d+ \(needed to be sure: \d+\) ▕█+▏ /m,
    )
    expect(landing).toMatch(/^Winnow-Evidence: single-machine$/m)
    const front = site.bare('show', 'optimize-state/size:README.md')
    expect(front).toContain('The kept change was measured on a single machine: ')
    const results = `optimize/size^2:.winnow/results/size/${await idOf(site, 'b3')}/results.yaml`
    expect(site.bare('show', results)).toMatch(/^summary: "Kept: bytes .* on this machine\."$/m)
    await site.proven()
  })
})

async function idOf(site: TestRepository, hypothesis: string): Promise<string> {
  const { experiments } = await site.campaign()
  return Object.values(experiments).find(each => each.hypothesis === hypothesis)?.id ?? 'none'
}

describe('a failing base', () => {
  it('pauses the campaign with the reason, and is measured again when it is resumed', async () => {
    const site = await createSizeRepository([shorter('a', 3)], { files: { 'src/c.txt': 'broken\n' } })
    await site.start()
    expect(await site.run()).toEqual({
      for: 'person',
      what: 'the campaign is paused: the base fails: gate tests failed (exit 1).\nFix it, then run winnow resume (winnow check shows the failure; after a change to the spec, run winnow amend first)',
    })
    await site.person({ kind: 'campaign-resumed', reason: 'try again' })
    expect(await site.run()).toMatchObject({ for: 'person' })
    const orders = (await site.events()).filter(({ kind }) => kind === 'order-issued')
    expect(orders).toHaveLength(2)
    await site.proven()
  })
})
