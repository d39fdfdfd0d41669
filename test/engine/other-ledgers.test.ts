import { expect, it } from 'vitest'
import { listOtherLedgers, readEarlierResults } from '../../src/engine/campaign/earlier-results.ts'
import { withJobClone } from '../../src/engine/jobs/job-clone.ts'
import { scratch } from '../git/scratch.ts'
import { createSizeRepository } from '../support/size-repository.ts'

it('a branch that only looks like a ledger disturbs neither earlier results nor a job that names no campaign', async () => {
  const site = await createSizeRepository([])
  await site.start()
  const main = site.bare('rev-parse', 'main')
  site.push(main, 'optimize-state/other')
  site.push(main, 'ui-state/menu')
  expect(await readEarlierResults(site.place.repository, site.place.refs)).toEqual([])
  const job = { directory: site.repo, workDir: scratch(), env: site.place.env, campaign: '' }
  expect(await withJobClone(job, async ({ loaded }) => loaded.campaign.name)).toBe('size')
})

it('ledgers of other campaigns come first, then the newest archives of any campaign', () => {
  const names = [
    'optimize-archive/a-state/2026-01-02T00-00-00-000Z/optimize',
    'optimize-archive/a-state/2026-01-02T00-00-00-000Z/state',
    'optimize-archive/z/2026-01-01T00-00-00-000Z/state',
    'optimize-archive/b/2026-01-03T00-00-00-000Z/state',
    'optimize-state/own',
    'optimize-state/c',
  ]
  const refs = new Map(names.map(name => [`refs/heads/${name}`, name]))
  const found = listOtherLedgers(refs, 'refs/heads/optimize-state/own').map(([, name]) => name)
  expect(found).toEqual([names[5], names[3], names[1], names[2]])
})
