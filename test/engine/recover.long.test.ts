import { expect, it } from 'vitest'
import { ConflictError } from '../../src/errors.ts'
import { findLostLedger, recoverBranches } from '../../src/engine/campaign/recover.ts'
import { listRefs } from '../../src/engine/campaign/context.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'

const OPTIONS = { remote: true, spec: 'execution: { mode: serial }\n' }

it('recovery does not overwrite a ledger that appears meanwhile', async () => {
  const site = await createSizeRepository([shorter('a', 3)], OPTIONS)
  await site.start()
  await site.run()
  const { place } = site
  const { refs } = await listRefs(place)
  const without = new Map([...refs].filter(([ref]) => ref !== place.refs.state))
  expect(await findLostLedger(place, without)).toMatchObject({ tip: refs.get(place.refs.state) })
  const other = await site.another()
  await other.person({ kind: 'note', text: 'from elsewhere', experiment: null })
  const now = (await listRefs(place)).refs
  const remoteRefs = async () => ({ head: null, refs: new Map(without) })
  const late = recoverBranches({ ...place, repository: { ...place.repository, remoteRefs } })
  await expect(late).rejects.toThrow(ConflictError)
  expect((await listRefs(place)).refs).toEqual(now)
  expect(await recoverBranches(place)).toEqual([])
})

it('a running campaign reports that its ledger is gone', async () => {
  const site = await createSizeRepository([shorter('a', 3)], OPTIONS)
  await site.start()
  await site.run()
  site.bare('update-ref', '-d', 'refs/heads/optimize-state/size')
  await expect(site.tick()).rejects.toThrow(
    /^the ledger branch optimize-state\/size is gone from the remote; winnow's cache has it up to event \d+ of /,
  )
  await recoverBranches(site.place)
  expect(await site.run()).toEqual({ for: 'ideas' })
  await site.proven()
})
