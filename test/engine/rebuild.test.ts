import { expect, it } from 'vitest'
import { rebuildViews } from '../../src/engine/campaign/recover.ts'
import { shorter, sizeYard } from './size-yard.ts'
import { proven } from './yard.ts'

it('makes views and checkpoint anew from every event, and writes none', async () => {
  const yard = await sizeYard([shorter('a', 3)])
  await yard.start()
  await yard.run()
  const events = await yard.events()
  expect(await rebuildViews(yard.place)).toBe(true)
  const state = 'optimize-state/size'
  expect(yard.bare('show', `${state}:checkpoint.json`)).toContain(`"seq":${events.length}`)
  expect(await rebuildViews(yard.place)).toBe(false)
  const readme = yard.bare('show', `${state}:README.md`)
  const tree = yard.commitOn(state, { 'README.md': 'spoilt\n', 'checkpoint.json': '{}' })
  yard.push(tree, state)
  expect(await rebuildViews(yard.place)).toBe(true)
  expect(yard.bare('show', `${state}:README.md`)).toBe(readme)
  expect(await yard.events()).toEqual(events)
  await proven(yard.place)
})
