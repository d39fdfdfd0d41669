import { describe, expect, it } from 'vitest'
import { renderLedgerViews } from '../../src/report/ledger-views.ts'
import { parseSpec } from '../../src/spec/load.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import type { TestRepository } from '../support/repository.ts'

const VIEWS = ['README.md', 'badge.svg', 'chart.svg', 'digest.md', 'summary.md']

function stored(site: TestRepository, path: string): string {
  return `${site.bare('show', `optimize-state/size:${path}`)}\n`
}

/** Commits of the ledger that wrote any of these. */
function writes(site: TestRepository, ...paths: string[]): string[] {
  const log = site.bare('log', '--reverse', '--format=%s', 'optimize-state/size', '--', ...paths)
  return log.split('\n')
}

async function titleOf(site: TestRepository): Promise<string | undefined> {
  return /<title>(.*?)<\/title>/.exec(stored(site, 'badge.svg'))?.[1]
}

describe('the views of a ledger', () => {
  it('follow from its events, and are written when a round closes', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 5)], { remote: true })
    await site.start()
    await site.run()
    const campaign = await site.campaign()
    const { spec } = parseSpec(campaign.spec_yaml, { file: campaign.spec_path })
    const { 'README.md': readme, ...rest } = renderLedgerViews(campaign, spec)
    for (const [path, text] of Object.entries(rest)) expect(stored(site, path)).toBe(text)
    expect(stored(site, 'README.md').split('\n').slice(0, 12)).toEqual(readme?.split('\n').slice(0, 12))
    const when = writes(site, ...VIEWS)
    expect(when).toHaveLength(2)
    expect(when[0]).toBe('ledger: campaign-started')
    expect(when[1]).toMatch(/round-closed/)
    await site.proven()
  })

  it('show a pause and its end once each, without another event', async () => {
    const site = await createSizeRepository([shorter('a', 3)])
    await site.start()
    await site.run()
    expect(await titleOf(site)).toBe('size: -25.0 % · running')
    await site.person({ kind: 'campaign-paused', reason: 'lunch', source: 'person' })
    for (let looks = 0; looks < 3; looks++) {
      await site.tick()
      expect(await titleOf(site)).toBe('size: -25.0 % · paused')
    }
    expect(stored(site, 'digest.md')).toContain('The campaign is paused: lunch.')
    await site.person({ kind: 'campaign-stopped', code: 'person', reason: 'enough' })
    await site.tick()
    expect(await titleOf(site)).toBe('size: -25.0 % · stopped')
    expect(writes(site, 'badge.svg').slice(-2)).toEqual(['ledger: views', 'ledger: views'])
    await site.proven()
  })

  it('are rebuilt when they are deleted, and decide nothing', async () => {
    const site = await createSizeRepository([shorter('a', 3), shorter('b', 5)])
    await site.start()
    await site.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
    const gone = Object.fromEntries(VIEWS.map(path => [path, null]))
    site.push(site.commitOn('optimize-state/size', gone), 'optimize-state/size')
    await site.reopen()
    expect(await site.run()).toEqual({ for: 'ideas' })
    expect(await site.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })
    expect(await titleOf(site)).toMatch(/^size: -\d+\.\d % · running$/)
    await site.proven()
  })
})
