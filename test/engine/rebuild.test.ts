import { expect, it } from 'vitest'
import { rebuildViews } from '../../src/engine/campaign/recover.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'
import { proven } from '../support/repository.ts'

it('rebuilds views and checkpoint from every event, and writes no event', async () => {
  const repository = await createSizeRepository([shorter('a', 3)])
  await repository.start()
  await repository.run()
  const events = await repository.events()
  expect(await rebuildViews(repository.place)).toBe(true)
  const state = 'optimize-state/size'
  expect(repository.bare('show', `${state}:checkpoint.json`)).toContain(`"seq":${events.length}`)
  expect(await rebuildViews(repository.place)).toBe(false)
  const readme = repository.bare('show', `${state}:README.md`)
  const tree = repository.commitOn(state, { 'README.md': 'spoilt\n', 'checkpoint.json': '{}' })
  repository.push(tree, state)
  expect(await rebuildViews(repository.place)).toBe(true)
  expect(repository.bare('show', `${state}:README.md`)).toBe(readme)
  expect(await repository.events()).toEqual(events)
  await proven(repository.place)
})
