import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { auditLedger, replayLedger } from '../../src/engine/verify/audit.ts'
import { requireCampaign } from '../../src/engine/controller/run.ts'
import type { EventDraft } from '../../src/model/event.ts'
import { renderRunSummary } from '../../src/report/run-summary.ts'
import { rewrite } from '../audit/tampering.ts'
import { letters, SIZE_FILES, SIZE_SPEC, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

/** About half a percent up or down by chance; the idea is worth a quarter. */
const NOISY = {
  ...SIZE_FILES,
  'bench/size.sh': `#!/bin/sh
noise=$(( $(od -An -N1 -tu1 /dev/urandom) * 2 ))
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) * 1000 + noise ))"
`,
}
/** From the moment that a file appears, what was short is long. */
function rotting(flag: string): Record<string, string> {
  const rots = `[ -e ${flag} ] && grep -q rots src/a.txt && noise=$(( noise + 30000 ))\n`
  return { ...NOISY, 'bench/size.sh': NOISY['bench/size.sh'].replace('printf', `${rots}printf`) }
}

const PATCHES_ONLY = SIZE_SPEC.replace(', { use: external }', '')

type Edit = (draft: EventDraft<'effect-measured'>) => EventDraft

describe('a campaign whose metric is noisy', () => {
  it('ends with the measured gain of its landing and of the whole, and audit finds a forged one', async () => {
    let killed = false
    const fault = (point: string) => {
      if (killed || point !== 'measure:started' || !progressBegun) return
      killed = true
      throw new Error('killed')
    }
    let progressBegun = false
    const site = await createSizeRepository([shorter('a', 3)], {
      spec: () => PATCHES_ONLY,
      files: NOISY,
      fault,
    })
    await site.start()
    await site.until(({ orders }) =>
      Object.values(orders).some(({ order }) => order.purpose === 'progression'),
    )
    progressBegun = true
    await site.run().catch(() => undefined)
    expect(killed).toBe(true)
    await site.reopen()
    expect(await site.run()).toMatchObject({ for: 'nothing' })

    const { loaded } = await requireCampaign(site.place)
    const { landings, progression, incumbent, start } = loaded.campaign
    expect(landings).toMatchObject([{ experiment: 'exp-001', effect: { pairs: 8, scale: 'log' } }])
    expect(progression).toMatchObject({ from: start, to: incumbent, pairs: 64 })
    expect(progression?.effect).toBeGreaterThan(0.2)
    expect(renderRunSummary(loaded.campaign, { for: 'nothing', reason: 'done' })[2]).toMatch(
      /^Since the baseline: bytes \d\d\.\d % lower \(.* %\) than [0-9a-f]{12}, 64 pairs\.$/,
    )
    expect(site.bare('show', 'optimize-state/size:README.md')).toMatch(/^# size\n\n\*\*Progress: bytes/)
    await site.proven()

    const forged = async (edit: Edit) => {
      await rewrite(site, draft => [draft.kind === 'effect-measured' ? edit(draft) : draft])
      const [found, again] = [await auditLedger(site.place), await replayLedger(site.place)]
      return [found.problems.map(({ what }) => what).join('\n'), again.differences.map(({ field }) => field)]
    }
    const [words, fields] = await forged(draft => ({ ...draft, effect: 0.9 }))
    expect(words).toContain('it records effect 0.9, read again it is')
    expect(new Set(fields)).toEqual(new Set(['effect']))

    await rewrite(site, draft => {
      const first = draft.kind === 'order-issued' && draft.stop.rule === 'paired' ? draft : null
      if (first?.stop.rule !== 'paired') return [draft]
      const terms = Object.entries(first.stop.terms).map(([id, own]) => {
        return [id, { ...own, touched: { files: 'another file', lines: [] } }]
      })
      return [{ ...first, stop: { ...first.stop, terms: Object.fromEntries(terms) } }]
    })
    const { problems } = await auditLedger(site.place)
    expect(problems.map(({ what }) => what).join('\n')).toContain('exp-001 does not touch what it says')
  })

  releaseTest('reverts a landing that is proven worse than the tree before it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'winnow-rot-'))
    const flag = join(directory, 'flag')
    let hours = 0
    const rots = patchOf({ 'src/a.txt': [letters('a', 15), 'rots\n'] }, { hypothesis: 'rots' })
    const spec = `${SIZE_SPEC}stopping: { max_hours: 500 }\n`
    const ahead = () => hours * 3_600_000
    const site = await createSizeRepository([rots], { spec: () => spec, files: rotting(flag), ahead })
    await site.start()
    await site.run()
    expect(await site.outcomes()).toEqual({ rots: 'kept' })
    const before = site.bare('rev-parse', 'main^{tree}')
    expect(site.bare('rev-parse', 'optimize/size^{tree}')).not.toBe(before)

    writeFileSync(flag, '')
    for (let night = 1; night <= 3; night++) {
      hours += 21
      await site.run()
    }
    rmSync(directory, { recursive: true })
    expect(site.bare('rev-parse', 'optimize/size^{tree}')).toBe(before)
    expect(await site.alerts()).toEqual([expect.stringContaining('exp-001 is proven worse')])
    const looks = (await site.events()).flatMap(event =>
      event.kind === 'effect-measured' && event.what === 'watch' ? [event.state] : [],
    )
    expect(looks.at(-1)).toBe('flagged')
    await site.proven()
  })
})
