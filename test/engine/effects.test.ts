import { describe, expect, it } from 'vitest'
import { audit } from '../../src/engine/audit.ts'
import { replay } from '../../src/engine/replay.ts'
import { requireCampaign } from '../../src/engine/session.ts'
import type { EventDraft } from '../../src/model/event.ts'
import { runSummary } from '../../src/report/run-summary.ts'
import { rewrite } from '../audit/tampering.ts'
import { SIZE_FILES, SIZE_SPEC, shorter, sizeYard } from './size-yard.ts'

/** About half a percent up or down by chance; the idea is worth a quarter. */
const NOISY = {
  ...SIZE_FILES,
  'bench/size.sh': `#!/bin/sh
noise=$(( $(od -An -N1 -tu1 /dev/urandom) * 2 ))
printf '{"bytes": %s}' "$(( $(cat src/*.txt | wc -c) * 1000 + noise ))"
`,
}
const PATCHES_ONLY = SIZE_SPEC.replace(', { use: external }', '')

type Edit = (draft: EventDraft<'effect-measured'>) => EventDraft

describe('a campaign whose metric is noisy', () => {
  it('ends with what its landing and all of it are reported to bring, and nobody can claim more', async () => {
    let killed = false
    const fault = (point: string) => {
      if (killed || point !== 'measure:started' || !progressBegun) return
      killed = true
      throw new Error('killed')
    }
    let progressBegun = false
    const site = await sizeYard([shorter('a', 3)], { spec: () => PATCHES_ONLY, files: NOISY, fault })
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
    expect(runSummary(loaded.campaign, { for: 'nothing', reason: 'done' })[0]).toMatch(
      /^Progress: bytes \d\d\.\d % lower \(.* %\) than [0-9a-f]{12}, 64 pairs\.$/,
    )
    expect(site.bare('show', 'optimize-state/size:README.md')).toMatch(/^# size\n\n\*\*Progress: bytes/)
    await site.proven()

    const forged = async (edit: Edit) => {
      await rewrite(site, draft => [draft.kind === 'effect-measured' ? edit(draft) : draft])
      const [found, again] = [await audit(site.place), await replay(site.place)]
      return [found.problems.map(({ what }) => what).join('\n'), again.differences.map(({ field }) => field)]
    }
    const [words, fields] = await forged(draft => ({ ...draft, effect: 0.9 }))
    expect(words).toContain('it records effect 0.9, read again it is')
    expect(fields).toEqual(['effect', 'effect'])
  })
})
