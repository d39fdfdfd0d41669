import { expect, it } from 'vitest'
import { listKnownCampaigns } from '../../src/cli/known-campaigns.ts'
import { createSizeRepository } from '../support/size-repository.ts'

it('a branch that only has the name of a ledger is no campaign, and is named once', async () => {
  const site = await createSizeRepository([])
  await site.start()
  const main = site.bare('rev-parse', 'main')
  site.push(main, 'optimize-state/notes')
  site.push(site.bare('rev-parse', 'optimize-state/size'), 'optimize-state/copy')
  site.push(main, 'ui-state/menu')
  const said: string[] = []
  const progress = { say: (line: string) => void said.push(line) }
  const here = { repository: site.place.repository, defaultBranch: 'refs/heads/main' }
  for (const _ of [1, 2]) {
    const known = await listKnownCampaigns(here, { progress })
    expect(known.map(({ name, started, blocked }) => [name, started, blocked])).toEqual([
      ['size', true, undefined],
    ])
  }
  expect(said.toSorted()).toEqual([
    'optimize-state/copy holds the ledger of campaign size, so winnow leaves it alone.',
    'optimize-state/notes is not a ledger of winnow, so winnow leaves it alone.',
  ])
})

it('a branch with the name that a new campaign needs for its ledger stops it, and stays as it is', async () => {
  const site = await createSizeRepository([])
  const main = site.bare('rev-parse', 'main')
  site.push(main, 'optimize-state/size')
  const [known] = await listKnownCampaigns({
    repository: site.place.repository,
    defaultBranch: 'refs/heads/main',
  })
  expect(known).toMatchObject({ name: 'size', started: false })
  expect(known?.blocked?.message).toBe(
    'optimize-state/size is not a ledger of winnow, and campaign size needs that name',
  )
  expect(known?.blocked?.fix).toContain('branches.prefix')
  await expect(site.start({ fresh: true })).rejects.toThrow('holds no events')
  expect(site.bare('for-each-ref', '--format=%(refname) %(objectname)')).toBe(
    `refs/heads/main ${main}\nrefs/heads/optimize-state/size ${main}`,
  )
})
