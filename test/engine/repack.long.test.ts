import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { shorter, createSizeRepository } from '../support/size-repository.ts'

it('a run packs scattered objects before it starts, and ends like any other', async () => {
  const site = await createSizeRepository([shorter('a', 3)], { remote: true })
  await site.start()
  const { repository } = site.place
  const folder = join(repository.dir, 'objects', '17')
  for (let text = 0; readdirSync(folder).length < 27; text++) await repository.writeBlob(`text ${text}\n`)
  await site.run()
  expect(await repository.isScattered()).toBe(false)
  expect(readdirSync(join(repository.dir, 'objects', 'pack')).join()).toContain('.pack')
  expect((await site.campaign()).landings).toHaveLength(1)
  await site.proven()
})
