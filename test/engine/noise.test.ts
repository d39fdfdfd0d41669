import { describe, expect, it } from 'vitest'
import { PAIRED_NOT_BUILT } from '../../src/spec/unsupported.ts'
import { letters, SIZE_FILES, shorter, sizeYard } from './size-yard.ts'
import { patchOf } from './yard.ts'

/** A number that is lower by chance: always, or only once a file says so. */
function noisy(when: string): Record<string, string> {
  const harness = `#!/bin/sh
noise=0
${when} && noise=-$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) + noise ))"
`
  return { ...SIZE_FILES, 'bench/size.sh': harness }
}

describe('a metric that is noisy', () => {
  it('pauses the campaign before the first experiment, with one sentence that says what to do', async () => {
    const site = await sizeYard([shorter('a', 3)], { files: noisy('true') })
    await site.start()
    const { for: who, ...rest } = await site.run()
    expect(who).toBe('person')
    expect(rest).toEqual({
      what: expect.stringMatching(
        /^the campaign is paused: bytes is noisy \(bytes varies from -?\d+ to -?\d+\), and paired evidence/,
      ),
    })
    expect(JSON.stringify(rest)).toContain(PAIRED_NOT_BUILT)
    expect(await site.outcomes()).toEqual({})
    expect(site.bare('rev-parse', 'optimize/size')).toBe(site.bare('rev-parse', 'main'))
    await site.proven()
  })

  it('that is a time is refused before anything is started', async () => {
    const site = await sizeYard([], { spec: text => text.replace('name: bytes', 'name: wall_seconds') })
    await expect(site.start()).rejects.toThrow(`wall_seconds is never deterministic, and ${PAIRED_NOT_BUILT}`)
    expect(site.bare('for-each-ref', 'refs/heads/optimize*')).toBe('')
  })

  it('only after a change ends the belief that it was not: nothing measured beside it is merged', async () => {
    const change = patchOf({ 'src/a.txt': [letters('a', 15), 'n\n'] }, { hypothesis: 'depends on chance' })
    const site = await sizeYard([change, shorter('b', 3)], { files: noisy('grep -q n src/a.txt') })
    await site.start()
    const waiting = await site.run()
    const { calibration } = await site.campaign()
    expect(calibration).toMatchObject({ deterministic: false })
    expect(calibration?.reason).toBe('bytes differs between runs of exp-001: not deterministic')
    expect(waiting).toEqual({
      for: 'person',
      what: `the campaign is paused: bytes is noisy (${calibration?.reason}), and ${PAIRED_NOT_BUILT}`,
    })
    expect(await site.outcomes()).toEqual({ 'depends on chance': 'inconclusive', b3: null })
    expect(site.bare('rev-parse', 'optimize/size')).toBe(site.bare('rev-parse', 'main'))
    await site.proven()
  })
})

describe('a base that does not work', () => {
  it('pauses the campaign with the reason, and is measured again when it is resumed', async () => {
    const site = await sizeYard([shorter('a', 3)], { files: { 'src/c.txt': 'broken\n' } })
    await site.start()
    expect(await site.run()).toEqual({
      for: 'person',
      what: 'the campaign is paused: the base does not pass: gate tests failed (exit 1)\nMend it, then: winnow resume',
    })
    await site.person({ kind: 'campaign-resumed', reason: 'try again' })
    expect(await site.run()).toMatchObject({ for: 'person' })
    const orders = (await site.events()).filter(({ kind }) => kind === 'order-issued')
    expect(orders).toHaveLength(2)
    await site.proven()
  })
})
